/* batch_shard.c - which part of a batch this process has: --shard */
#include "cli/batch_shard.h"

#include "cli/print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole number that fits; false: it is not one. */
static bool read_whole(const char *text, uint32_t *out)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    *out = (uint32_t)n;
    return !*end && !errno && n < 1000000000;
}

/* The variables of a scheduler: the index, and how many there are.  The first
 * index is that of `least`, or `first`.  Those for which the user has set the
 * count come first: parallel may run in a job of Slurm. */
static const struct scheduler {
    const char *index, *count, *least, *step;
    uint32_t first;
} schedulers[] = {
    { "PARALLEL_SEQ", "ALLM_SHARDS", NULL, NULL, 1 },
    { "JOB_COMPLETION_INDEX", "ALLM_SHARDS", NULL, NULL, 0 },
    { "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
      "SLURM_ARRAY_TASK_STEP", 0 },
    { "SLURM_PROCID", "SLURM_NTASKS", NULL, NULL, 0 },
};

static uint32_t whole_or(const char *name, uint32_t usual)
{
    uint32_t n;
    return name && read_whole(getenv(name), &n) ? n : usual;
}

static bool choose_part(struct batch_shard *s, const struct scheduler *r,
                        uint32_t index, uint32_t count)
{
    uint32_t first = whole_or(r->least, r->first), step = whole_or(r->step, 1);
    uint32_t part = index < first ? count : (index - first) / (step ? step : 1);
    *s = (struct batch_shard){ part + 1, count };
    return part < count ||
           print_fault("--shard auto: %s is %u, which is not one of %u shards "
                       "from %u on",
                       r->index, index, count, first);
}

static bool read_auto(struct batch_shard *s)
{
    const struct scheduler *uncounted = NULL, *r = schedulers;
    uint32_t index, count;
    for (; r < schedulers + sizeof schedulers / sizeof *r; r++) {
        if (!read_whole(getenv(r->index), &index))
            continue;
        if (read_whole(getenv(r->count), &count))
            return choose_part(s, r, index, count);
        uncounted = r;
    }
    if (uncounted)
        return print_fault("--shard auto: %s is set, but %s does not say how "
                           "many shards there are",
                           uncounted->index, uncounted->count);
    return print_fault("--shard auto: none of SLURM_ARRAY_TASK_ID, "
                       "SLURM_PROCID, JOB_COMPLETION_INDEX and PARALLEL_SEQ is "
                       "set; use --shard I/N");
}

bool batch_shard_read(struct batch_shard *s, const char *text)
{
    char first[16];
    const char *slash = text ? strchr(text, '/') : NULL;
    *s = (struct batch_shard){ 1, 1 };
    if (!text)
        return true;
    if (!strcmp(text, "auto"))
        return read_auto(s);
    snprintf(first, sizeof first, "%.*s", (int)(slash ? slash - text : 0),
             text);
    if (slash && read_whole(first, &s->number) &&
        read_whole(slash + 1, &s->of) && s->number >= 1 && s->number <= s->of)
        return true;
    return print_fault(
        "--shard needs I/N, such as 1/4 to 4/4, or auto; not \"%.100s\"", text);
}

bool batch_shard_name(const struct batch_shard *s, const char *path, char *out,
                      size_t size)
{
    const char *mark = strstr(path, "%s");
    int n = mark ? snprintf(out, size, "%.*s%u-of-%u%s", (int)(mark - path),
                            path, s->number, s->of, mark + 2)
                 : snprintf(out, size, "%s", path);
    if (n > 0 && (size_t)n < size)
        return true;
    return print_fault(n ? "the name of the output file is too long"
                         : "-O needs the name of a file");
}
