/*
 * replay.c - allm replay: play a recording, without a network
 *
 * Without a prompt, all exchanges are played in order; their URLs determine the
 * dialect.  With a prompt, the recording replaces the provider, and must
 * contain the same request.
 */
#include "cli/ask.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/show.h"
#include "conf/member.h"

#include <stddef.h>
#include <string.h>

static struct settings {
    const char *model, *system;
    struct flag_list options;
    bool events, timed;
} settings;

static const struct flag flags[] = {
    { 'm', "--model", FLAG_TEXT, offsetof(struct settings, model), "P:M",
      "provider:model of the recording", FILL_MODEL },
    { 's', "--system", FLAG_TEXT, offsetof(struct settings, system), "TEXT",
      "the system prompt" },
    { 'o', "--option", FLAG_PAIR, offsetof(struct settings, options), "K V",
      "an option of the provider" },
    { 0, "--events", FLAG_SWITCH, offsetof(struct settings, events), NULL,
      "print the events as JSON, one per line" },
    { 0, "--timed", FLAG_SWITCH, offsetof(struct settings, timed), NULL,
      "at the recorded speed" },
    { .name = NULL },
};

static const char *dialect_of(const char *url)
{
    static const struct {
        const char *part, *dialect;
    } rows[] = {
        { "/chat/completions", "openai_chat" },
        { "/messages", "anthropic" },
        { "/responses", "openai_responses" },
        { "enerateContent", "gemini" },
        { "/api/chat", "ollama" },
    };
    for (size_t i = 0; url && i < sizeof rows / sizeof *rows; i++)
        if (strstr(url, rows[i].part))
            return rows[i].dialect;
    return NULL;
}

/* The end of the object that begins at `at`: the next line with a brace. */
static const char *object_end(const char *at, const char *end)
{
    const char *line = at;
    while ((line = memchr(line, '\n', (size_t)(end - line))) && ++line < end)
        if (*line == '{')
            return line;
    return end;
}

/* Find the next request after *at, and its dialect or NULL; false: no more. */
static bool next_request(const char **at, const char *end, const char **dialect)
{
    while (*at < end) {
        const char *stop = object_end(*at, end);
        allm_json *object = allm_json_parse(*at, (size_t)(stop - *at), NULL);
        const allm_json *request = allm_json_get(object, "request");
        *dialect = dialect_of(member_read(request, "url"));
        bool found = request != NULL;
        allm_json_free(object);
        *at = stop;
        if (found)
            return true;
    }
    return false;
}

static int play_exchange(const allm_player *player, const char *dialect)
{
    const allm_message *question = ALLM(message, .role = ALLM_ROLE_USER,
                                        .text = "?");
    allm_json *retry = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    allm_json *place = allm_json_parse(
        "{\"base_url\": \"http://replay.invalid\"}", ALLM_NUL_ENDED, NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .adapter = dialect, .model = "recorded",
             .adapter_opts = place, .retry = retry,
             .transport = allm_player_transport(player)));
    allm_stream *stream =
        allm_generate(engine,
                      ALLM(request, .message_count = 1, .messages = &question),
                      ALLM(call_opts, .api_key = "none"));
    int code = settings.events ? show_events(stream) : show_text(stream);
    allm_stream_free(stream);
    allm_engine_free(engine);
    allm_json_free(place);
    allm_json_free(retry);
    return code;
}

static int play_request(const allm_player *player, const char *dialect)
{
    if (!dialect || !registry_row(dialect, strlen(dialect)))
        return print_misuse(
            "cannot tell the provider from the URL; name it: allm replay -m "
            "PROVIDER:MODEL FILE");
    return play_exchange(player, dialect);
}

/* The provider of -m, or NULL. */
static const char *find_dialect(void)
{
    size_t len = settings.model ? strcspn(settings.model, ":") : 0;
    return member_read(registry_row(settings.model, len), "name");
}

static int play_all(const allm_player *player, const char *path)
{
    struct input in;
    const char *dialect;
    int code = END_DONE;
    if (!input_load(&in, path))
        return END_USAGE;
    const char *wanted = settings.model ? find_dialect() : NULL;
    const char *at = in.ptr, *end = in.ptr + in.len;
    while (code != END_USAGE && !print_broken() &&
           next_request(&at, end, &dialect)) {
        int this = play_request(player, wanted ? wanted : dialect);
        code = code ? code : this;
    }
    input_release(&in);
    return code;
}

static int ask_recording(const allm_player *player, int argc, char **argv)
{
    struct ask a = { .model = settings.model,
                     .system = settings.system,
                     .options = settings.options,
                     .events = settings.events,
                     .transport = allm_player_transport(player),
                     .any_key = true };
    return ask_run(&a, argc, argv);
}

static int run_replay_command(int argc, char **argv)
{
    if (!flags_read(flags, &settings, &argc, argv))
        return END_USAGE;
    if (!argc)
        return print_misuse(
            "replay needs a recording: allm replay FILE [PROMPT...]");
    uint32_t how = (settings.timed ? ALLM_PLAYER_TIMED : 0) |
                   (argc > 1 ? 0 : ALLM_PLAYER_IN_ORDER);
    allm_player *player = allm_player_new(argv[0],
                                          ALLM(player_opts, .flags = how));
    const allm_error *error = allm_player_error(player);
    int code = END_USAGE;
    if (error)
        print_fault("%s", error->message);
    else if (argc > 1)
        code = ask_recording(player, argc - 1, argv + 1);
    else
        code = play_all(player, argv[0]);
    allm_player_free(player);
    return code;
}

const struct command replay_command = {
    .name = "replay",
    .usage = "[FLAG...] FILE [PROMPT...]",
    .summary = "play a recording of real exchanges, without a network",
    .more = "Without a prompt, every answer is played.  With a prompt, the "
            "recording replaces\nthe provider; exit code 12: it has no such "
            "request.\n",
    .examples = "allm --record answer.rec \"Why is the sky blue?\"\n"
                "allm replay --timed answer.rec\n",
    .args = { FILL_FILE, FILL_FILE, FILL_FILE },
    .flags = flags,
    .group = GROUP_WIRE,
    .run = run_replay_command,
};
