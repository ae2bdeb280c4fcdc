/*
 * batch_call.c - a line of a batch as a request
 *
 *      {"id"?, "prompt", "attach"?, "system"?, "model"?, "options"?}
 *      {"id"?, "messages": [...], "system"?, "model"?, "options"?}
 *      {"custom_id", "method", "url", "body": {"model", "messages", ...}}
 *
 * Each becomes {"messages": [...]}, the plain form of a request, and options.
 * Members of an OpenAI body other than the model and the messages are options.
 *
 * A line to embed is {"id"?, "text"}, or an OpenAI batch line with an "input".
 */
#include "cli/batch_call.h"

#include "cli/batch_models.h"
#include "cli/batch_openai.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/prompt.h"
#include "cli/reword.h"
#include "cli/template_use.h"
#include "conf/member.h"
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
    member_text(b, "role", role);
    member_text_n(b, "content", text, len);
    allm_json_build_end(b);
}

static bool begins_with_system(const allm_json *messages)
{
    const allm_json *first = allm_json_next(messages, NULL);
    const char *role = member_read(first, "role");
    return role && (!strcmp(role, "system") || !strcmp(role, "developer"));
}

/* ---------------------------------------------------------- template --- */

/* The prompt and the system prompt of a line. */
struct words {
    struct bytes prompt, system;
};

static void release_words(struct words *w)
{
    bytes_release(&w->prompt);
    bytes_release(&w->system);
}

static void add_member(struct bytes *out, const allm_json *line,
                       const char *key)
{
    size_t len = 0;
    const char *text = allm_json_text(allm_json_get(line, key), &len);
    if (text)
        bytes_add(out, text, len);
}

/* The members of the line are parameters, over those of -p; $input is its
 * "input" or its "prompt". */
static bool fill_template(struct batch_call *c, const struct template_use *t,
                          const allm_json *line, struct words *w)
{
    size_t len = 0;
    const char *input = allm_json_text(allm_json_get(line, "input"), &len);
    if (!input)
        input = allm_json_text(allm_json_get(line, "prompt"), &len);
    allm_json *params = allm_json_merge(t->params, line);
    const struct template_values v = { params, input, len };
    struct words missing = { .prompt.ptr = NULL };
    bool ok = template_fill(&t->file, &v, &missing.prompt) &&
              template_fill_system(&t->file, &v, &missing.system);
    allm_json_free(params);
    if (ok) {
        *w = missing;
        return true;
    }
    refuse_line(c, "the template needs a value for: %.200s",
                bytes_string(missing.system.len ? &missing.system
                                                : &missing.prompt));
    release_words(&missing);
    return false;
}

/* Its own system prompt, else that of -s, the template, or the model. */
static void choose_system(const struct batch_call *c,
                          const struct batch_rules *rules,
                          const allm_json *line, struct words *w)
{
    const char *flag = rules->models->system, *model = c->model->target.system;
    bool own = member_read(line, "system");
    if (own || flag)
        bytes_clear(&w->system);
    if (own)
        add_member(&w->system, line, "system");
    else if (flag || !w->system.len)
        bytes_text(&w->system, flag ? flag : model ? model : "");
}

/* Do the members of the line have their types? */
static bool check_types(struct batch_call *c, const allm_json *line)
{
    static const struct {
        const char *key;
        allm_json_type type;
        const char *name;
    } rows[] = { { "prompt", ALLM_JSON_TEXT, "a string" },
                 { "system", ALLM_JSON_TEXT, "a string" },
                 { "messages", ALLM_JSON_ARRAY, "an array" },
                 { "options", ALLM_JSON_OBJECT, "an object" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const allm_json *value = allm_json_get(line, rows[i].key);
        allm_json_type type = allm_json_type_of(value);
        if (value && type != ALLM_JSON_NULL && type != rows[i].type)
            return refuse_line(c, "\"%s\" must be %s", rows[i].key,
                               rows[i].name);
    }
    return true;
}

/* False: the line has no prompt. */
static bool read_words(struct batch_call *c, const struct batch_rules *rules,
                       const allm_json *line, struct words *w)
{
    const allm_json *messages = allm_json_get(line, "messages");
    bool list = allm_json_type_of(messages) == ALLM_JSON_ARRAY;
    if (!list && rules->template) {
        if (!fill_template(c, rules->template, line, w))
            return false;
    } else if (!check_types(c, line)) {
        return false;
    } else {
        add_member(&w->prompt, line, "prompt");
    }
    choose_system(c, rules, line, w);
    return (list ? allm_json_count(messages) : w->prompt.len) ||
           refuse_line(c, "the line has neither \"prompt\" nor \"messages\"");
}

/* ------------------------------------------------------------- files --- */

/* The files of a line: a name, or a list of names. */
static bool read_files(struct batch_call *c, const allm_json *attach,
                       struct flag_list *files)
{
    bool list = allm_json_type_of(attach) == ALLM_JSON_ARRAY;
    const allm_json *at = list ? allm_json_next(attach, NULL) : attach;
    for (; at; at = list ? allm_json_next(attach, at) : NULL) {
        const char *name = allm_json_text(at, NULL);
        if (!name || !strcmp(name, "-") || files->count == FLAGS_MAX)
            return refuse_line(c, "\"attach\" must be the name or URL of a "
                                  "file, or a list of them");
        files->word[files->count++] = name;
    }
    return true;
}

/* Those of the template come first. */
static bool read_all_files(struct batch_call *c,
                           const struct batch_rules *rules,
                           const allm_json *line, struct flag_list *files)
{
    const allm_json *own = allm_json_get(line, "attach");
    const allm_json *its = rules->template
                               ? template_use_value(rules->template, "attach")
                               : NULL;
    return (!its || read_files(c, its, files)) &&
           (!own || read_files(c, own, files));
}

/* The message of a prompt with files. */
static bool put_attached(struct batch_call *c, const struct flag_list *files,
                         const char *prompt, allm_json_build *b)
{
    allm_thread *thread = allm_thread_new(NULL);
    print_divert(c->why, sizeof c->why);
    bool ok = prompt_add_text(thread, prompt, files) == ALLM_OK;
    print_divert(NULL, 0);
    c->code = ok ? END_DONE : END_USAGE;
    allm_json *message = ok ? member_parse(allm_message_json(
                                  allm_thread_last(thread), ALLM_FORM_PLAIN))
                            : NULL;
    allm_json_build_value(b, message);
    allm_json_free(message);
    allm_thread_free(thread);
    return ok;
}

static bool put_prompt(struct batch_call *c, const struct batch_rules *rules,
                       const allm_json *line, const struct bytes *prompt,
                       allm_json_build *b)
{
    struct flag_list files = { .count = 0 };
    if (!read_all_files(c, rules, line, &files))
        return false;
    if (files.count)
        return put_attached(c, &files, bytes_string(prompt), b);
    put_message(b, "user", prompt->ptr, prompt->len);
    return true;
}

/* The messages of a line: its own, or a prompt. */
static bool put_messages(struct batch_call *c, const struct batch_rules *rules,
                         const allm_json *line, const struct words *w,
                         allm_json_build *b)
{
    const allm_json *messages = allm_json_get(line, "messages");
    bool list = allm_json_type_of(messages) == ALLM_JSON_ARRAY;
    member_array(b, "messages");
    if (w->system.len && !(list && begins_with_system(messages)))
        put_message(b, "system", w->system.ptr, w->system.len);
    for (const allm_json *m = NULL; list && (m = allm_json_next(messages, m));)
        allm_json_build_value(b, m);
    bool ok = list || put_prompt(c, rules, line, &w->prompt, b);
    allm_json_build_end(b);
    return ok;
}

/* The members of a JSON object, without those that are handled. */
static allm_json *copy_members(const allm_json *from,
                               bool (*handled)(const char *key))
{
    allm_json_build *b = member_new_object();
    for (const allm_json *k = NULL; from && (k = allm_json_next(from, k));)
        if (!handled(allm_json_text(k, NULL)))
            member_value(b, allm_json_text(k, NULL), allm_json_value(k));
    return member_done(b);
}

static bool none_handled(const char *key)
{
    (void)key;
    return false;
}

/* The options of the line, over those of the model and the flags. */
static allm_json *merge_options(const struct batch_call *c,
                                const allm_json *line, const allm_json *body)
{
    const allm_json *theirs = c->model->target.options;
    allm_json *own = body ? copy_members(body, batch_openai_handles)
                          : copy_members(allm_json_get(line, "options"),
                                         none_handled);
    if (!theirs)
        return own;
    allm_json *all = allm_json_merge(theirs, own);
    allm_json_free(own);
    return all;
}

/* A model of an OpenAI batch has no provider: it is that of the flags. */
static bool name_model(struct batch_call *c, const struct batch_rules *rules,
                       const char *text, bool bare, char *out, size_t size)
{
    const struct batch_model *usual =
        bare && !strchr(text, ':') ? batch_models_find(rules->models, NULL)
                                   : NULL;
    const char *name = usual ? usual->target.name : "";
    int n = usual ? snprintf(out, size, "%.*s:%s", (int)strcspn(name, ":"),
                             name, text)
                  : snprintf(out, size, "%s", text);
    return n > 0 && (size_t)n < size
               ? true
               : refuse_line(c, "\"model\" must be the name of a model");
}

/* Find the model of the line; without one, that of the flags. */
static bool read_model(struct batch_call *c, const struct batch_rules *rules,
                       const allm_json *from, bool bare)
{
    char name[256];
    const allm_json *model = allm_json_get(from, "model");
    const char *text = allm_json_text(model, NULL);
    if (model && (!text || !*text))
        return refuse_line(c, "\"model\" must be the name of a model");
    if (text && !name_model(c, rules, text, bare, name, sizeof name))
        return false;
    c->model = batch_models_find(rules->models, text ? name : NULL);
    if (c->model->code == END_DONE)
        return true;
    refuse_line(c, "%s", c->model->why);
    c->code = c->model->code;
    c->fatal = !text;
    return false;
}

static bool is_address(const char *key)
{
    return !strcmp(key, "base_url") || !strcmp(key, "extra_headers");
}

static void add_json(struct bytes *all, allm_text *text)
{
    bytes_byte(all, '\n');
    member_append(all, text);
}

static void set_sum(struct batch_call *c, const char *bytes, size_t len)
{
    char hex[65];
    allm_sha256(bytes, len, hex);
    memcpy(c->sum, hex, 16);
    c->sum[16] = 0;
}

/* The digest of what is sent, in the form that the library writes.  Where it is
 * sent does not matter. */
static void digest_call(struct batch_call *c, const struct batch_rules *rules)
{
    struct bytes all = { NULL, 0, 0 };
    const allm_json *own = c->text ? c->model->target.options : c->options;
    allm_json *options = copy_members(own, is_address);
    bytes_text(&all, c->model->target.name);
    if (c->codec)
        add_json(&all, allm_codec_json(c->codec, ALLM_FORM_PLAIN));
    add_json(&all, allm_json_write(options, 0));
    if (rules->format)
        add_json(&all, allm_json_write(rules->format, 0));
    if (rules->dims)
        bytes_format(&all, "\n%" PRIu32 "\n", rules->dims);
    bytes_text(&all, c->text ? c->text : "");
    set_sum(c, bytes_string(&all), all.len);
    allm_json_free(options);
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

static void put_tools(const allm_json *body, allm_json_build *b)
{
    static const char *const names[] = { "tools", "tool_choice" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const allm_json *value = allm_json_get(body, names[i]);
        if (value)
            member_value(b, names[i], value);
    }
}

/* The request of a line, or of its body in our form. */
static bool make_plain(struct batch_call *c, const struct batch_rules *rules,
                       const allm_json *from, bool body)
{
    struct words words = { .prompt.ptr = NULL };
    if (!read_model(c, rules, from, body) ||
        !read_words(c, rules, from, &words)) {
        release_words(&words);
        return false;
    }
    allm_json_build *b = member_new_object();
    bool ok = put_messages(c, rules, from, &words, b);
    if (body)
        put_tools(from, b);
    release_words(&words);
    allm_json *plain = member_done(b);
    ok = ok && decode_request(c, plain);
    allm_json_free(plain);
    return ok;
}

static bool make_request(struct batch_call *c, const struct batch_rules *rules,
                         const allm_json *line)
{
    const allm_json *body = allm_json_get(line, "body");
    const char *url = member_read(line, "url");
    if (body && url && strstr(url, "/embeddings"))
        return refuse_line(c, "the line is one to embed, for allm embed "
                              "--jsonl");
    allm_json *plain = batch_openai_plain(body);
    bool ok = make_plain(c, rules, plain ? plain : line, plain != NULL);
    if (ok)
        c->options = merge_options(c, line, plain ? body : NULL);
    allm_json_free(plain);
    return ok;
}

/* The text of a line to embed. */
static bool make_text(struct batch_call *c, const struct batch_rules *rules,
                      const allm_json *line)
{
    static const char *const names[] = { "text", "prompt", "input" };
    const allm_json *body = allm_json_get(line, "body");
    const allm_json *from = body ? body : line;
    const char *text = NULL;
    size_t len = 0;
    for (size_t i = 0; !text && i < sizeof names / sizeof *names; i++) {
        const allm_json *value = allm_json_get(from, names[i]);
        if (allm_json_type_of(value) == ALLM_JSON_ARRAY &&
            allm_json_count(value) == 1)
            value = allm_json_at(value, 0);
        text = allm_json_text(value, &len);
    }
    if (!text || !text[strspn(text, " \t\r\n")])
        return refuse_line(c, "the line has no \"text\" to embed");
    if (strlen(text) != len)
        return refuse_line(c, "the text contains a NUL character");
    if (!read_model(c, rules, from, body != NULL))
        return false;
    const struct batch_model *usual = batch_models_find(rules->models, NULL);
    if (strcmp(c->model->target.name, usual->target.name) != 0)
        return refuse_line(c, "all lines are embedded by the model of -m; the "
                              "line names another one");
    c->text = term_copy(text, len);
    return true;
}

/* ---------------------------------------------------------------- line --- */

/* {"prompt": LINE} */
static allm_json *wrap_prompt(const char *line, size_t len)
{
    allm_json_build *b = member_new_object();
    member_text_n(b, "prompt", line, len);
    return member_done(b);
}

typedef bool (*make_call)(struct batch_call *, const struct batch_rules *,
                          const allm_json *);

static bool read_line(struct batch_call *c, const struct batch_rules *rules,
                      make_call make, const char *line, size_t len)
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
        ok = read_id(c, json) && make(c, rules, json);
    allm_json_free(json);
    return ok;
}

static void read_call(struct batch_call *c, const struct batch_rules *rules,
                      make_call make, const char *line, size_t len,
                      uint64_t offset)
{
    char id[32];
    *c = (struct batch_call){ .code = END_DONE };
    snprintf(id, sizeof id, "@%" PRIu64, offset);
    set_id(c, id, strlen(id));
    if (read_line(c, rules, make, line, len))
        digest_call(c, rules);
    else
        set_sum(c, line, len); /* a broken line that is mended is new */
}

void batch_call_read(struct batch_call *c, const struct batch_rules *rules,
                     const char *line, size_t len, uint64_t offset)
{
    read_call(c, rules, make_request, line, len, offset);
}

void batch_call_read_text(struct batch_call *c, const struct batch_rules *rules,
                          const char *line, size_t len, uint64_t offset)
{
    while (len && rules->lines &&
           (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    read_call(c, rules, make_text, line, len, offset);
}

void batch_call_release(struct batch_call *c)
{
    term_free(c->id);
    term_free(c->text);
    allm_json_free(c->options);
    allm_codec_free(c->codec);
}

const allm_request *batch_call_request(const struct batch_call *c)
{
    return allm_codec_value(c->codec, ALLM_TYPE_REQUEST);
}
