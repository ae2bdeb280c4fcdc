/* server_write.c - the messages of an MCP server */
#include "mcp/server_parts.h"

#include "base/status.h"

void server_lose(allm_mcp_server *s, allm_status kind, const char *reason,
                 const char *message)
{
    if (s->error)
        return;
    s->error = kind == ALLM_ERR_NOMEM ? status_nomem()
                                      : status_error(home_arena(s->home), kind,
                                                     reason, "%s", message);
}

void server_end_line(allm_mcp_server *s)
{
    buf_byte(&s->out, '\n');
    if (s->out.over)
        server_lose(s, ALLM_ERR_STREAM, "adapter_error",
                    "the client does not read the answers: more than 64 MiB "
                    "of them are not sent");
    else if (s->out.broken)
        server_lose(s, ALLM_ERR_NOMEM, NULL, NULL);
}

void server_begin_result(allm_mcp_server *s, struct emit *e,
                         const allm_json *id, bool modern)
{
    rpc_begin_result(e, &s->out, id);
    if (modern)
        emit_member_word(e, "resultType", "complete");
}

void server_end_result(allm_mcp_server *s, struct emit *e, bool modern,
                       bool cacheable, bool has_meta)
{
    if (modern && cacheable) {
        emit_member_uint(e, "ttlMs", 0);
        emit_member_word(e, "cacheScope", "private");
    }
    if (modern && !has_meta) {
        emit_member_open(e, "_meta", '{');
        emit_member_open(e, RPC_META("serverInfo"), '{');
        emit_member(e, "name", s->opts.name);
        emit_member(e, "version", s->opts.version);
        emit_close(e, '}');
        emit_close(e, '}');
    }
    rpc_end(e);
    server_end_line(s);
}

void server_write_error(allm_mcp_server *s, const allm_json *id, int code,
                        const char *message, const allm_json *data)
{
    rpc_write_error(&s->out, id, code, message, data);
    server_end_line(s);
}

void server_write_text(allm_mcp_server *s, const allm_json *id, bool modern,
                       struct slice text, bool failed)
{
    struct emit e;
    server_begin_result(s, &e, id, modern);
    emit_member_open(&e, "content", '[');
    emit_open(&e, '{');
    emit_member_word(&e, "type", "text");
    emit_member_text(&e, "text", text);
    emit_close(&e, '}');
    emit_close(&e, ']');
    if (failed)
        emit_member_bool(&e, "isError", true);
    server_end_result(s, &e, modern, false, false);
}
