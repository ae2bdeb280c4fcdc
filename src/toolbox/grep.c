/*
 * grep.c - the tool grep: search files for a pattern
 *
 *      file --> window:  | kept lines | complete lines | begin of a line |
 *                                     ^ at
 *
 * A window of the file is searched at a time.  What a match must contain is
 * searched first, in all lines at once; the pattern is run only on lines that
 * contain it.  The lines before `at` are kept for the context.
 */
#define _GNU_SOURCE             /* searches in memory */
#include "toolbox/builtin.h"
#include "toolbox/lines.h"
#include "toolbox/walk.h"
#include "toolbox/wildcard.h"
#include "json/pattern.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { LIMIT = 200, WINDOW = 256 * 1024, WINDOW_MOST = 1 << 20, COLUMNS = 500,
       CONTEXT_MOST = 100 };

struct search {
    struct builtin_call *call;
    const struct pattern *pattern;
    struct slice needle;        /* in lower case if `fold` */
    bool plain;                 /* the needle is the pattern */
    bool fold;
    struct wildcard glob;
    bool has_glob, by_name;
    uint64_t context, limit, found, files, binary;
    struct arena scratch;
    char *window, *folded;      /* WINDOW_MOST bytes each */

    /* Of the current file. */
    const char *path;
    uint64_t line;              /* the number of the line at `counted` */
    const char *counted;
    const char *shown;          /* the end of what was printed; or NULL */
    uint64_t after;             /* lines of context still to print */
    bool any;
};

/* -------------------------------------------------------------- matches --- */

static const char *line_end(const char *at, const char *end)
{
    const char *lf = memchr(at, '\n', (size_t)(end - at));
    return lf ? lf : end;
}

static bool line_matches(struct search *s, struct slice line)
{
    size_t budget = SIZE_MAX / 2;
    if (s->plain)
        return true;
    enum pattern_result got = pattern_match(s->pattern, lines_bare(line),
                                            &s->scratch, &budget);
    arena_reset(&s->scratch);
    return got == PATTERN_YES;
}

/* The next place in [at, end) where the needle is; NULL: nowhere. */
static const char *find_needle(const struct search *s, const char *at,
                               const char *end)
{
    const char *text = s->fold ? s->folded + (at - s->window) : at;
    const char *hit = memmem(text, (size_t)(end - at), s->needle.ptr,
                             s->needle.len);
    return hit ? at + (hit - text) : NULL;
}

/* The next line with a match; false: none.  *end is its LF, or the end. */
static bool next_match(struct search *s, const char **at, const char *stop,
                       const char **end)
{
    while (*at < stop) {
        const char *hit = *at;
        if (s->needle.len) {
            hit = find_needle(s, *at, stop);
            if (!hit)
                return false;
            const char *lf = memrchr(*at, '\n', (size_t)(hit - *at));
            *at = lf ? lf + 1 : *at;
        }
        *end = line_end(hit, stop);
        if (line_matches(s, (struct slice){ *at, (size_t)(*end - *at) }))
            return true;
        *at = *end < stop ? *end + 1 : stop;
    }
    return false;
}

/* ------------------------------------------------------------- printing --- */

static void print_line(struct search *s, const char *at, const char *end,
                       uint64_t number, char sign)
{
    struct buf *out = &s->call->out;
    struct slice text = lines_bare((struct slice){ at, (size_t)(end - at) });
    buf_format(out, "%s%c%llu%c", s->path, sign, (unsigned long long)number,
               sign);
    lines_add(out, text, COLUMNS);
    buf_byte(out, '\n');
}

/* Count the lines up to this one. */
static void count_to(struct search *s, const char *at)
{
    s->line +=
        lines_ends((struct slice){ s->counted,
                                          (size_t)(at - s->counted) });
    s->counted = at;
}

/* Lines after a match, up to the next one or to `stop`. */
static void print_after(struct search *s, const char *stop)
{
    while (s->after && s->shown && s->shown < stop) {
        const char *end = line_end(s->shown, stop);
        count_to(s, s->shown);
        print_line(s, s->shown, end, s->line, '-');
        s->shown = end < stop ? end + 1 : stop;
        s->after--;
    }
}

/* The start of the context before a line. */
static const char *context_start(const struct search *s, const char *at)
{
    const char *least = s->shown ? s->shown : s->window;
    for (uint64_t i = 0; i < s->context && at > least; i++) {
        const char *lf = memrchr(least, '\n', (size_t)(at - 1 - least));
        at = lf ? lf + 1 : least;
    }
    return at;
}

static void print_match(struct search *s, const char *at, const char *end)
{
    print_after(s, at);
    const char *from = context_start(s, at);
    if (s->context && s->any && (!s->shown || from > s->shown))
        buf_text(&s->call->out, "--\n");
    count_to(s, at);
    uint64_t number = s->line -
                      lines_ends((struct slice){ from, (size_t)(at - from) });
    while (from < at) {
        const char *stop = line_end(from, at);
        print_line(s, from, stop, number++, '-');
        from = stop + 1;
    }
    print_line(s, at, end, s->line, ':');
    s->any = true;
    s->after = s->context;
}

/* --------------------------------------------------------------- a file --- */

static bool is_full(const struct search *s)
{
    return s->found >= s->limit || s->call->out.len > BUILTIN_OUT;
}

/* Search complete lines; false: enough. */
static bool search_lines(struct search *s, const char *at, const char *stop)
{
    const char *end;
    while (!is_full(s) && next_match(s, &at, stop, &end)) {
        if (memchr(at, 0, (size_t)(end - at))) {
            s->binary++;
            return false;
        }
        s->found++;
        print_match(s, at, end);
        at = end < stop ? end + 1 : stop;
        s->shown = at;
    }
    print_after(s, stop);
    return !is_full(s) && !builtin_stopped(s->call);
}

static void fold_bytes(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)from[i];
        to[i] = (char)(c + ((unsigned char)(c - 'A') < 26 ? 'a' - 'A' : 0));
    }
}

/* Keep the last lines before `at` and move them to the front; returns how many
 * bytes were dropped. */
static size_t drop_lines(struct search *s, const char *at)
{
    const char *shown = s->shown;
    s->shown = NULL;
    const char *from = context_start(s, at);
    if (at - from > WINDOW_MOST / 2)
        from = at;              /* room for the next lines */
    size_t dropped = (size_t)(from - s->window);
    count_to(s, s->counted < from ? from : s->counted);
    s->counted -= dropped;
    s->shown = shown && shown >= from ? shown - dropped : NULL;
    return dropped;
}

/* The end of the complete lines in the window; the window's end if there is no
 * more, or if a line is longer than all of it. */
static const char *complete_end(const struct search *s, const char *at,
                                const char *end, bool last)
{
    const char *lf = memrchr(at, '\n', (size_t)(end - at));
    bool full = (size_t)(end - s->window) == WINDOW_MOST;
    return last || (!lf && full) ? end : lf ? lf + 1 : at;
}

static int search_file(struct search *s, int fd)
{
    size_t have = 0, at = 0;    /* bytes in the window, and those searched */
    bool more = true, first = true;
    s->line = 1;
    s->counted = s->window;
    s->shown = NULL;
    s->after = 0;
    while (more) {
        size_t room = WINDOW_MOST - have;
        ssize_t n = read(fd, s->window + have, room < WINDOW ? room : WINDOW);
        if (n < 0)
            return errno;
        if (first && lines_binary((struct slice){ s->window, (size_t)n })) {
            s->binary++;
            return 0;
        }
        first = false;
        if (s->fold)
            fold_bytes(s->folded + have, s->window + have, (size_t)n);
        have += (size_t)n;
        const char *stop = complete_end(s, s->window + at, s->window + have,
                                        n == 0);
        more = search_lines(s, s->window + at, stop) && n > 0;
        size_t dropped = drop_lines(s, stop);
        at = (size_t)(stop - s->window) - dropped;
        have -= dropped;
        memmove(s->window, s->window + dropped, have);
        if (s->fold)
            memmove(s->folded, s->folded + dropped, have);
    }
    return 0;
}

static bool is_wanted(struct search *s, const struct walk_entry *e)
{
    return e->kind == WALK_FILE &&
           (!s->has_glob ||
            wildcard_match(&s->glob, slice_of(s->by_name ? e->name : e->path),
                           &s->scratch));
}

static bool search_entry(void *ud, const struct walk_entry *e)
{
    struct search *s = ud;
    struct stat st;
    if (!is_wanted(s, e))
        return !builtin_stopped(s->call);
    int fd = openat(e->dir, e->name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return true;            /* it may not be read, or is gone */
    s->path = e->path;
    s->files++;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode))
        search_file(s, fd);
    close(fd);
    return !is_full(s) && !builtin_stopped(s->call);
}

/* ----------------------------------------------------------------- tool --- */

/* False: the call was answered. */
static bool compile_search(struct search *s)
{
    struct builtin_call *c = s->call;
    struct arena *a = &c->arena;
    const char *fault = NULL;
    struct slice text = slice_of(builtin_text(c, "pattern", ""));
    s->fold = builtin_switch(c, "ignore_case");
    s->pattern = s->fold ? pattern_new_folded(a, text, &fault)
                         : pattern_new(a, text, &fault);
    if (fault) {
        builtin_fail_as(c, "invalid_arguments",
                        "the pattern is not valid: %s; put a backslash before "
                        "characters that stand for themselves",
                        fault);
        return false;
    }
    s->window = arena_alloc(a, WINDOW_MOST);
    s->folded = s->fold ? arena_alloc(a, WINDOW_MOST) : NULL;
    struct slice needle = { NULL, 0 };
    if (s->pattern)
        needle = pattern_needle(s->pattern, &s->plain);
    char *mine = needle.ptr ? arena_copy(a, needle) : NULL;
    if (mine && s->fold)
        fold_bytes(mine, mine, needle.len);
    s->needle = (struct slice){ mine, needle.len };
    const char *glob = builtin_text(c, "glob", NULL);
    s->has_glob = glob != NULL;
    s->by_name = glob && !strchr(glob, '/');
    if (glob && !wildcard_init(&s->glob, a, slice_of(glob), true))
        mine = NULL;
    if (mine && s->glob.never) {
        builtin_fail_as(c, "invalid_arguments",
                        "the glob %s is not valid: a [ is not closed, or it "
                        "ends with a backslash",
                        glob);
        return false;
    }
    if (mine && !a->broken)
        return true;
    builtin_path_fault(c, "", ENOMEM);
    return false;
}

static void answer_search(struct search *s)
{
    struct buf *out = &s->call->out;
    if (is_full(s))
        buf_format(out,
                   "[stopped after %llu matches; narrow the search, or "
                   "raise limit]\n",
                   (unsigned long long)s->found);
    else if (!s->found)
        buf_format(out, "[no matches in %llu files]\n",
                   (unsigned long long)s->files);
    if (s->binary)
        buf_format(out, "[%llu binary files left out]\n",
                   (unsigned long long)s->binary);
    builtin_answer(s->call);
}

/* The path is a file. */
static int search_one(struct search *s, const char *path)
{
    struct stat st;
    int fd, error = root_open_file(&s->call->root, path, &fd, &st);
    if (error)
        return error;
    s->path = walk_shown(&s->call->root, &s->call->arena, path);
    s->files = 1;
    error = s->path ? search_file(s, fd) : ENOMEM;
    close(fd);
    return error;
}

void grep_run(struct builtin_call *c)
{
    struct search s = { .call = c };
    const char *path = builtin_text(c, "path", ".");
    s.limit = builtin_number(c, "limit", LIMIT);
    s.context = builtin_number(c, "context", 0);
    if (s.context > CONTEXT_MOST)
        s.context = CONTEXT_MOST;
    arena_init(&s.scratch, c->arena.mem);
    if (compile_search(&s)) {
        struct walk w = { .root = &c->root, .mem = c->arena.mem,
                          .all = builtin_switch(c, "all"),
                          .visit = search_entry, .ud = &s };
        int error = walk_below(&w, path);
        if (error == ENOTDIR)
            error = search_one(&s, path);
        if (!error && s.scratch.broken)
            error = ENOMEM;
        if (error)
            builtin_path_fault(c, path, error);
        else
            answer_search(&s);
    }
    arena_release(&s.scratch);
}
