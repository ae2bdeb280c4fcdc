/*
 * print.c - print to stdout and stderr
 *
 * On a terminal, text is escaped (term/escape), and so are carriage returns.
 *
 * Output is buffered here and not by stdio, which loses bytes if a non-blocking
 * descriptor is full.
 */
#include "cli/print.h"

#include "cli/exit.h"
#include "cli/output.h"
#include "term/escape.h"
#include "term/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct out {
    int fd;
    int terminal; /* 0: not known yet, 1: yes, -1: no */
    struct escape escape;
    int error;    /* errno of the first write that failed */
    size_t used;
    char bytes[8192]; /* not written yet */
};

static struct out standard_output, standard_error;
static char *diverted; /* or NULL: see print_divert() */
static size_t diverted_size;
static bool silent;

static struct out *get_stdout(void)
{
    standard_output.fd = STDOUT_FILENO;
    if (!standard_output.terminal)
        standard_output.terminal = isatty(STDOUT_FILENO) ? 1 : -1;
    return &standard_output;
}

static struct out *get_stderr(void)
{
    standard_error.fd = STDERR_FILENO;
    if (!standard_error.terminal)
        standard_error.terminal = isatty(STDERR_FILENO) ? 1 : -1;
    return &standard_error;
}

static void flush_output(struct out *o)
{
    if (!o->error)
        o->error = output_write(o->fd, o->bytes, o->used);
    o->used = 0;
}

static void write_raw(struct out *o, const char *bytes, size_t len)
{
    while (len && !o->error) {
        size_t room = sizeof o->bytes - o->used;
        size_t n = len < room ? len : room;
        memcpy(o->bytes + o->used, bytes, n);
        o->used += n;
        bytes += n;
        len -= n;
        if (o->used == sizeof o->bytes)
            flush_output(o);
    }
}

static void write_output(struct out *o, const char *bytes, size_t len)
{
    if (o->terminal < 0) {
        write_raw(o, bytes, len);
        return;
    }
    struct bytes safe = { NULL, 0, 0 };
    escape_feed(&o->escape, bytes, len, &safe);
    write_raw(o, bytes_string(&safe), safe.len);
    bytes_release(&safe);
    if (memchr(bytes, '\n', len))
        flush_output(o);
}

void print_bytes(const char *bytes, size_t len)
{
    write_output(get_stdout(), bytes, len);
}

void print_raw(const char *bytes, size_t len)
{
    write_raw(get_stdout(), bytes, len);
}

void print_text(const char *text)
{
    print_bytes(text, strlen(text));
}

void print_ended(const char *bytes, size_t len)
{
    print_bytes(bytes, len);
    if (len && bytes[len - 1] != '\n')
        print_text("\n");
}

void print_format(const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < (int)sizeof text) {
        print_text(text);
        return;
    }
    char *whole = term_alloc((size_t)n + 1);
    va_start(args, format);
    vsnprintf(whole, (size_t)n + 1, format, args);
    va_end(args);
    print_text(whole);
    term_free(whole);
}

void print_owned(allm_text *text)
{
    size_t len = 0;
    const allm_error *error = allm_text_error(text);
    const char *bytes = allm_text_bytes(text, &len);
    struct out *o = get_stdout();
    if (bytes && !error) {
        write_output(o, bytes, len);
        write_output(o, "\n", 1);
    } else if (!o->error) {
        o->error = ENOMEM;
    }
    allm_text_free(text);
}

void print_json(const allm_json *value, uint32_t flags)
{
    print_owned(allm_json_write(value, flags));
}

void print_flush(void)
{
    flush_output(get_stdout());
}

bool print_broken(void)
{
    return standard_output.error != 0;
}

int print_pipe(void)
{
    struct stat about;
    bool pipe = !fstat(STDOUT_FILENO, &about) &&
                (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
    return pipe ? STDOUT_FILENO : -1;
}

void print_break(void)
{
    struct out *o = get_stdout();
    o->error = o->error ? o->error : EPIPE;
}

bool print_is_terminal(void)
{
    return get_stdout()->terminal > 0;
}

int print_end(int code)
{
    print_flush();
    if (!standard_output.error)
        return code;
    if (standard_output.error == EPIPE)
        return END_SIGNAL + SIGPIPE;
    print_fault("cannot write to standard output: %s",
                strerror(standard_output.error));
    return END_FAILED;
}

/* Does a call of a library function begin here? */
static bool is_library_call(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    return !strncmp(text, "allm_", 5) && text[n] == '(';
}

/* The library's message may end with advice that names a function, which does
 * not help in a shell: remove it. */
static void drop_advice(char *text)
{
    char *end = NULL;
    for (char *c = text; *c; c++) {
        if (!strncmp(c, "; ", 2))
            end = c;
        if (end && is_library_call(c)) {
            *end = '\0';
            return;
        }
    }
}

/* Write the text as one line: line ends become spaces. */
static void write_line(const char *before, const char *format, va_list args)
{
    char text[8192];
    struct out *o = get_stderr();
    print_flush();
    vsnprintf(text, sizeof text, format, args);
    drop_advice(text);
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    write_output(o, before, strlen(before));
    write_output(o, text, strlen(text));
    write_output(o, "\n", 1);
    flush_output(o);
}

void print_divert(char *into, size_t size)
{
    diverted = into;
    diverted_size = size;
    if (into)
        *into = 0;
}

static void write_fault(const char *format, va_list args)
{
    if (!diverted)
        write_line("allm: ", format, args);
    else if (!*diverted)
        vsnprintf(diverted, diverted_size, format, args);
}

bool print_fault(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_fault(format, args);
    va_end(args);
    return false;
}

int print_misuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_fault(format, args);
    va_end(args);
    return END_USAGE;
}

void print_note(const char *format, ...)
{
    va_list args;
    if (silent)
        return;
    va_start(args, format);
    write_line("", format, args);
    va_end(args);
}

void print_aside(const char *bytes, size_t len)
{
    struct out *o = get_stderr();
    print_flush();
    write_output(o, bytes, len);
    if (len && bytes[len - 1] != '\n')
        write_output(o, "\n", 1);
    flush_output(o);
}

void print_trace(allm_text *line)
{
    size_t len = 0;
    const char *bytes = allm_text_bytes(line, &len);
    if (bytes && !silent)
        print_aside(bytes, len);
    allm_text_free(line);
}

void print_silence(bool on)
{
    silent = on;
}

void print_finding(bool good, const char *what, const char *detail)
{
    print_format("%-4s %-14s %s\n", good ? "ok" : "--", what, detail);
}
