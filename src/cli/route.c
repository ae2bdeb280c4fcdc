/* route.c - allm route TASK: which model a task uses, without a request */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/target.h"
#include "conf/member.h"

#include <stddef.h>

static struct route_flags {
    bool json;
} given;

static const struct flag flags[] = {
    { 0, "--json", FLAG_SWITCH, offsetof(struct route_flags, json), NULL,
      "print a JSON object", .use = FLAG_MOST },
    { .name = NULL },
};

static void put_skipped(void *ud, const char *model, const char *reason)
{
    allm_json_build *b = ud;
    if (!given.json)
        print_note("%s is skipped: %s", model, reason);
    allm_json_build_object(b);
    member_text_or_null(b, "model", model);
    member_text_or_null(b, "reason", reason);
    allm_json_build_end(b);
}

/* The document, which the caller frees; *code is the exit code. */
static allm_json *make_route(struct target *t, const char *task, int *code)
{
    allm_json_build *b = member_new_object();
    member_text_or_null(b, "task", task);
    member_array(b, "skipped");
    *code = target_route(t, task, put_skipped, b);
    allm_json_build_end(b);
    member_text_or_null(b, "model", *code == END_DONE ? t->name : NULL);
    return member_done(b);
}

static int run_route_command(int argc, char **argv)
{
    struct target t = { .next = 0 };
    int code;
    given = (struct route_flags){ 0 };
    if (!flags_read(flags, &given, &argc, argv))
        return END_USAGE;
    if (argc != 1)
        return print_misuse("route needs the name of a task: allm route code");
    allm_json *document = make_route(&t, argv[0], &code);
    if (given.json && (code == END_DONE || code == END_KEY))
        print_json(document, ALLM_JSON_PRETTY);
    else if (code == END_DONE)
        print_format("%s\n", t.name);
    allm_json_free(document);
    target_release(&t);
    return code;
}

const struct command route_command = {
    .name = "route",
    .usage = "TASK [--json]",
    .summary = "show which model a task uses; nothing is sent",
    .more = "The setting routing.TASK has a model, or a list of models that\n"
            "are tried in this order; routing.default is for other tasks.\n",
    .examples = "allm config set routing.code '[\"openai:gpt-5\", "
                "\"ollama:qwen3\"]'\n"
                "allm route code\n"
                "allm --task code \"Reverse a list in C\"\n",
    .args = { FILL_TASK },
    .flags = flags,
    .group = GROUP_SETUP,
    .run = run_route_command,
};
