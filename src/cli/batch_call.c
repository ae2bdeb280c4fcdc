/*
 * batch_call.c - a line of a batch as a request
 *
 *      {"id"?, "prompt", "system"?, "model"?, "options"?}
 *      {"id"?, "messages": [...], "model"?, "options"?}
 *      {"custom_id", "method", "url", "body": {"model", "messages", ...}}
 *
 * Each becomes {"messages": [...], "options": {...}}, the plain form of a
 * request.  Members of an OpenAI body other than the model and the messages are
 * options.
 */
#include "cli/batch_call.h"

#include "cli/exit.h"
#include "cli/input.h"
#include "cli/reword.h"
#include "term/bytes.h"
#include "term/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static bool
refuse_line(struct batch_call *c, const char *format, ...)
{
    va_list args;
    c->code = END_USAGE;
    va_start(args, format);
    vsnprintf(c->why, sizeof c->why, format, args);
    va_end(args);
    return false;
}

/* ------------------------------------------------------------------ id --- */

static void set_id(struct batch_call *c, const char *text, size_t len)
{
    term_free(c->id);
    c->id = term_copy(text, len);
}

static bool read_id(struct batch_call *c, const allm_json *line)
{
    const allm_json *id = allm_json_get(line, "id");
    size_t len = 0;
    int64_t number;
    char digits[32];
    id = id ? id : allm_json_get(line, "custom_id");
    const char *text = allm_json_text(id, &len);
    if (!id || allm_json_type_of(id) == ALLM_JSON_NULL)
        return true;
    if (!text && allm_json_int64(id, &number)) {
        snprintf(digits, sizeof digits, "%" PRId64, number);
        text = digits;
        len = strlen(digits);
    }
    if (!text || !len || len > 4096 || memchr(text, 0, len))
        return refuse_line(c, "the id must be a string of at most 4096 bytes, "
                              "or a whole number");
    set_id(c, text, len);
    return true;
}

/* ------------------------------------------------------------- request --- */

static void put_message(allm_json_build *b, const char *role, const char *text,
                        size_t len)
{
    allm_json_build_object(b);
    allm_json_build_key(b, "role");
    allm_json_build_text(b, role, ALLM_NUL_ENDED);
    allm_json_build_key(b, "content");
    allm_json_build_text(b, text, len);
    allm_json_build_end(b);
}

static bool begins_with_system(const allm_json *messages)
{
    const allm_json *first = allm_json_next(messages, NULL);
    const char *role = allm_json_text(allm_json_get(first, "role"), NULL);
    return role && (!strcmp(role, "system") || !strcmp(role, "developer"));
}

/* The messages of a line: its own, or a prompt. */
static bool put_messages(struct batch_call *c, const struct batch_rules *rules,
                         const allm_json *line, allm_json_build *b)
{
    size_t len = 0;
    const allm_json *messages = allm_json_get(line, "messages");
    const char *prompt = allm_json_text(allm_json_get(line, "prompt"), &len);
    const char *own = allm_json_text(allm_json_get(line, "system"), NULL);
    const char *system = own ? own : rules->system;
    bool list = allm_json_type_of(messages) == ALLM_JSON_ARRAY;
    if (!list && (!prompt || !len))
        return refuse_line(c, "the line has neither \"prompt\" nor "
                              "\"messages\"");
    allm_json_build_key(b, "messages");
    allm_json_build_array(b);
    if (system && !(list && begins_with_system(messages)))
        put_message(b, "system", system, ALLM_NUL_ENDED);
    for (const allm_json *m = NULL; list && (m = allm_json_next(messages, m));)
        allm_json_build_value(b, m);
    if (!list)
        put_message(b, "user", prompt, len);
    allm_json_build_end(b);
    return true;
}

/* Is this member of an OpenAI body not an option? */
static bool is_handled(const char *key)
{
    return !strcmp(key, "model") || !strcmp(key, "messages") ||
           !strcmp(key, "stream") || !strcmp(key, "stream_options");
}

/* The options of the line, over those of the flags. */
static allm_json *merge_options(const struct batch_rules *rules,
                                const allm_json *line, const allm_json *body)
{
    allm_json_build *b = allm_json_build_new(NULL);
    const allm_json *own = allm_json_get(line, "options");
    allm_json_build_object(b);
    for (const allm_json *k = NULL; body && (k = allm_json_next(body, k));)
        if (!is_handled(allm_json_text(k, NULL))) {
            allm_json_build_key(b, allm_json_text(k, NULL));
            allm_json_build_value(b, allm_json_value(k));
        }
    for (const allm_json *k = NULL; !body && (k = allm_json_next(own, k));) {
        allm_json_build_key(b, allm_json_text(k, NULL));
        allm_json_build_value(b, allm_json_value(k));
    }
    allm_json_build_end(b);
    allm_json *mine = allm_json_build_done(b);
    if (!rules->options)
        return mine;
    allm_json *all = allm_json_merge(rules->options, mine);
    allm_json_free(mine);
    return all;
}

static bool read_model(struct batch_call *c, const allm_json *from)
{
    const allm_json *model = allm_json_get(from, "model");
    const char *text = allm_json_text(model, NULL);
    if (!model)
        return true;
    int n = snprintf(c->model, sizeof c->model, "%s", text ? text : "");
    return text && n > 0 && (size_t)n < sizeof c->model
               ? true
               : refuse_line(c, "\"model\" must be the name of a model");
}

/* The digest of what is sent, in the form that the library writes. */
static void digest_call(struct batch_call *c, const struct batch_rules *rules)
{
    struct bytes all = { NULL, 0, 0 };
    const allm_json *parts[2] = { c->options, rules->format };
    char hex[65];
    size_t len = 0;
    allm_text *request = allm_codec_json(c->codec, ALLM_FORM_PLAIN);
    const char *text = allm_text_bytes(request, &len);
    bytes_text(&all, *c->model ? c->model : rules->model ? rules->model : "");
    bytes_byte(&all, '\n');
    bytes_add(&all, text ? text : "", text ? len : 0);
    allm_text_free(request);
    for (int i = 0; i < 2; i++) {
        allm_text *part = parts[i] ? allm_json_write(parts[i], 0) : NULL;
        text = allm_text_bytes(part, &len);
        bytes_byte(&all, '\n');
        bytes_add(&all, text ? text : "", text ? len : 0);
        allm_text_free(part);
    }
    allm_sha256(bytes_string(&all), all.len, hex);
    memcpy(c->sum, hex, 16);
    c->sum[16] = 0;
    bytes_release(&all);
}

/* Decode the plain form; false: it is not a request. */
static bool decode_request(struct batch_call *c, allm_json *plain)
{
    size_t len = 0;
    allm_text *text = allm_json_write(plain, 0);
    const char *bytes = allm_text_bytes(text, &len);
    c->codec = allm_codec_decode(bytes ? bytes : "", bytes ? len : 0, "Request",
                                 NULL);
    allm_text_free(text);
    const allm_error *error = allm_codec_error(c->codec);
    return error ? refuse_line(c, "the line is not a request: %.*s",
                               reword_length(error->message), error->message)
                 : true;
}

static bool make_request(struct batch_call *c, const struct batch_rules *rules,
                         const allm_json *line)
{
    const allm_json *body = allm_json_get(line, "body");
    const allm_json *from = body ? body : line;
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    bool ok = read_model(c, from) && put_messages(c, rules, from, b);
    allm_json_build_end(b);
    allm_json *plain = allm_json_build_done(b);
    ok = ok && decode_request(c, plain);
    allm_json_free(plain);
    if (ok)
        c->options = merge_options(rules, line, body);
    return ok;
}

/* ---------------------------------------------------------------- line --- */

/* {"prompt": LINE} */
static allm_json *wrap_prompt(const char *line, size_t len)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "prompt");
    allm_json_build_text(b, line, len);
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

static bool read_line(struct batch_call *c, const struct batch_rules *rules,
                      const char *line, size_t len)
{
    if (!input_bytes_are_text(line, len))
        return refuse_line(c, "the line is not UTF-8 text");
    allm_json *json = rules->lines ? wrap_prompt(line, len)
                                   : allm_json_parse(line, len, NULL);
    const allm_error *error = allm_json_error(json);
    bool ok = false;
    if (error)
        refuse_line(c, "the line is not JSON: %.*s",
                    reword_length(error->message), error->message);
    else if (allm_json_type_of(json) != ALLM_JSON_OBJECT)
        refuse_line(c, "the line is not a JSON object; with --lines each line "
                       "is a prompt");
    else
        ok = read_id(c, json) && make_request(c, rules, json);
    allm_json_free(json);
    return ok;
}

void batch_call_read(struct batch_call *c, const struct batch_rules *rules,
                     const char *line, size_t len, uint64_t offset)
{
    char id[32], hex[65];
    *c = (struct batch_call){ .code = END_DONE };
    snprintf(id, sizeof id, "@%" PRIu64, offset);
    set_id(c, id, strlen(id));
    if (read_line(c, rules, line, len)) {
        digest_call(c, rules);
        return;
    }
    allm_sha256(line, len, hex); /* a broken line that is mended is new */
    memcpy(c->sum, hex, 16);
    c->sum[16] = 0;
}

void batch_call_release(struct batch_call *c)
{
    term_free(c->id);
    allm_json_free(c->options);
    allm_codec_free(c->codec);
}

const allm_request *batch_call_request(const struct batch_call *c)
{
    return allm_codec_value(c->codec, ALLM_TYPE_REQUEST);
}
