/* legal.c - would the provider accept this body as a conversation? */
#include "harness/legal.h"

#include "base/slice.h"

#include <stdio.h>

static const char *text_of(const allm_json *v)
{
    const char *text = allm_json_text(v, NULL);
    return text ? text : "";
}

static const char *text_at(const allm_json *v, const char *key)
{
    return text_of(allm_json_get(v, key));
}

static bool is_text(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_TEXT;
}

static bool is_object(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_OBJECT;
}

static bool is(const allm_json *v, const char *key, const char *word)
{
    return is_text(allm_json_get(v, key)) && !strcmp(text_at(v, key), word);
}

static bool is_blank(const char *text)
{
    return !text[strspn(text, " \t\r\n")];
}

static void must(struct legal *l, bool ok, const char *what)
{
    if (!ok && !l->fault)
        l->fault = what;
}

/* Only these members are allowed, " a b c ". */
static void only(struct legal *l, const allm_json *object, const char *names)
{
    must(l, is_object(object), "something is no object");
    for (const allm_json *k = NULL;
         is_object(object) && (k = allm_json_next(object, k));) {
        char word[64];
        snprintf(word, sizeof word, " %.60s ", text_of(k));
        must(l, strstr(names, word) != NULL,
             "a member that this API does not know");
    }
}

static void tell(struct legal *l, const char *kind, const char *name,
                 const char *text)
{
    size_t n = strlen(l->told);
    if (!*text)
        return;                 /* optional */
    snprintf(l->told + n, sizeof l->told - n, "%s%s%s %s\n", kind,
             *name ? " " : "", name, text);
}

static void tell_system(struct legal *l, const char *text)
{
    size_t n = strlen(l->system);
    snprintf(l->system + n, sizeof l->system - n, "%s\n", text);
}

static void tell_value(struct legal *l, const char *kind, const char *name,
                       const allm_json *v)
{
    allm_text *t = allm_json_write(v, 0);
    const char *bytes = allm_text_bytes(t, NULL);
    tell(l, kind, name, bytes ? bytes : "");
    allm_text_free(t);
}

/* "data:image/png;base64,..." */
static void tell_image(struct legal *l, const char *url)
{
    const char *data = strstr(url, ";base64,");
    must(l, data != NULL, "an image that is no data URI");
    tell(l, "image", "", data ? data + 8 : url);
}

static void waits_for_no_one_else(struct legal *l)
{
    must(l, l->answered == l->calls, "a call is not answered behind it");
}

/* At most 64 letters, digits, _ and -. */
static bool is_word(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return n && n <= 64 && !text[n];
}

static void ask_any(struct legal *l, const char *id, const char *name)
{
    must(l, is_word(name), "a name that is refused");
    if (l->calls == LEGAL_CALLS)
        return;
    struct legal_call *c = &l->call[l->calls++];
    snprintf(c->id, sizeof c->id, "%s", id);
    snprintf(c->name, sizeof c->name, "%s", name);
}

static void ask(struct legal *l, const char *id, const char *name,
                const allm_json *arguments)
{
    must(l, is_object(arguments), "arguments that are no object");
    tell_value(l, "call", name, arguments);
    ask_any(l, id, name);
}

static void ask_text(struct legal *l, const char *id, const char *name,
                     const allm_json *arguments)
{
    must(l, is_text(arguments), "arguments that are no text");
    allm_json *v = allm_json_parse(text_of(arguments), ALLM_NUL_ENDED, NULL);
    ask(l, id, name, v);
    allm_json_free(v);
}

/* A call whose input may be any string. */
static void ask_custom(struct legal *l, const char *id, const allm_json *call)
{
    must(l, is_text(allm_json_get(call, "input")), "an input that is no text");
    tell(l, "call", text_at(call, "name"), text_at(call, "input"));
    ask_any(l, id, text_at(call, "name"));
}

/* The next call that waits for a result, or NULL. */
static const struct legal_call *answer(struct legal *l)
{
    must(l, l->answered < l->calls, "a result that nobody asked for");
    return l->answered < l->calls ? &l->call[l->answered++] : NULL;
}

static void answer_id(struct legal *l, const char *id, const char *text)
{
    const struct legal_call *c = answer(l);
    must(l, c && !strcmp(c->id, id), "a result of another call");
    tell(l, "result", c ? c->name : "?", text);
}

/* Each id is valid and unique. */
static void ids_are_strict(struct legal *l)
{
    for (size_t i = 0; i < l->calls; i++) {
        const char *id = l->call[i].id;
        must(l, is_word(id), "an id that is refused");
        for (size_t k = 0; k < i; k++)
            must(l, strcmp(id, l->call[k].id) != 0, "an id is used twice");
    }
}

static void chat_parts(struct legal *l, const allm_json *content)
{
    must(l, allm_json_count(content) > 0, "an empty content");
    for (const allm_json *p = NULL; (p = allm_json_next(content, p));) {
        const allm_json *image = allm_json_get(p, "image_url");
        if (is(p, "type", "text")) {
            only(l, p, " type text ");
            tell(l, "user", "", text_at(p, "text"));
        } else {
            only(l, p, " type image_url ");
            only(l, image, " url detail ");
            tell_image(l, text_at(image, "url"));
        }
    }
}

static void chat_call(struct legal *l, const allm_json *c, size_t from)
{
    const allm_json *f = allm_json_get(c, "function");
    const char *id = text_at(c, "id");
    must(l, *id != '\0', "a call without an id");
    for (size_t i = from; i < l->calls; i++)
        must(l, strcmp(l->call[i].id, id) != 0, "two calls of one id");
    if (is(c, "type", "custom")) {
        only(l, c, " id type custom ");
        only(l, allm_json_get(c, "custom"), " name input ");
        ask_custom(l, id, allm_json_get(c, "custom"));
        return;
    }
    must(l, is(c, "type", "function"), "a call of an unknown type");
    only(l, c, " id type function extra_content ");
    only(l, f, " name arguments ");
    ask_text(l, id, text_at(f, "name"), allm_json_get(f, "arguments"));
}

static void chat_assistant(struct legal *l, const allm_json *m)
{
    const allm_json *content = allm_json_get(m, "content");
    const allm_json *calls = allm_json_get(m, "tool_calls");
    size_t from = l->calls;
    only(l, m,
         " role content name tool_calls reasoning_content "
         "reasoning_details ");
    must(l, !calls || allm_json_count(calls), "an empty list of calls");
    must(l, calls || *text_of(content) || allm_json_get(m, "reasoning_details"),
         "an assistant says nothing");
    must(l,
         is_text(content) ||
             (calls && allm_json_type_of(content) == ALLM_JSON_NULL),
         "an assistant's content is no text");
    tell(l, "model", "", text_of(content));
    for (const allm_json *c = NULL; (c = allm_json_next(calls, c));)
        chat_call(l, c, from);
}

static void chat_message(struct legal *l, const allm_json *m)
{
    const allm_json *content = allm_json_get(m, "content");
    if (is(m, "role", "tool")) {
        only(l, m, " role tool_call_id content ");
        must(l, is_text(content), "a result that is no text");
        answer_id(l, text_at(m, "tool_call_id"), text_of(content));
        return;
    }
    waits_for_no_one_else(l);
    if (is(m, "role", "assistant")) {
        chat_assistant(l, m);
        return;
    }
    only(l, m, " role content name ");
    if (is(m, "role", "system")) {
        must(l, is_text(content), "a system's content is no text");
        tell_system(l, text_of(content));
    } else if (is_text(content)) {
        tell(l, "user", "", text_of(content));
    } else {
        chat_parts(l, content);
    }
    must(l, is(m, "role", "system") || is(m, "role", "user"),
         "an unknown role");
}

static void read_chat(struct legal *l, const allm_json *body)
{
    const allm_json *all = allm_json_get(body, "messages");
    must(l, allm_json_count(all) > 0, "no messages");
    for (const allm_json *m = NULL; (m = allm_json_next(all, m));)
        chat_message(l, m);
}

static void response_parts(struct legal *l, const allm_json *content)
{
    must(l, allm_json_count(content) > 0, "an empty content");
    for (const allm_json *p = NULL; (p = allm_json_next(content, p));) {
        if (is(p, "type", "input_text")) {
            only(l, p, " type text ");
            tell(l, "user", "", text_at(p, "text"));
        } else {
            must(l, is(p, "type", "input_image"), "an unknown part");
            only(l, p, " type image_url detail ");
            tell_image(l, text_at(p, "image_url"));
        }
    }
}

static void response_message(struct legal *l, const allm_json *m)
{
    const allm_json *content = allm_json_get(m, "content");
    only(l, m, " type role content phase ");
    if (is(m, "role", "assistant")) {
        must(l, is(m, "type", "message"), "an assistant's item has no type");
        must(l, *text_of(content) != '\0', "an assistant says nothing");
        tell(l, "model", "", text_of(content));
    } else if (is(m, "role", "system")) {
        must(l, is_text(content), "a system's content is no text");
        tell_system(l, text_of(content));
    } else {
        must(l, is(m, "role", "user"), "an unknown role");
        if (is_text(content))
            tell(l, "user", "", text_of(content));
        else
            response_parts(l, content);
    }
}

/* Calls are separate items; other output of the model must follow a thought. */
static void response_item(struct legal *l, const allm_json *m, bool *thought)
{
    bool custom = is(m, "type", "custom_tool_call");
    bool call = custom || is(m, "type", "function_call");
    bool theirs = call || is(m, "role", "assistant") ||
                  is(m, "type", "reasoning");
    must(l, !*thought || theirs, "reasoning that nothing follows");
    *thought = is(m, "type", "reasoning");
    if (is(m, "type", "function_call_output") ||
        is(m, "type", "custom_tool_call_output")) {
        only(l, m, " type call_id output ");
        answer_id(l, text_at(m, "call_id"), text_at(m, "output"));
        return;
    }
    if (!theirs)
        waits_for_no_one_else(l);
    if (*thought) {
        only(l, m, " type id summary encrypted_content content status ");
    } else if (custom) {
        only(l, m, " type call_id name input ");
        ask_custom(l, text_at(m, "call_id"), m);
    } else if (call) {
        only(l, m, " type call_id name arguments namespace caller ");
        ask_text(l, text_at(m, "call_id"), text_at(m, "name"),
                 allm_json_get(m, "arguments"));
    } else {
        response_message(l, m);
    }
}

static void read_responses(struct legal *l, const allm_json *body)
{
    const allm_json *all = allm_json_get(body, "input");
    bool thought = false;
    must(l, allm_json_count(all) > 0, "no input");
    for (const allm_json *m = NULL; (m = allm_json_next(all, m));)
        response_item(l, m, &thought);
    must(l, !thought, "reasoning that nothing follows");
    ids_are_strict(l);
}

static void claude_model(struct legal *l, const allm_json *b)
{
    if (is(b, "type", "text")) {
        only(l, b, " type text citations ");
        must(l, !is_blank(text_at(b, "text")), "a blank text");
        tell(l, "model", "", text_at(b, "text"));
    } else if (is(b, "type", "tool_use")) {
        only(l, b, " type id name input caller ");
        ask(l, text_at(b, "id"), text_at(b, "name"), allm_json_get(b, "input"));
    } else {
        only(l, b, " type thinking signature data ");
        must(l, is(b, "type", "thinking") || is(b, "type", "redacted_thinking"),
             "an unknown block");
    }
}

static void claude_user(struct legal *l, const allm_json *b)
{
    const allm_json *source = allm_json_get(b, "source");
    if (is(b, "type", "tool_result")) {
        only(l, b, " type tool_use_id content is_error ");
        answer_id(l, text_at(b, "tool_use_id"), text_at(b, "content"));
        return;
    }
    waits_for_no_one_else(l);        /* results come first */
    if (is(b, "type", "text")) {
        only(l, b, " type text ");
        must(l, !is_blank(text_at(b, "text")), "a blank text");
        tell(l, "user", "", text_at(b, "text"));
    } else {
        must(l, is(b, "type", "image"), "an unknown block");
        only(l, b, " type source ");
        only(l, source, " type media_type data ");
        tell(l, "image", "", text_at(source, "data"));
    }
}

static void ends_well(struct legal *l, const allm_json *last)
{
    const allm_json *content = allm_json_get(last, "content");
    const allm_json *b = allm_json_at(content, allm_json_count(content) - 1);
    const char *text = text_at(b, "text");
    size_t n = strlen(text);
    if (is(last, "role", "assistant") && n)
        must(l, !strchr(" \t\r\n", text[n - 1]), "ends in a space");
}

static void read_anthropic(struct legal *l, const allm_json *body)
{
    const allm_json *all = allm_json_get(body, "messages"), *last = NULL;
    bool user = false;
    must(l, allm_json_count(all) > 0, "no messages");
    for (const allm_json *m = NULL; (m = allm_json_next(all, m)); last = m) {
        const allm_json *content = allm_json_get(m, "content");
        user = !user;
        must(l, is(m, "role", user ? "user" : "assistant"),
             "roles do not alternate");
        only(l, m, " role content ");
        must(l, allm_json_count(content) > 0, "an empty content");
        if (!user)
            waits_for_no_one_else(l);
        for (const allm_json *b = NULL; (b = allm_json_next(content, b));)
            (user ? claude_user : claude_model)(l, b);
    }
    ends_well(l, last);
    ids_are_strict(l);
    if (allm_json_get(body, "system"))
        tell_system(l, text_at(body, "system"));
}

static void gemini_result(struct legal *l, const allm_json *f)
{
    const struct legal_call *c = answer(l);
    const allm_json *r = allm_json_get(f, "response");
    const char *of = allm_json_get(r, "output") ? "output" : "error";
    only(l, f, " name response id ");
    must(l, c && !strcmp(c->name, text_at(f, "name")),
         "a result of another call");
    must(l, is_object(r), "a response that is no object");
    if (is_text(allm_json_get(r, of)))
        tell(l, "result", text_at(f, "name"), text_at(r, of));
    else
        tell_value(l, "result", text_at(f, "name"), r);
}

static void gemini_part(struct legal *l, const allm_json *p, bool model)
{
    const allm_json *call = allm_json_get(p, "functionCall");
    const allm_json *image = allm_json_get(p, "inlineData");
    if (call) {
        must(l, model, "a user calls");
        only(l, p, " functionCall thoughtSignature ");
        only(l, call, " name args id ");
        ask(l, text_at(call, "id"), text_at(call, "name"),
            allm_json_get(call, "args"));
    } else if (image) {
        only(l, p, " inlineData ");
        only(l, image, " mimeType data ");
        tell(l, "image", "", text_at(image, "data"));
    } else {
        only(l, p, model ? " text thought thoughtSignature " : " text ");
        must(l, *text_at(p, "text") || allm_json_get(p, "thoughtSignature"),
             "an empty text");
        if (!allm_json_true(allm_json_get(p, "thought")))
            tell(l, model ? "model" : "user", "", text_at(p, "text"));
    }
}

static void gemini_content(struct legal *l, const allm_json *m)
{
    const allm_json *parts = allm_json_get(m, "parts");
    bool results = allm_json_get(allm_json_at(parts, 0), "functionResponse");
    only(l, m, " role parts ");
    must(l, allm_json_count(parts) > 0, "an empty content");
    if (!results)
        waits_for_no_one_else(l);
    for (const allm_json *p = NULL; (p = allm_json_next(parts, p));) {
        const allm_json *result = allm_json_get(p, "functionResponse");
        must(l, results == (result != NULL), "results and something else");
        if (result)
            gemini_result(l, result);
        else
            gemini_part(l, p, is(m, "role", "model"));
    }
    if (results)
        waits_for_no_one_else(l);
}

static void read_gemini(struct legal *l, const allm_json *body)
{
    const allm_json *all = allm_json_get(body, "contents");
    const allm_json *system = allm_json_get(body, "systemInstruction");
    bool model = true;
    must(l, allm_json_count(all) > 0, "no contents");
    for (const allm_json *m = NULL; (m = allm_json_next(all, m));) {
        must(l, is(m, "role", "user") || (is(m, "role", "model") && !model),
             "the model stands first or twice");
        model = is(m, "role", "model");
        gemini_content(l, m);
    }
    if (system)
        tell_system(l, text_of(allm_json_pointer(system, "/parts/0/text")));
}

static void ollama_assistant(struct legal *l, const allm_json *m)
{
    const allm_json *calls = allm_json_get(m, "tool_calls");
    only(l, m, " role content tool_calls thinking ");
    must(l, !calls || allm_json_count(calls), "an empty list of calls");
    if (*text_at(m, "content"))
        tell(l, "model", "", text_at(m, "content"));
    else
        must(l, calls || allm_json_get(m, "thinking"),
             "an assistant says nothing");
    for (const allm_json *c = NULL; (c = allm_json_next(calls, c));) {
        const allm_json *f = allm_json_get(c, "function");
        only(l, c, " id function ");
        only(l, f, " name arguments ");
        ask(l, text_at(c, "id"), text_at(f, "name"),
            allm_json_get(f, "arguments"));
    }
}

static void ollama_message(struct legal *l, const allm_json *m)
{
    const allm_json *images = allm_json_get(m, "images");
    must(l, is_text(allm_json_get(m, "content")), "content is no text");
    if (is(m, "role", "tool")) {
        only(l, m, " role content tool_name tool_call_id ");
        answer_id(l, text_at(m, "tool_call_id"), text_at(m, "content"));
        must(l,
             l->answered && is(m, "tool_name", l->call[l->answered - 1].name),
             "a result of another tool");
        return;
    }
    waits_for_no_one_else(l);
    if (is(m, "role", "assistant")) {
        ollama_assistant(l, m);
    } else if (is(m, "role", "system")) {
        only(l, m, " role content ");
        tell_system(l, text_at(m, "content"));
    } else {
        must(l, is(m, "role", "user"), "an unknown role");
        only(l, m, " role content images ");
        tell(l, "user", "", text_at(m, "content"));
        for (const allm_json *i = NULL; (i = allm_json_next(images, i));)
            tell(l, "image", "", text_of(i));
    }
}

static void read_ollama(struct legal *l, const allm_json *body)
{
    const allm_json *all = allm_json_get(body, "messages");
    must(l, allm_json_count(all) > 0, "no messages");
    for (const allm_json *m = NULL; (m = allm_json_next(all, m));)
        ollama_message(l, m);
}

void legal_read(struct legal *l, const char *dialect, const allm_json *body)
{
    static const struct {
        const char *dialect;
        void (*read)(struct legal *, const allm_json *);
    } rows[] = {
        { "openai_chat", read_chat },
        { "openai_responses", read_responses },
        { "anthropic", read_anthropic },
        { "gemini", read_gemini },
        { "ollama", read_ollama },
    };
    *l = (struct legal){ .fault = NULL };
    must(l, is_object(body), "the body is no object");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].dialect, dialect))
            rows[i].read(l, body);
    waits_for_no_one_else(l);
}
