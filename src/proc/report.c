/*
 * report.c - what a warden reports about its process
 *
 * A line is a word and its values, and ends in a blank; docs/sandbox.md lists
 * them.
 */
#include "proc/report.h"

#include <stdlib.h>

static struct slice take_word(struct slice *s)
{
    return slice_take(s, ' ');
}

/* Numbers are followed by a blank, and the line by a NUL. */
static int64_t take_number(struct slice *s)
{
    return s->len ? strtoll(take_word(s).ptr, NULL, 10) : 0;
}

static void keep_text(char *to, size_t cap, struct slice s)
{
    size_t n = s.len < cap ? s.len : cap - 1;
    memcpy(to, s.ptr, n);
    to[n] = 0;
}

static void read_fault(struct report *r, enum report_kind kind, struct slice s)
{
    r->kind = kind;
    keep_text(r->subject, sizeof r->subject, take_word(&s));
    r->error = (int)take_number(&s);
    keep_text(r->path, sizeof r->path, slice_trim(s));
}

static void read_missing(struct report *r, struct slice s)
{
    struct slice part = take_word(&s);
    size_t len = strlen(r->missing);
    if (len + part.len + 2 > sizeof r->missing)
        return;
    r->missing[len] = ' ';
    keep_text(r->missing + len + 1, sizeof r->missing - len - 1, part);
}

static void read_end(struct report *r, struct slice s)
{
    r->ended = true;
    if (r->kind == REPORT_NONE)
        r->kind = REPORT_ENDED;
    r->status = (int)take_number(&s);
    r->signal = (int)take_number(&s);
    r->cpu_us = take_number(&s);
    r->rss_kib = take_number(&s);
}

static void read_line(struct report *r)
{
    struct slice s = { r->line, r->len };
    struct slice word = take_word(&s);
    if (slice_is(word, "ended"))
        read_end(r, s);
    else if (slice_is(word, "refused"))
        read_fault(r, REPORT_REFUSED, s);
    else if (slice_is(word, "failed"))
        read_fault(r, REPORT_FAILED, s);
    else if (slice_is(word, "missing"))
        read_missing(r, s);
    else if (slice_is(word, "started") && take_word(&s).len)    /* "pid" */
        r->pid = (int)take_number(&s);
}

void report_add(struct report *r, struct slice bytes)
{
    for (; bytes.len; bytes = slice_skip(bytes, 1)) {
        if (*bytes.ptr == '\n') {
            r->line[r->len] = 0;
            read_line(r);
            r->len = 0;
        } else if (r->len < sizeof r->line - 1) {
            r->line[r->len++] = *bytes.ptr;
        }
    }
}
