/* test_report.c - the lines of a warden, in any pieces */
#include "proc/report.h"

#include "harness/check.h"

#include <stdio.h>

static const char *tell(const struct report *r)
{
    static const char *const kinds[] = { "none", "ended", "refused", "failed" };
    static char text[1024];
    snprintf(text, sizeof text, "%s %d|%d %d|%d %s %s|%s|%lld %lld|%d",
             kinds[r->kind], r->ended, r->status, r->signal, r->error,
             r->subject, r->path, r->missing, (long long)r->cpu_us,
             (long long)r->rss_kib, r->pid);
    return text;
}

static void reads_lines(void)
{
    static const struct {
        const char *why, *in, *want;
    } rows[] = {
        { "nothing", "", "none 0|0 0|0  ||0 0|0" },
        { "an exit", "started pid 12 \nended 3 0 1500 900 \n",
          "ended 1|3 0|0  ||1500 900|12" },
        { "a signal", "ended 0 9 1 2 \n", "ended 1|0 9|0  ||1 2|0" },
        { "missing parts", "missing pids 1 /proc \nmissing mounts 1 \n"
                           "ended 0 0 1 2 \n",
          "ended 1|0 0|0  | pids mounts|1 2|0" },
        { "a refusal", "refused files 38 Landlock \nended 127 0 1 2 \n",
          "refused 1|127 0|38 files Landlock||1 2|0" },
        { "a path with a blank", "failed exec 2 /a b/c \nended 127 0 1 2 \n",
          "failed 1|127 0|2 exec /a b/c||1 2|0" },
        { "an unknown line", "what is this \n\n \nended 1 0 1 2 \n",
          "ended 1|1 0|0  ||1 2|0" },
        { "values are missing", "ended\nended \n", "ended 1|0 0|0  ||0 0|0" },
        { "a line that has not ended", "ended 1 0 1 2 ",
          "none 0|0 0|0  ||0 0|0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t step = 1; step < 70; step += 3) {
            struct report r = { .kind = REPORT_NONE };
            struct slice in = slice_of(rows[i].in);
            check_row(rows[i].why);
            while (in.len) {
                size_t n = in.len < step ? in.len : step;
                report_add(&r, (struct slice){ in.ptr, n });
                in = slice_skip(in, n);
            }
            CHECK_TEXT(tell(&r), rows[i].want);
        }
}

static void cuts_long_lines(void)
{
    struct report r = { .kind = REPORT_NONE };
    report_add(&r, SLICE("failed exec 13 /"));
    for (int i = 0; i < 5000; i++)
        report_add(&r, SLICE("x"));
    report_add(&r, SLICE("\n"));
    for (int i = 0; i < 100; i++)
        report_add(&r, SLICE("missing metadata 1 \n"));
    report_add(&r, SLICE("ended 127 0 5 6 \n"));
    CHECK_INT(strlen(r.path), sizeof r.path - 1);
    CHECK_INT(r.error, 13);
    CHECK(r.ended);
    CHECK(strlen(r.missing) < sizeof r.missing);
}

TESTS = { TEST(reads_lines), TEST(cuts_long_lines), TESTS_END };
