/*
 * embed_similar.c - allm embed --similar: which texts of OUT are similar
 *
 * The file is mapped, and each row is compared; there is no index.  Of two rows
 * with the same id, the last one counts.
 */
#include "cli/embed_similar.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "term/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_DIMS = 1 << 20 };

struct hit {
    double score;
    char *id;
};

struct search {
    const struct similar *how;
    char *ptr; /* the rows, mapped */
    size_t len;
    const float *wanted;
    float *vector; /* of a row */
    size_t dims, others; /* others: rows with other dims */
    struct hit *hits; /* the best first */
    size_t count;
};

/* ---------------------------------------------------------------- rows --- */

static int fail_rows(const struct search *s, const char *why)
{
    print_misuse("cannot search %s: %s", s->how->path, why);
    return END_USAGE;   /* a constant, for the analyser */
}

static int map_rows(struct search *s)
{
    struct stat about;
    if (!s->how->path) {
        return print_misuse("--similar needs -O FILE: the rows of allm embed");
    }
    int fd = open(s->how->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about))
        return fail_rows(s, strerror(errno));
    s->len = S_ISREG(about.st_mode) ? (size_t)about.st_size : 0;
    void *all = s->len ? mmap(NULL, s->len, PROT_READ, MAP_PRIVATE, fd, 0)
                       : MAP_FAILED;
    close(fd);
    if (all == MAP_FAILED)
        return fail_rows(s, "it has no rows");
    s->ptr = all;
    return END_DONE;
}

/* The next row, or NULL; the caller frees it. */
static allm_json *next_row(const struct search *s, size_t *at)
{
    const char *from = s->ptr + *at;
    size_t left = s->len - *at;
    const char *feed = left ? memchr(from, '\n', left) : NULL;
    if (!feed)
        return NULL;
    *at += (size_t)(feed - from) + 1;
    return allm_json_parse(from, (size_t)(feed - from), NULL);
}

/* The length of the vectors: that of the first one. */
static int find_dims(struct search *s)
{
    size_t at = 0;
    allm_json *row;
    while (!s->dims && (row = next_row(s, &at))) {
        s->dims = allm_json_count(allm_json_get(row, "embedding"));
        allm_json_free(row);
    }
    if (!s->dims || s->dims > MOST_DIMS)
        return fail_rows(s, "it has no row with an \"embedding\"");
    s->vector = term_alloc(s->dims * sizeof *s->vector);
    return END_DONE;
}

/* ---------------------------------------------------------------- hits --- */

/* Drop an earlier row of the same id. */
static void drop_hit(struct search *s, const char *id)
{
    size_t i = 0;
    while (i < s->count && strcmp(s->hits[i].id, id) != 0)
        i++;
    if (i == s->count)
        return;
    term_free(s->hits[i].id);
    s->count--;
    memmove(&s->hits[i], &s->hits[i + 1], (s->count - i) * sizeof *s->hits);
}

static void add_hit(struct search *s, double score, const char *id, size_t len)
{
    size_t at = s->count;
    while (at && s->hits[at - 1].score < score)
        at--;
    if (at == s->how->most)
        return;
    if (s->count == s->how->most)
        term_free(s->hits[--s->count].id);
    memmove(&s->hits[at + 1], &s->hits[at], (s->count - at) * sizeof *s->hits);
    s->hits[at] = (struct hit){ score, term_copy(id, len) };
    s->count++;
}

static void compare_row(struct search *s, const allm_json *row)
{
    size_t len = 0, n = 0;
    const char *id = allm_json_text(allm_json_get(row, "id"), &len);
    const allm_json *list = allm_json_get(row, "embedding");
    if (!id || !list)
        return;
    drop_hit(s, id);
    if (allm_json_count(list) != s->dims) {
        s->others++;
        return;
    }
    for (const allm_json *x = NULL; (x = allm_json_next(list, x));)
        s->vector[n++] = (float)allm_json_number(x);
    add_hit(s, allm_embed_cosine(s->wanted, s->vector, s->dims), id, len);
}

static void compare_rows(struct search *s)
{
    size_t at = 0;
    allm_json *row;
    while ((row = next_row(s, &at))) {
        compare_row(s, row);
        allm_json_free(row);
    }
}

/* ---------------------------------------------------------------- call --- */

static int print_hits(const struct search *s)
{
    for (size_t i = 0; i < s->count; i++)
        print_format("%.4f %s\n", s->hits[i].score, s->hits[i].id);
    if (s->others)
        print_note("%zu rows have other dimensions and were left out",
                   s->others);
    return END_DONE;
}

static int compare_text(struct search *s, const allm_embeddings *e)
{
    if (e->dimensions != s->dims)
        return fail_rows(s, "its vectors have other dimensions than those of "
                            "the model; use -m with the model that made them");
    s->wanted = e->vectors[0];
    s->hits = term_alloc((s->how->most + 1) * sizeof *s->hits);
    compare_rows(s);
    return print_hits(s);
}

static int ask_vector(struct search *s, const struct batch_model *model,
                      const char *api_key)
{
    allm_call_opts opts = { .size = sizeof opts,
                            .json = model->target.options,
                            .api_key = api_key };
    allm_stream *stream = allm_embed(
        model->engine,
        ALLM(embed_request, .input_count = 1, .inputs = &s->how->text,
             .dimensions = { s->how->dims, s->how->dims > 0 }),
        &opts);
    allm_stream_wait(stream);
    const allm_embeddings *e = allm_stream_embeddings(stream);
    const allm_error *error = allm_stream_error(stream);
    int code = e       ? compare_text(s, e)
               : error ? exit_of_error(error)
                       : END_FAILED;
    if (!e && error)
        reword_print(error);
    allm_stream_free(stream);
    return code;
}

int embed_similar(const struct similar *how, const struct batch_model *model,
                  const char *api_key)
{
    struct search s = { .how = how };
    if (!*how->text)
        return print_misuse("--similar needs a text that is not empty");
    int code = map_rows(&s);
    if (code == END_DONE)
        code = find_dims(&s);
    if (code == END_DONE)
        code = ask_vector(&s, model, api_key);
    for (size_t i = 0; i < s.count; i++)
        term_free(s.hits[i].id);
    term_free(s.hits);
    term_free(s.vector);
    if (s.ptr)
        munmap(s.ptr, s.len);
    return code;
}
