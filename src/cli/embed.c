/* embed.c - allm embed: texts in, vectors out, with the rows of a batch */
#include "cli/ask.h"
#include "cli/batch_models.h"
#include "cli/batch_run.h"
#include "cli/command.h"
#include "cli/embed_file.h"
#include "cli/embed_similar.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/settings.h"
#include "term/mem.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct embed_flags {
    struct batch_flags batch;
    const char *model, *format, *similar;
    uint32_t dims, count;
    bool jsonl;
} settings;

#define AT(member) offsetof(struct embed_flags, member)
#define BATCH_AT(member) offsetof(struct embed_flags, batch.member)

static const struct flag flags[] = {
    { 'm', "--model", FLAG_TEXT, AT(model), "P:M",
      "the model; openai:text-embedding-3-small", FILL_MODEL,
      .use = FLAG_MOST },
    { 0, "--dims", FLAG_NUMBER, AT(dims), "N",
      "how many numbers a vector has" },
    { 0, "--jsonl", FLAG_SWITCH, AT(jsonl), NULL,
      "each line is {\"id\", \"text\"}", .use = FLAG_MOST },
    { 0, "--format", FLAG_CHOICE, AT(format), "jsonl|f32|npy",
      "vectors in rows, or in a file of their own", FILL_WORDS,
      "jsonl|f32|npy", .use = FLAG_MOST },
    { 0, "--similar", FLAG_TEXT, AT(similar), "TEXT",
      "print which texts of OUT are most similar", .use = FLAG_MOST },
    { 'n', "--count", FLAG_NUMBER, AT(count), "N",
      "how many similar texts; 10" },
    BATCH_FLAGS(BATCH_AT),
    { .name = NULL },
};

struct embed {
    struct ask *ask;
    struct batch_rules rules;
    struct batch_models models;
    struct opts options;
    struct embed_file file;
    char path[4096], rows[4096]; /* of OUT; with a file of vectors */
    size_t length, before; /* bytes of the request, and before this row */
    allm_usage *part;      /* of the row */
};

/* ---------------------------------------------------------------- rows --- */

static void read_embed_text(struct batch_run *run, struct batch_item *item,
                            const char *line, size_t len)
{
    const struct embed *e = run->state;
    batch_call_read_text(&item->call, &e->rules, line, len, item->offset);
}

static allm_stream *open_vectors(struct batch_run *run,
                                 const struct batch_item *first)
{
    const struct embed *e = run->state;
    const struct ask *a = e->ask;
    const struct batch_model *m = first->call.model;
    const char **texts = term_alloc(run->most_items * sizeof *texts);
    size_t count = 0;
    for (const struct batch_item *i = first; i; i = i->more)
        texts[count++] = i->call.text;
    allm_embed_request request = {
        .size = sizeof request,
        .input_count = count,
        .inputs = texts,
        .dimensions = { settings.dims, settings.dims > 0 },
    };
    allm_call_opts opts = {
        .size = sizeof opts,
        .json = m->target.options,
        .api_key = a->taps.replay ? "none" : NULL,
        .total_ms = a->timeout_ms ? a->timeout_ms : settings_ms("timeout", 0),
    };
    allm_stream *s = allm_embed(m->engine, &request, &opts);
    term_free(texts);
    return s;
}

static void judge_vectors(struct batch_run *run, struct batch_end *end,
                          const allm_stream *stream, allm_status status)
{
    (void)run;
    end->error = allm_stream_error(stream);
    end->vectors = status == ALLM_OK ? allm_stream_embeddings(stream) : NULL;
    end->usage = end->vectors ? end->vectors->usage : NULL;
    end->code = end->vectors ? END_DONE
                : end->error ? exit_of_error(end->error)
                             : END_FAILED;
}

/* The part of a number that belongs to a row; the parts add up. */
static int64_t part_of(const struct embed *e, int64_t all, size_t len)
{
    double whole = (double)all / (double)e->length;
    return (int64_t)(whole * (double)(e->before + len)) -
           (int64_t)(whole * (double)e->before);
}

/* What a request used is divided among its rows, by the length of the texts. */
static void divide_usage(struct embed *e, const struct batch_item *item,
                         struct batch_end *end)
{
    const allm_usage *all = end->usage;
    size_t len = item->call.text ? strlen(item->call.text) : 0;
    allm_usage part = { .size = sizeof part };
    if (!all || !e->length)
        return;
    part.input_tokens = all->input_tokens;
    part.input_tokens.value = part_of(e, all->input_tokens.value, len);
    part.total_cost = all->total_cost;
    part.total_cost.value *= (double)len / (double)e->length;
    e->before += len;
    allm_usage_free(e->part);
    e->part = allm_usage_new(&part);
    end->usage = e->part;
}

static void measure_request(struct embed *e, const struct batch_item *first)
{
    e->length = e->before = 0;
    for (const struct batch_item *i = first; i; i = i->more)
        e->length += i->call.text ? strlen(i->call.text) : 0;
}

/* Little-endian, on every machine. */
static void add_floats(struct bytes *out, const float *vector, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &vector[i], sizeof bits);
        for (int shift = 0; shift < 32; shift += 8)
            bytes_byte(out, (char)(bits >> shift & 0xff));
    }
}

static bool put_row(struct batch_run *run, struct batch_item *item,
                    size_t index, struct batch_end *end)
{
    struct embed *e = run->state;
    bool apart = e->file.path != NULL;
    const allm_embeddings *v = end->vectors;
    if (!index)
        measure_request(e, item);
    divide_usage(e, item, end);
    if (apart && v)
        add_floats(&item->done, v->vectors[index], v->dimensions);
    item->first = item->done.len;
    batch_row_put_vector(&item->done, &item->call, end, index, apart);
    return true;
}

/* The vector of a row goes first. */
static bool write_vector(struct batch_run *run, const char *bytes, size_t len)
{
    struct embed *e = run->state;
    return embed_file_add(&e->file, bytes, len);
}

static const struct batch_task vectors = { read_embed_text, open_vectors,
                                           judge_vectors, put_row,
                                           write_vector };

/* --------------------------------------------------------------- input --- */

static bool names_file(const char *word)
{
    struct stat about;
    return !stat(word, &about);
}

static bool open_texts(struct batch_run *run, int argc, char **argv)
{
    const struct batch_shard *s = &run->shard;
    bool rows = settings.batch.lines || settings.jsonl;
    const char *first = argc ? argv[0] : NULL;
    if (settings.batch.lines && settings.jsonl)
        return print_fault("--lines and --jsonl exclude each other");
    if (rows && argc > 1)
        return print_fault("embed takes one input, but got \"%.100s\", too",
                           argv[1]);
    if (rows)
        return batch_lines_open(&run->lines, first, s->number, s->of);
    if (!first || !strcmp(first, "-") || (argc == 1 && names_file(first)))
        return batch_lines_open_whole(&run->lines, first, s->number, s->of);
    for (int i = 0; i < argc; i++)
        if (!*argv[i] || !input_bytes_are_text(argv[i], strlen(argv[i])))
            return print_fault("a text to embed is %s",
                               *argv[i] ? "not UTF-8 text" : "empty");
    batch_lines_open_words(&run->lines, argc, argv, s->number, s->of);
    return true;
}

/* -------------------------------------------------------------- output --- */

/* With a file of vectors, the rows are in a file beside it. */
static bool name_rows(struct embed *e, const char **name)
{
    bool apart = settings.format && strcmp(settings.format, "jsonl") != 0;
    if (!apart)
        return true;
    if (!*name || !strcmp(*name, "-"))
        return print_fault("--format %s needs -O FILE", settings.format);
    snprintf(e->path, sizeof e->path, "%s", *name);
    int n = snprintf(e->rows, sizeof e->rows, "%s.jsonl", *name);
    if (n < 0 || (size_t)n >= sizeof e->rows)
        return print_fault("the name of the output file is too long");
    e->file = (struct embed_file){ .fd = -1, .path = e->path, .rows = e->rows,
                                   .npy = settings.format[0] == 'n' };
    *name = e->rows;
    return true;
}

static int open_embed_files(struct embed *e, struct batch_run *run, int argc,
                            char **argv)
{
    const char *name;
    if (!batch_run_shard(run, &name) || !name_rows(e, &name) ||
        !open_texts(run, argc, argv))
        return END_USAGE;
    int code = batch_out_open(&run->out, name, run->lines.fd);
    if (code == END_DONE && e->file.path) {
        if (!embed_file_open(&e->file, run->out.ok))
            return END_USAGE;
        run->out.first_fd = e->file.fd;
    }
    return code;
}

/* --------------------------------------------------------------- model --- */

static size_t embed_limit(const allm_json *row, const char *key)
{
    int64_t n = 0;
    return allm_json_int64(allm_json_get(row, key), &n) ? (size_t)n : 0;
}

/* How many texts a request of this provider may have. */
static int limit_request(struct batch_run *run, const struct target *t)
{
    size_t len = strcspn(t->model, ":");
    const allm_json *row = registry_row(t->model, len);
    run->most_items = embed_limit(row, "embed_inputs");
    run->most_bytes = embed_limit(row, "embed_bytes");
    if (run->most_items)
        return END_DONE;
    print_fault("%.*s has no embeddings", (int)strcspn(t->name, ":"), t->name);
    return END_REQUEST;
}

static int open_model(struct embed *e, struct batch_run *run)
{
    const struct batch_flags *f = &settings.batch;
    e->models = (struct batch_models){ .ask = e->ask,
                                       .options = e->options.json,
                                       .no_text = true,
                                       .taps = e->ask->taps };
    int code = taps_open(&e->models.taps);
    if (code != END_DONE)
        return code;
    e->models.pacer = allm_pacer_new(ALLM(pacer_opts, .rpm = f->rpm,
                                          .tpm = f->tpm,
                                          .max_in_flight = batch_run_jobs(f)));
    const struct batch_model *m = batch_models_find(&e->models, NULL);
    return m->code == END_DONE ? limit_request(run, &m->target) : m->code;
}

static int prepare_embed(struct embed *e, struct batch_run *run, int argc,
                         char **argv)
{
    print_silence(settings.batch.quiet);
    settings_use(e->ask->config);
    if (!opts_read(&e->options, &e->ask->options))
        return END_USAGE;
    int code = settings_open();
    if (code == END_DONE)
        code = open_model(e, run);
    e->rules = (struct batch_rules){ .models = &e->models,
                                     .lines = !settings.jsonl,
                                     .dims = settings.dims };
    if (code == END_DONE && settings.similar)
        return argc ? print_misuse("--similar takes no arguments, but got "
                                   "\"%.100s\"",
                                   argv[0])
                    : code;
    if (code == END_DONE)
        code = open_embed_files(e, run, argc, argv);
    return code == END_DONE ? batch_run_open(run) : code;
}

/* ---------------------------------------------------------------- call --- */

static int find_similar(struct embed *e, struct batch_run *run)
{
    const struct batch_model *m = batch_models_find(&e->models, NULL);
    const struct similar how = { .path = settings.batch.out,
                                 .text = settings.similar,
                                 .most = settings.count ? settings.count : 10,
                                 .dims = settings.dims };
    (void)run;
    return embed_similar(&how, m, e->ask->taps.replay ? "none" : NULL);
}

static int run_rows(struct embed *e, struct batch_run *run)
{
    run->usage = e->ask->usage || settings_true("usage", false);
    int code = batch_run(run);
    return embed_file_close(&e->file) ? code : END_USAGE;
}

static int run_embed_command(int argc, char **argv)
{
    static struct ask a;
    static struct embed e = { .ask = &a, .models.taps.trace_fd = -1,
                              .file.fd = -1 };
    static struct batch_run run = { .flags = &settings.batch, .task = &vectors,
                                    .state = &e, .out.fd = -1 };
    if (!command_read(command_find("embed"), &settings, &a, &argc, argv))
        return END_USAGE;
    a.model = settings.model ? settings.model : "openai:text-embedding-3-small";
    int code = prepare_embed(&e, &run, argc, argv);
    if (code == END_DONE)
        code = settings.similar ? find_similar(&e, &run) : run_rows(&e, &run);
    /* The end of the process frees the rest. */
    return taps_close(&e.models.taps, code);
}

const struct command embed_command = {
    .name = "embed",
    .usage = "[FLAG...] [TEXT...|FILE|-] [-O OUT]",
    .summary = "make vectors of texts: rows as in batch",
    .more = "Each TEXT is a row, and a FILE is one; with --lines or --jsonl, "
            "each line is.\nIf OUT exists, what it lacks is requested.  See "
            "allm-batch(7).\n",
    .examples = "allm embed \"a red fox\" \"a brown dog\"\n"
                "allm embed --jsonl texts.jsonl -O vectors.jsonl\n"
                "allm embed --similar \"fox\" -O vectors.jsonl\n",
    .args = { FILL_FILE, FILL_FILE, FILL_FILE },
    .flags = flags,
    .shared = ask_flags,
    .shared_use = FLAG_EMBED,
    .group = GROUP_TALK,
    .run = run_embed_command,
};
