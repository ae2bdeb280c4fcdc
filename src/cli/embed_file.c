/* embed_file.c - vectors in a file of their own: --format f32 and "npy" */
#include "cli/embed_file.h"

#include "cli/batch_lines.h"
#include "cli/print.h"
#include "conf/file.h"
#include "conf/member.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NPY_HEADER = 128 };

static bool fail_vectors(const struct embed_file *f, const char *why)
{
    return print_fault("cannot use %s: %s", f->path, why);
}

/* Where the vector at `index` begins. */
static off_t place_of(const struct embed_file *f, uint64_t index)
{
    uint64_t begin = f->npy ? NPY_HEADER : 0;
    return (off_t)(begin + index * f->dims * sizeof(float));
}

/* Write all bytes at this place. */
static bool write_at(const struct embed_file *f, const char *bytes, size_t len,
                     off_t at)
{
    ssize_t n = pwrite(f->fd, bytes, len, at);
    if (n >= 0 && (size_t)n == len)
        return true;
    return print_fault(
        "cannot write to %s: %s; make room, and run the same command again to "
        "continue",
        f->path, strerror(n < 0 ? errno : ENOSPC));
}

/* ---------------------------------------------------------------- rows --- */

/* What is read from the rows. */
struct reading {
    struct bytes ids; /* "a", "b" ... */
    char model[256];
    size_t dims;
    uint64_t count;
    bool first_only; /* stop at the first vector */
};

static void add_id(struct reading *r, const allm_json *row)
{
    bytes_text(&r->ids, r->count++ ? ",\n  " : "  ");
    if (!member_append(&r->ids, allm_json_write(allm_json_get(row, "id"), 0)))
        bytes_text(&r->ids, "null");
}

static void read_row(struct reading *r, const struct batch_line *line)
{
    int64_t dims = 0;
    allm_json *row = allm_json_parse(line->ptr, line->len, NULL);
    if (allm_json_true(allm_json_get(row, "ok"))) {
        allm_json_int64(allm_json_get(row, "dims"), &dims);
        r->dims = dims > 0 ? (size_t)dims : 0;
        snprintf(r->model, sizeof r->model, "%s", member_or(row, "model", ""));
        add_id(r, row);
    }
    allm_json_free(row);
}

static bool read_all(const struct embed_file *f, struct reading *r)
{
    struct batch_lines lines;
    struct batch_line line;
    enum batch_found found = BATCH_END;
    bool open = batch_lines_open(&lines, f->rows, 1, 1);
    while (open && !(r->first_only && r->count) &&
           (found = batch_lines_next(&lines, &line)) == BATCH_LINE)
        read_row(r, &line);
    batch_lines_close(&lines);
    return open && found != BATCH_FAILED;
}

/* The dims of the vectors that are there. */
static bool read_dims(struct embed_file *f)
{
    struct reading r = { .first_only = true };
    bool ok = !f->count || read_all(f, &r);
    bytes_release(&r.ids);
    f->dims = r.dims;
    if (ok && f->count && !f->dims)
        return fail_vectors(f, "its rows are of another format; name another "
                               "file");
    return ok;
}

/* ---------------------------------------------------------------- file --- */

/* The vectors of rows must be there; what is behind them has no row. */
static bool cut_vectors(const struct embed_file *f)
{
    off_t size = lseek(f->fd, 0, SEEK_END), end = place_of(f, f->count);
    if (f->count ? size < end : size > (f->npy ? NPY_HEADER : 0))
        return fail_vectors(f, f->count ? "vectors are missing at its end"
                                        : "it has no rows in OUT.jsonl; name "
                                          "another file");
    if (f->count && size > end && ftruncate(f->fd, end))
        return fail_vectors(f, strerror(errno));
    return true;
}

bool embed_file_open(struct embed_file *f, uint64_t count)
{
    f->count = count;
    f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (f->fd < 0)
        return fail_vectors(f, strerror(errno));
    return read_dims(f) && cut_vectors(f);
}

bool embed_file_add(struct embed_file *f, const char *bytes, size_t len)
{
    char why[100];
    size_t dims = len / sizeof(float);
    if (!f->dims)
        f->dims = dims;
    if (dims != f->dims) {
        snprintf(why, sizeof why,
                 "it has vectors of %zu dimensions, the model makes %zu",
                 f->dims, dims);
        return fail_vectors(f, why);
    }
    return write_at(f, bytes, len, place_of(f, f->count)) && ++f->count;
}

/* ----------------------------------------------------------------- end --- */

/* The header of NumPy's format, version 1.0. */
static bool write_npy(const struct embed_file *f)
{
    char header[NPY_HEADER + 1];
    enum { BEFORE = 10 }; /* the magic, the version, the length */
    memset(header, ' ', NPY_HEADER);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = NPY_HEADER - BEFORE;
    header[9] = 0;
    int n = snprintf(header + BEFORE, NPY_HEADER - BEFORE,
                     "{'descr': '<f4', 'fortran_order': False, 'shape': "
                     "(%" PRIu64 ", %zu), }",
                     f->count, f->dims);
    header[BEFORE + n] = ' ';
    header[NPY_HEADER - 1] = '\n';
    return write_at(f, header, NPY_HEADER, 0);
}

static bool write_names(const struct embed_file *f, const struct reading *r)
{
    char path[4096];
    struct bytes all = { NULL, 0, 0 };
    snprintf(path, sizeof path, "%s.json", f->path);
    bytes_format(&all,
                 "{\n  \"dims\": %zu,\n  \"count\": %" PRIu64
                 ",\n  \"model\": \"%s\",\n  \"ids\": [\n",
                 f->dims, r->count, r->model);
    bytes_add(&all, bytes_string(&r->ids), r->ids.len);
    bytes_text(&all, "\n  ]\n}\n");
    int error = file_store(path, all.ptr, all.len);
    bytes_release(&all);
    if (error)
        print_fault("cannot write %s: %s", path, file_says(error));
    return !error;
}

bool embed_file_close(struct embed_file *f)
{
    struct reading r = { .first_only = false };
    if (f->fd < 0)
        return true;
    bool ok = (!f->npy || write_npy(f)) && read_all(f, &r) &&
              write_names(f, &r);
    bytes_release(&r.ids);
    if (close(f->fd) && ok)
        ok = fail_vectors(f, strerror(errno));
    f->fd = -1;
    return ok;
}
