/*
 * rpc.c - JSON-RPC 2.0 messages: text in, a message out, and back
 *
 * A message has "jsonrpc": "2.0" and is a request (id and method), a
 * notification (method), a result (id and result) or an error (error, and an
 * id if the request had one).  An array of messages, a batch, is rejected: only
 * one old revision of MCP knows it, and no server that we met sends it.
 */
#include "mcp/rpc.h"

#include "base/status.h"
#include "json/parse.h"

/* ----------------------------------------------------------------- read --- */

static void mark_bad(struct rpc *m, int code, const char *fault)
{
    m->kind = RPC_BAD;
    m->code = code;
    m->fault = fault;
}

static bool is_id(const allm_json *v)
{
    allm_json_type type = allm_json_type_of(v);
    return type == ALLM_JSON_TEXT || type == ALLM_JSON_INT;
}

static void read_call(struct rpc *m, const allm_json *v)
{
    m->method = json_text_at(v, "method");
    m->params = json_at(v, "params");
    m->kind = m->id ? RPC_REQUEST : RPC_NOTIFICATION;
    if (!m->method.ptr)
        mark_bad(m, RPC_INVALID, "its method is not a string");
    else if (m->params && !json_is_type(m->params, ALLM_JSON_OBJECT))
        mark_bad(m, RPC_PARAMS, "its params are not an object");
}

static void read_answer(struct rpc *m, const allm_json *v)
{
    const allm_json *error = json_at(v, "error");
    int64_t code = 0;
    m->result = json_at(v, "result");
    m->kind = error ? RPC_ERROR : RPC_RESULT;
    m->is_answer = error || m->result;
    m->has_no_method = true;
    if (!m->is_answer) {
        mark_bad(m, RPC_INVALID, "it has no method, result or error");
    } else if (error && m->result) {
        mark_bad(m, RPC_INVALID, "it has a result and an error");
    } else if (!error) {
        if (!json_is_type(m->result, ALLM_JSON_OBJECT))
            mark_bad(m, RPC_INVALID, "its result is not an object");
        else if (!m->id)
            mark_bad(m, RPC_INVALID, "it is a result without an id");
    } else if (!json_int64(json_at(error, "code"), &code)) {
        mark_bad(m, RPC_INVALID, "its error has no code");
    } else {
        m->code = code < INT32_MIN || code > INT32_MAX ? 0 : (int)code;
        m->message = json_text_at(error, "message");
        m->data = json_at(error, "data");
    }
}

static void read_message(struct rpc *m, const allm_json *v)
{
    const allm_json *id = json_at(v, "id");
    if (is_id(id))
        m->id = id;
    if (json_is_type(v, ALLM_JSON_ARRAY))
        mark_bad(m, RPC_INVALID, "it is a batch, which is not supported");
    else if (!json_is_type(v, ALLM_JSON_OBJECT) ||
             !json_is(json_at(v, "jsonrpc"), "2.0"))
        mark_bad(m, RPC_INVALID, "it is not a JSON-RPC 2.0 message");
    else if (id && !m->id && !json_is_type(id, ALLM_JSON_NULL))
        mark_bad(m, RPC_INVALID, "its id is not a string or an integer");
    else if (json_at(v, "method"))
        read_call(m, v);
    else
        read_answer(m, v);
}

/* Does an escape at this place stand for a half of a surrogate pair? */
static bool is_half(struct slice text, size_t at, bool low)
{
    const char *s = text.ptr + at;
    return at + 6 <= text.len && s[0] == '\\' && s[1] == 'u' &&
           (s[2] | 0x20) == 'd' &&
           memchr(low ? "cdefCDEF" : "89abAB", s[3], low ? 8 : 6);
}

/* A half of a pair alone becomes U+FFFD: programs in JavaScript write it when
 * they cut a text. */
static struct slice mend_halves(struct arena *a, struct slice text)
{
    char *copy = arena_copy(a, text);
    size_t i = 0;
    while (copy && i < text.len) {
        bool high = is_half(text, i, false);
        bool pair = high && is_half(text, i + 6, true);
        if (!pair && (high || is_half(text, i, true)))
            memcpy(copy + i + 2, "fffd", 4);
        i += pair ? 12 : text.ptr[i] == '\\' ? 2 : 1;
    }
    return (struct slice){ copy, copy ? text.len : 0 };
}

bool rpc_read(struct arena *a, struct slice text, struct rpc *out)
{
    struct json_limits limits = { .max_bytes = RPC_LIMIT, .max_depth = 128,
                                  .duplicates = true };
    const allm_error *error = NULL;
    *out = (struct rpc){ .kind = RPC_BAD };
    const allm_json *v = json_parse(a, text, limits, &error);
    if (!v && text.len <= RPC_LIMIT)
        v = json_parse(a, mend_halves(a, text), limits, &error);
    if (v)
        read_message(out, v);
    else
        mark_bad(out, RPC_PARSE, "it is not JSON");
    return v || !error || error->kind != ALLM_ERR_NOMEM;
}

/* ---------------------------------------------------------------- write --- */

static void emit_head(struct emit *e, struct buf *out)
{
    emit_init(e, out);
    emit_open(e, '{');
    emit_member_word(e, "jsonrpc", "2.0");
}

void rpc_begin_request(struct emit *e, struct buf *out, uint64_t id,
                       const char *method)
{
    emit_head(e, out);
    emit_member_uint(e, "id", id);
    emit_member_word(e, "method", method);
    emit_member_open(e, "params", '{');
}

void rpc_begin_notification(struct emit *e, struct buf *out, const char *method)
{
    emit_head(e, out);
    emit_member_word(e, "method", method);
    emit_member_open(e, "params", '{');
}

void rpc_begin_result(struct emit *e, struct buf *out, const allm_json *id)
{
    emit_head(e, out);
    emit_member_value(e, "id", id);
    emit_member_open(e, "result", '{');
}

void rpc_end(struct emit *e)
{
    emit_close(e, '}');
    emit_close(e, '}');
}

void rpc_write_error(struct buf *out, const allm_json *id, int code,
                     const char *message, const allm_json *data)
{
    struct emit e;
    emit_head(&e, out);
    if (id)
        emit_member_value(&e, "id", id);
    emit_member_open(&e, "error", '{');
    emit_member_int(&e, "code", code);
    emit_member(&e, "message", message);
    if (data)
        emit_member_value(&e, "data", data);
    rpc_end(&e);
}

void rpc_emit_members(struct emit *e, const allm_json *object)
{
    const allm_json *key = NULL;
    if (!json_is_type(object, ALLM_JSON_OBJECT))
        return;
    while ((key = allm_json_next(object, key)))
        emit_entry(e, key);
}
