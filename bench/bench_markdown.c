/*
 * bench_markdown.c - the CPU time of Markdown, compared with plain text
 *
 * Both get the same chunks, as long as a model's tokens, make them harmless for
 * a terminal and write them to /dev/null, one write per chunk.  The target is
 * 3 times the plain text.
 */
#include "measure.h"
#include "term/escape.h"
#include "term/markdown.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 40, CHUNK = 5 };

static const char answer[] =
    "# Sorting in C\n\nThe standard library has **qsort**, which takes a "
    "*comparison function*. It is declared in `<stdlib.h>`, and it is not "
    "guaranteed to be [stable](https://example.com/stable).\n\n"
    "1. Write a function that compares two elements.\n"
    "2. Pass it to `qsort`, with the *number* and the *size* of the elements.\n"
    "   - It gets **pointers** to them.\n\n"
    "```c\nstatic int order(const void *a, const void *b)\n{\n"
    "    return *(const int *)a - *(const int *)b;\n}\n```\n\n"
    "| function | stable | time |\n|---|---|--:|\n| `qsort` | no | n log n |\n"
    "| merge sort | yes | n log n |\n\n"
    "> Note that the subtraction can overflow, so compare with `<` and `>`.\n"
    "\nThat is all there is to it. If you need more, ask for an example with "
    "structures, and I will explain how the comparison function changes.\n\n";

static void write_out(int fd, const char *bytes, size_t len)
{
    ssize_t n = write(fd, bytes, len);
    if (n < 0)
        perror("write");
}

static void show_plain(int fd)
{
    struct escape e = { .count = 0 };
    struct bytes out = { NULL, 0, 0 };
    for (size_t at = 0; at < sizeof answer - 1; at += CHUNK) {
        size_t left = sizeof answer - 1 - at;
        bytes_clear(&out);
        escape_feed(&e, answer + at, left < CHUNK ? left : CHUNK, &out);
        write_out(fd, out.ptr, out.len);
    }
    bytes_release(&out);
}

static void show_markdown(int fd)
{
    struct markdown *m = markdown_new(80, MARKDOWN_COLOR);
    struct bytes out = { NULL, 0, 0 };
    for (size_t at = 0; at < sizeof answer - 1; at += CHUNK) {
        size_t left = sizeof answer - 1 - at;
        bytes_clear(&out);
        markdown_feed(m, answer + at, left < CHUNK ? left : CHUNK, &out);
        write_out(fd, bytes_string(&out), out.len);
    }
    bytes_clear(&out);
    markdown_end(m, &out);
    write_out(fd, bytes_string(&out), out.len);
    bytes_release(&out);
    markdown_free(m);
}

static int64_t time_of(void (*show)(int fd), int fd)
{
    int64_t began = measure_thread();
    for (int i = 0; i < 100; i++)
        show(fd);
    return measure_thread() - began;
}

int main(void)
{
    int64_t plain[ROUNDS], markdown[ROUNDS];
    int fd = open("/dev/null", O_WRONLY);
    for (int i = 0; i < ROUNDS; i++) {
        plain[i] = time_of(show_plain, fd);
        markdown[i] = time_of(show_markdown, fd);
    }
    close(fd);
    double size = 100.0 * (sizeof answer - 1);
    double one = (double)measure_median(plain, ROUNDS) / size;
    double other = (double)measure_median(markdown, ROUNDS) / size;
    printf("plain text %.1f ns per byte, Markdown %.1f: %.2f times (at most "
           "3: %s)\n",
           one, other, other / one, measure_verdict(other <= 3 * one));
    return 0;
}
