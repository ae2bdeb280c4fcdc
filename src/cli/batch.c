/* batch.c - allm batch: JSON lines in, JSON lines out */
#include "cli/ask.h"
#include "cli/ask_parts.h"
#include "cli/batch_models.h"
#include "cli/batch_run.h"
#include "cli/batch_tidy.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/schema_file.h"
#include "cli/settings.h"
#include "cli/toolbox.h"

#include <stddef.h>
#include <string.h>

static struct batch_flags settings;

#define AT(member) offsetof(struct batch_flags, member)

static const struct flag flags[] = {
    BATCH_FLAGS(AT),
    { 0, "--openai", FLAG_SWITCH, AT(openai), NULL,
      "write rows in the format of OpenAI's batches" },
    { .name = NULL },
};

struct batch {
    const struct ask *ask;
    struct batch_rules rules;
    struct batch_models models;
    struct opts options;
    struct input system; /* of -s @FILE */
    struct template_use template;
    allm_json *format;
};

/* ---------------------------------------------------------------- rows --- */

static void read_prompt(struct batch_run *run, struct batch_item *item,
                        const char *line, size_t len)
{
    const struct batch *b = run->state;
    batch_call_read(&item->call, &b->rules, line, len, item->offset);
}

static allm_stream *open_answer(struct batch_run *run,
                                const struct batch_item *first)
{
    const struct batch *b = run->state;
    const struct ask *a = b->ask;
    const struct batch_call *c = &first->call;
    const allm_request *request = batch_call_request(c);
    allm_call_opts opts = {
        .size = sizeof opts,
        .model = c->model->target.model,
        .json = c->options,
        .api_key = a->taps.replay ? "none" : NULL,
        .max_turns = a->max_turns ? a->max_turns
                                  : settings_count("max_turns", 0),
        .total_ms = a->timeout_ms ? a->timeout_ms : settings_ms("timeout", 0),
        .hide_text_deltas = 1,
        .tool_count = request->tool_count,
        .tools = request->tools,
        .response_format = b->format,
        .validate_output = b->format != NULL,
        .validate_arguments = 1
    };
    if (!b->format && !toolbox_box())
        return allm_generate(c->model->engine, request, &opts);
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_append_all(thread, request->message_count, request->messages);
    allm_stream *s = allm_chat(c->model->engine, thread, &opts);
    allm_thread_free(thread);
    return s;
}

static void judge_answer(struct batch_run *run, struct batch_end *end,
                         const allm_stream *stream, allm_status status)
{
    const struct batch *b = run->state;
    end->value = b->format != NULL;
    end->extract = ask_parts_extract(b->ask, &b->template);
    batch_row_judge(end, stream, status);
}

static bool put_answer(struct batch_run *run, struct batch_item *item,
                       size_t index, struct batch_end *end)
{
    (void)index;
    if (run->flags->openai)
        batch_row_put_openai(&item->done, &item->call, end);
    else
        batch_row_put(&item->done, &item->call, end);
    return true;
}

static const struct batch_task answers = { read_prompt, open_answer,
                                           judge_answer, put_answer };

/* --------------------------------------------------------------- setup --- */

static int open_files(struct batch_run *run, int argc, char **argv)
{
    const char *name;
    if (argc > 1) {
        return print_misuse("batch takes one input, but got \"%.100s\", too",
                            argv[1]);
    }
    if (!batch_run_shard(run, &name) ||
        !batch_lines_open(&run->lines, argc ? argv[0] : NULL, run->shard.number,
                          run->shard.of))
        return END_USAGE;
    return batch_out_open(&run->out, name, run->lines.fd);
}

static bool read_flags(struct batch *b)
{
    const struct ask *a = b->ask;
    return ask_parts_options(a, &a->options, &b->options) &&
           schema_file_choose(a->schema,
                              template_use_value(&b->template, "schema"),
                              &b->format) &&
           input_load_at(&b->system, a->system);
}

/* Resolve the model of the flags at once, if they name one. */
static int choose_model(struct batch *b)
{
    const struct ask *a = b->ask;
    return a->model || a->task ? batch_models_find(&b->models, NULL)->code
                               : END_DONE;
}

static int prepare_batch(struct batch *b, struct batch_run *run, int argc,
                         char **argv)
{
    const struct ask *a = b->ask;
    print_silence(settings.quiet);
    settings_use(a->config);
    int code = template_use_open(&b->template, a->template, &a->params);
    if (code == END_DONE && !read_flags(b))
        code = END_USAGE;
    if (code == END_DONE)
        code = settings_open();
    if (code == END_DONE)
        code = open_files(run, argc, argv);
    b->models = (struct batch_models){ .ask = a,
                                       .system = b->system.ptr ? b->system.ptr
                                                               : a->system,
                                       .options = b->options.json,
                                       .template = &b->template,
                                       .taps = a->taps };
    if (code == END_DONE)
        code = taps_open(&b->models.taps);
    if (code == END_DONE)
        code = toolbox_open(&(struct toolbox_wish){
            .flags = &a->toolbox, .taps = &b->models.taps });
    if (code != END_DONE)
        return code;
    b->models.pacer = allm_pacer_new(
        ALLM(pacer_opts, .rpm = settings.rpm, .tpm = settings.tpm,
             .max_in_flight = batch_run_jobs(&settings)));
    b->rules = (struct batch_rules){ .models = &b->models,
                                     .format = b->format,
                                     .lines = settings.lines };
    if (b->template.loaded)
        b->rules.template = &b->template;
    code = choose_model(b);
    return code == END_DONE ? batch_run_open(run) : code;
}

static int run_batch_command(int argc, char **argv)
{
    static struct ask a;
    static struct batch b = { .ask = &a, .models.taps.trace_fd = -1 };
    static struct batch_run run = { .flags = &settings, .task = &answers,
                                    .state = &b, .out.fd = -1 };
    if (!command_read(command_find("batch"), &settings, &a, &argc, argv))
        return END_USAGE;
    if (argc == 2 && !strcmp(argv[0], "tidy")) {
        print_silence(settings.quiet);
        return batch_tidy(argv[1]);
    }
    int code = prepare_batch(&b, &run, argc, argv);
    run.usage = a.usage || (code == END_DONE && settings_true("usage", false));
    if (code == END_DONE)
        code = batch_run(&run);
    /* The end of the process frees the rest. */
    return taps_close(&b.models.taps, code);
}

const struct command batch_command = {
    .name = "batch",
    .usage = "[FLAG...] [IN.jsonl|-] [-O OUT.jsonl]",
    .summary = "run many prompts: JSON lines in, JSON lines out",
    .more = "A line is {\"id\", \"prompt\"}, {\"id\", \"messages\"} or a line "
            "of an OpenAI batch.\nIf OUT exists, what it lacks is requested; "
            "\"allm batch tidy OUT\" cleans it up.\n",
    .examples = "allm batch -m openai:gpt-5-mini in.jsonl -O out.jsonl\n"
                "allm batch --lines -j 64 prompts.txt -O out.jsonl\n"
                "allm batch --shard auto in.jsonl -O out-%s.jsonl\n",
    .args = { FILL_FILE, FILL_FILE, FILL_FILE },
    .flags = flags,
    .shared = ask_flags,
    .shared_use = FLAG_BATCH,
    .group = GROUP_TALK,
    .run = run_batch_command,
};
