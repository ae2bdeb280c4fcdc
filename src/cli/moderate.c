/* moderate.c - allm moderate: judge a text, print the categories */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "cli/target.h"
#include "conf/member.h"
#include "term/bytes.h"

#include <string.h>

static struct settings {
    const char *model;
    bool json;
} settings;

static const struct flag flags[] = {
    { 'm', "--model", FLAG_TEXT, offsetof(struct settings, model), "P:M",
      "the model; openai:omni-moderation-latest", FILL_MODEL },
    { 0, "--json", FLAG_SWITCH, offsetof(struct settings, json), NULL,
      "print one JSON document" },
    { .name = NULL },
};

static bool read_piped(struct bytes *text)
{
    struct input in = { NULL, 0, 0 };
    if (!input_load(&in, NULL))
        return false;
    bytes_add(text, in.ptr ? in.ptr : "", in.len);
    input_release(&in);
    return true;
}

/* The arguments, or else standard input. */
static bool read_text(struct bytes *text, int argc, char **argv)
{
    bool piped = !argc || (argc == 1 && !strcmp(argv[0], "-"));
    for (int i = 0; !piped && i < argc; i++) {
        bytes_text(text, i ? " " : "");
        bytes_text(text, argv[i]);
    }
    if (piped && !read_piped(text))
        return false;
    if (!input_bytes_are_text(bytes_string(text), text->len))
        return print_fault("the text to judge is not UTF-8 text");
    const char *words = bytes_string(text);
    return words[strspn(words, " \t\r\n")] ||
           print_fault("no text: pass one as arguments or on standard input");
}

/* The categories that apply, each with its score. */
static void print_categories(const allm_moderation *m)
{
    for (const allm_json *k = NULL; (k = allm_json_next(m->categories, k));) {
        const char *name = allm_json_text(k, NULL);
        const allm_json *score = allm_json_get(m->scores, name);
        if (!allm_json_true(allm_json_value(k)))
            continue;
        if (score)
            print_format("%s %.4f\n", name, allm_json_number(score));
        else
            print_format("%s\n", name);
    }
}

static void print_document(const allm_moderation *m, const char *model)
{
    allm_json_build *b = member_new_object();
    member_bool(b, "flagged", m->flagged);
    member_value(b, "categories", m->categories);
    member_value(b, "scores", m->scores);
    member_text(b, "model", model);
    allm_json *all = member_done(b);
    print_json(all, ALLM_JSON_PRETTY);
    allm_json_free(all);
}

static int judge_text(const struct target *t, const char *text)
{
    allm_engine *engine =
        allm_engine_new(ALLM(engine_opts, .model = t->model, .keys = t->keys,
                             .catalog = t->catalog, .net = &t->net));
    allm_json *address = target_address(t);
    allm_stream *stream = allm_moderate(
        engine, ALLM(moderation_request, .input_count = 1, .inputs = &text),
        ALLM(call_opts, .json = address));
    allm_stream_wait(stream);
    const allm_moderations *all = allm_stream_moderations(stream);
    const allm_error *error = allm_stream_error(stream);
    const allm_moderation *m = all && all->count ? all->results[0] : NULL;
    int code = m       ? m->flagged ? END_REFUSED : END_DONE
               : error ? exit_of_error(error)
                       : END_FAILED;
    if (m && settings.json)
        print_document(m, t->model);
    else if (m)
        print_categories(m);
    else if (error)
        reword_print(error);
    allm_stream_free(stream);
    allm_json_free(address);
    allm_engine_free(engine);
    return code;
}

static int run_moderate_command(int argc, char **argv)
{
    static const char usual[] = "openai:omni-moderation-latest";
    struct bytes text = { NULL, 0, 0 };
    struct target target = { .keyless = false };
    if (!flags_read(flags, &settings, &argc, argv) ||
        !read_text(&text, argc, argv)) {
        bytes_release(&text);
        return END_USAGE;
    }
    int code = target_choose(&target, settings.model ? settings.model : usual);
    if (code == END_DONE)
        code = judge_text(&target, bytes_string(&text));
    target_release(&target);
    bytes_release(&text);
    return code;
}

const struct command moderate_command = {
    .name = "moderate",
    .usage = "[FLAG...] [TEXT...|-]",
    .summary = "judge a text, print the categories that apply",
    .more = "Exit code 7: the text is flagged.\n",
    .examples = "allm moderate \"some text\"\n"
                "allm moderate --json <comment.txt\n",
    .flags = flags,
    .group = GROUP_TALK,
    .run = run_moderate_command,
};
