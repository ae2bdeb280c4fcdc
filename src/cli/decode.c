/* decode.c - allm decode: turn a provider's raw answer into events */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/file_transport.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/show.h"

#include <stddef.h>
#include <string.h>

static struct settings {
    struct flag_list options;
    bool raw;
} settings;

static const struct flag flags[] = {
    { 'o', "--option", FLAG_PAIR, offsetof(struct settings, options), "K V",
      "an option, such as quirks '[\"think_tags\"]'" },
    { 0, "--raw", FLAG_SWITCH, offsetof(struct settings, raw), NULL,
      "also print the chunks, as raw_chunk events" },
    { .name = NULL },
};

static allm_engine *make_engine(const char *dialect,
                                const struct file_transport *from,
                                const allm_json *options)
{
    allm_json *place = allm_json_parse(
        "{\"base_url\": \"http://decode.invalid\"}", ALLM_NUL_ENDED, NULL);
    allm_json *opts = options ? allm_json_merge(place, options)
                              : allm_json_copy(place);
    allm_json *retry = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    allm_engine *engine =
        allm_engine_new(ALLM(engine_opts, .adapter = dialect,
                             .model = "recorded", .adapter_opts = opts,
                             .retry = retry, .transport = &from->transport));
    allm_json_free(retry);
    allm_json_free(opts);
    allm_json_free(place);
    return engine;
}

/* No timeouts: reading a file may take as long as it takes. */
static allm_stream *start_decoding(const allm_engine *engine)
{
    const allm_message *question = ALLM(message, .role = ALLM_ROLE_USER,
                                        .text = "?");
    return allm_generate(
        engine, ALLM(request, .message_count = 1, .messages = &question),
        ALLM(call_opts, .api_key = "none", .include_raw_chunks = settings.raw,
             .first_ms = UINT32_MAX, .silence_ms = UINT32_MAX));
}

static int decode_file(const char *dialect, const char *path)
{
    static struct file_transport from;
    struct opts options;
    if (!opts_read(&options, &settings.options))
        return END_USAGE;
    if (!file_transport_open(&from, path)) {
        opts_release(&options);
        return END_USAGE;
    }
    allm_engine *engine = make_engine(dialect, &from, options.json);
    allm_stream *stream = start_decoding(engine);
    int code = show_events(stream);
    allm_stream_free(stream);
    allm_engine_free(engine);
    file_transport_close(&from);
    opts_release(&options);
    return from.failed ? END_USAGE : code;
}

static int run_decode_command(int argc, char **argv)
{
    if (!flags_read(flags, &settings, &argc, argv))
        return END_USAGE;
    if (argc < 1 || argc > 2)
        return print_misuse(
            "decode needs a dialect and at most one file: allm decode DIALECT "
            "[FILE]");
    const allm_json *row = registry_row(argv[0], strlen(argv[0]));
    return registry_is_http(row)
               ? decode_file(argv[0], argc > 1 ? argv[1] : NULL)
               : registry_reject_dialect(argv[0]);
}

const struct command decode_command = {
    .name = "decode",
    .usage = "DIALECT [FILE]",
    .summary = "turn a provider's raw answer into events, one per line",
    .more = "FILE, or standard input, is the body of an answer: server-sent "
            "events, JSON\nlines or one JSON document.  DIALECT is a dialect "
            "or a provider: openai_chat,\nanthropic, groq ...  The last event "
            "is message_completed or error.\n",
    .examples = "allm decode anthropic answer.txt\n",
    .args = { FILL_DIALECT, FILL_FILE },
    .flags = flags,
    .group = GROUP_WIRE,
    .run = run_decode_command,
};
