/* encode.c - allm encode: show the HTTP request that would be sent */
#include "cli/capture.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/reword.h"
#include "conf/member.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct settings {
    struct flag_list options;
    bool compact;
} settings;

static const struct flag flags[] = {
    { 'o', "--option", FLAG_PAIR, offsetof(struct settings, options), "K V",
      "an option of the call; V is JSON or a string" },
    { 0, "--compact", FLAG_SWITCH, offsetof(struct settings, compact), NULL,
      "print it on one line" },
    { .name = NULL },
};

/* Read a request, plain or tagged; a list of messages is also accepted. */
static allm_codec *read_request(const char *path)
{
    struct input in;
    if (!input_load(&in, path))
        return NULL;
    allm_json *value = allm_json_parse(in.ptr, in.len, NULL);
    input_release(&in);
    if (allm_json_type_of(value) == ALLM_JSON_ARRAY) {
        allm_json_build *b = member_new_object();
        member_value(b, "messages", value);
        allm_json_free(value);
        value = member_done(b);
    }
    const allm_error *error = allm_json_error(value);
    if (error) {
        print_fault("the request is not JSON: %.*s",
                    reword_length(error->message), error->message);
        allm_json_free(value);
        return NULL;
    }
    size_t len = 0;
    allm_text *text = allm_json_write(value, 0);
    const char *bytes = allm_text_bytes(text, &len);
    allm_codec *codec = allm_codec_decode(bytes ? bytes : "", len, "Request",
                                          NULL);
    allm_text_free(text);
    allm_json_free(value);
    return codec;
}

/* Warn about members that the struct does not have; `where` is its path. */
static void warn_unknown_members(const allm_json *kept, const char *where)
{
    if (allm_json_type_of(kept) != ALLM_JSON_OBJECT)
        return;
    for (const allm_json *key = NULL; (key = allm_json_next(kept, key));)
        print_note("note: %s/%.200s is unknown, or has the wrong type, and is "
                   "not sent%s",
                   where, allm_json_text(key, NULL),
                   *where ? "" : "; put options of the provider into /options");
}

static void warn_about_message(const allm_message *m, size_t at)
{
    char where[128];
    snprintf(where, sizeof where, "/messages/%zu", at);
    warn_unknown_members(m->kept, where);
    for (size_t i = 0; i < m->part_count; i++) {
        const allm_part *part = m->parts[i];
        snprintf(where, sizeof where, "/messages/%zu/content/%zu", at, i);
        if (part->kind != ALLM_PART_OTHER)  /* that is sent unchanged */
            warn_unknown_members(part->kept, where);
    }
    for (size_t i = 0; i < m->tool_call_count; i++) {
        snprintf(where, sizeof where, "/messages/%zu/tool_calls/%zu", at, i);
        warn_unknown_members(m->tool_calls[i]->kept, where);
    }
}

static void warn_about_request(const allm_request *r)
{
    char where[64];
    warn_unknown_members(r->kept, "");
    for (size_t i = 0; i < r->message_count; i++)
        warn_about_message(r->messages[i], i);
    for (size_t i = 0; i < r->tool_count; i++) {
        snprintf(where, sizeof where, "/tools/%zu", i);
        warn_unknown_members(r->tools[i]->kept, where);
    }
}

static int encode_request(const char *model, const allm_request *request,
                          bool keyless)
{
    struct capture c;
    struct opts options;
    if (!opts_read(&options, &settings.options))
        return END_USAGE;
    capture_init(&c);
    allm_keys *keys = capture_keys();
    allm_json *retry = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    allm_engine *engine = allm_engine_new(ALLM(engine_opts, .model = model,
                                               .retry = retry, .keys = keys,
                                               .transport = &c.transport));
    allm_stream *stream = allm_generate(engine, request,
                                        ALLM(call_opts, .model = model,
                                             .api_key = keyless ? NULL : "none",
                                             .json = options.json));
    allm_stream_wait(stream);
    int code = capture_show(&c, stream, settings.compact);
    allm_stream_free(stream);
    allm_engine_free(engine);
    allm_json_free(retry);
    allm_keys_free(keys);
    capture_release(&c);
    opts_release(&options);
    return code;
}

static int encode_file(const char *model, const char *path, bool keyless)
{
    allm_codec *codec = read_request(path);
    if (!codec)
        return END_USAGE;
    const allm_error *error = allm_codec_error(codec);
    const allm_request *request = allm_codec_value(codec, ALLM_TYPE_REQUEST);
    int code = END_USAGE;
    if (request && !error) {
        warn_about_request(request);
        code = encode_request(model, request, keyless);
    } else if (error) {
        print_fault("this is not a valid request: %s", error->message);
    } else {
        print_fault("this is not a request; expected {\"messages\": [...]}");
    }
    allm_codec_free(codec);
    return error ? END_REQUEST : code;
}

static int run_encode_command(int argc, char **argv)
{
    if (!flags_read(flags, &settings, &argc, argv))
        return END_USAGE;
    if (argc < 1 || argc > 2)
        return print_misuse(
            "encode needs a model and at most one file: allm encode "
            "PROVIDER:MODEL [REQUEST.json]");
    const char *model = argv[0], *colon = strchr(model, ':');
    size_t len = colon ? (size_t)(colon - model) : strlen(model);
    const allm_json *row = registry_row(model, len);
    int code = END_USAGE;
    if (!registry_is_http(row))
        code = registry_reject_provider(model, len);
    else if (!colon || !colon[1])
        print_fault("no model of %.*s is named; use allm encode %.*s:MODEL",
                    (int)len, model, (int)len, model);
    else
        code = encode_file(model, argc > 1 ? argv[1] : NULL,
                           registry_is_keyless(row));
    return code;
}

const struct command encode_command = {
    .name = "encode",
    .usage = "PROVIDER:MODEL [REQUEST.json]",
    .summary = "show the HTTP request that would be sent, the key as ***",
    .more =
        "REQUEST.json, or standard input, is a request, plain or tagged, or "
        "a list of\nmessages: {\"messages\": [{\"role\": \"user\", "
        "\"content\": \"hi\"}], \"tools\": [],\n\"temperature\": 0.5, "
        "\"options\": {\"top_p\": 0.9}}.  Nothing is sent.\n",
    .examples = "allm encode openai:gpt-5 request.json\n",
    .args = { FILL_MODEL, FILL_FILE },
    .flags = flags,
    .group = GROUP_WIRE,
    .run = run_encode_command,
};
