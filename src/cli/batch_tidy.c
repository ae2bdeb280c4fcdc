/*
 * batch_tidy.c - allm batch tidy OUT: keep only the last row of each id
 *
 * The rows are read twice: first to find the last row of each id, then to copy
 * those rows to another file, which replaces OUT.  OUT is locked meanwhile.
 */
#include "cli/batch_tidy.h"

#include "cli/batch_lines.h"
#include "cli/batch_out.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/print.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct tidy {
    const char *path;
    char temp[4096];
    struct batch_out out;
    int fd; /* of the other file */
    struct bytes rows; /* not written yet */
    unsigned long long all, kept;
};

static int fail_tidy(const char *path, int error)
{
    return print_misuse("cannot write %s: %s", path, strerror(error));
}

/* Where the last row of the id of this line begins; NULL: it must not be
 * removed, because a vector belongs to it. */
static uint64_t *slot_of(struct tidy *t, const struct batch_line *line)
{
    size_t len = 0;
    allm_json *row = allm_json_parse(line->ptr, line->len, NULL);
    const char *id = allm_json_text(allm_json_get(row, "id"), &len);
    bool apart = allm_json_get(row, "dims") != NULL;
    uint64_t *slot = id && !apart ? batch_out_slot(&t->out, id, len) : NULL;
    allm_json_free(row);
    return slot;
}

static int write_rows(struct tidy *t)
{
    int error = output_write(t->fd, bytes_string(&t->rows), t->rows.len);
    bytes_clear(&t->rows);
    return error ? fail_tidy(t->temp, error) : END_DONE;
}

static int note_row(struct tidy *t, const struct batch_line *line)
{
    uint64_t *slot = slot_of(t, line);
    if (!slot) {
        return print_misuse(
            "the rows of %s belong to a file of vectors, in this order",
            t->path);
    }
    *slot = line->offset;
    t->all++;
    return END_DONE;
}

static int copy_row(struct tidy *t, const struct batch_line *line)
{
    const uint64_t *slot = slot_of(t, line);
    if (!slot || *slot != line->offset)
        return END_DONE;
    t->kept++;
    bytes_add(&t->rows, line->ptr, line->len);
    bytes_byte(&t->rows, '\n');
    return t->rows.len < 1 << 20 ? END_DONE : write_rows(t);
}

static int each_row(struct tidy *t,
                    int (*use)(struct tidy *, const struct batch_line *))
{
    struct batch_lines lines;
    struct batch_line line;
    enum batch_found found = BATCH_FAILED;
    int code = END_DONE;
    if (batch_lines_open(&lines, t->path, 1, 1))
        while (code == END_DONE &&
               (found = batch_lines_next(&lines, &line)) == BATCH_LINE)
            code = use(t, &line);
    batch_lines_close(&lines);
    return code == END_DONE && found != BATCH_END ? END_USAGE : code;
}

static int replace_out(struct tidy *t)
{
    int code = each_row(t, copy_row);
    if (code == END_DONE)
        code = write_rows(t);
    if (code == END_DONE && fsync(t->fd))
        code = fail_tidy(t->temp, errno);
    close(t->fd);
    if (code == END_DONE && rename(t->temp, t->path))
        code = fail_tidy(t->path, errno);
    if (code != END_DONE)
        unlink(t->temp);
    else
        print_note("%llu of %llu rows are kept", t->kept, t->all);
    return code;
}

static int tidy_rows(struct tidy *t)
{
    int code = each_row(t, note_row);
    if (code != END_DONE)
        return code;
    int n = snprintf(t->temp, sizeof t->temp, "%s.tidy", t->path);
    t->fd = n > 0 && (size_t)n < sizeof t->temp
                ? open(t->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                : -1;
    return t->fd < 0 ? fail_tidy(t->temp, errno) : replace_out(t);
}

int batch_tidy(const char *path)
{
    struct tidy t = { .path = path, .fd = -1 };
    if (access(path, F_OK)) {
        return print_misuse("cannot read %s: %s", path, strerror(errno));
    }
    int code = batch_out_open(&t.out, path, -1);
    if (code == END_DONE)
        code = tidy_rows(&t);
    batch_out_close(&t.out);
    bytes_release(&t.rows);
    return code;
}
