/*
 * input.c - read files and standard input
 *
 * Buffers are few and large, so they come from mmap(); only the library's base
 * layer calls malloc().
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "cli/input.h"

#include "cli/print.h"
#include "cli/reword.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t limit = INPUT_LIMIT;

void input_set_limit(size_t bytes)
{
    limit = bytes;
}

static bool is_stdin(const char *path)
{
    return !path || !strcmp(path, "-");
}

static const char *name_of(const char *path)
{
    return is_stdin(path) ? "standard input" : path;
}

int input_open(const char *path)
{
    struct stat about;
    if (is_stdin(path))
        return STDIN_FILENO;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &about) && S_ISDIR(about.st_mode)) {
        close(fd);
        fd = -1;
        errno = EISDIR;
    }
    if (fd < 0)
        print_fault("cannot read %s: %s", path, strerror(errno));
    return fd;
}

void input_close(int fd)
{
    if (fd > STDIN_FILENO)
        close(fd);
}

long input_read(int fd, const char *path, char *bytes, size_t len)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    ssize_t n;
    do {
        n = read(fd, bytes, len);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) &&
            poll(&wait, 1, -1) >= 0)
            errno = EINTR; /* read again */
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        print_fault("cannot read %s: %s", name_of(path), strerror(errno));
    return (long)n;
}

static bool grow_input(struct input *in)
{
    size_t cap = in->cap ? in->cap * 2 : 65536;
    void *more = mmap(NULL, cap, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED)
        return false;
    if (in->ptr) {
        memcpy(more, in->ptr, in->len);
        munmap(in->ptr, in->cap);
    }
    in->ptr = more; /* new pages are zero, so the text ends with a NUL */
    in->cap = cap;
    return true;
}

void input_release(struct input *in)
{
    if (in->ptr)
        munmap(in->ptr, in->cap);
    *in = (struct input){ 0 };
}

bool input_append(struct input *in, const char *bytes, size_t len)
{
    while (in->cap - in->len <= len)
        if (in->cap / 4 > limit || !grow_input(in))
            return print_fault("the prompt is too long");
    memcpy(in->ptr + in->len, bytes, len);
    in->len += len;
    in->ptr[in->len] = 0;
    return true;
}

/* The caller may not know that we read standard input: say so after a while. */
static void announce_wait(int fd)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    if (fd == STDIN_FILENO && !poll(&wait, 1, 2000))
        print_note("waiting for standard input; use </dev/null if there is "
                   "none");
}

static void report_size(const char *path)
{
    if (limit >= 1024 * 1024)
        print_fault("%s is larger than %zu MiB; split it, or raise the limit "
                    "with --max-input",
                    name_of(path), limit / 1024 / 1024);
    else
        print_fault("%s is larger than %zu bytes; raise the limit with "
                    "--max-input",
                    name_of(path), limit);
}

static bool read_all(struct input *in, int fd, const char *path)
{
    long n = 1;
    announce_wait(fd);
    while (n > 0) {
        if (in->len + 1 >= in->cap && !grow_input(in))
            return print_fault("out of memory while reading %s", name_of(path));
        n = input_read(fd, path, in->ptr + in->len, in->cap - in->len - 1);
        in->len += n > 0 ? (size_t)n : 0;
        if (in->len > limit) {
            report_size(path);
            return false;
        }
    }
    return n == 0;
}

bool input_load(struct input *in, const char *path)
{
    *in = (struct input){ 0 };
    int fd = input_open(path);
    bool ok = fd >= 0 && read_all(in, fd, path);
    input_close(fd);
    if (!ok)
        input_release(in);
    return ok;
}

bool input_load_at(struct input *in, const char *word)
{
    if (!word || *word != '@')
        return true;
    if (!input_load(in, word + 1))
        return false;
    while (in->len && in->ptr[in->len - 1] == '\n')
        in->ptr[--in->len] = 0;
    if (strlen(in->ptr) == in->len)
        return true;
    return print_fault("%s is not UTF-8 text", word + 1);
}

allm_json *input_json(const char *path)
{
    struct input in;
    if (!input_load(&in, path))
        return NULL;
    allm_json *value = allm_json_parse(in.ptr, in.len, NULL);
    const allm_error *error = allm_json_error(value);
    input_release(&in);
    if (!error)
        return value;
    print_fault("%s is not JSON: %.*s", name_of(path),
                reword_length(error->message), error->message);
    allm_json_free(value);
    return NULL;
}

/* How many continuation bytes follow; -1: not a first byte. */
static int count_continuations(unsigned char c)
{
    return c >= 0xc2 && c < 0xe0   ? 1
           : c >= 0xe0 && c < 0xf0 ? 2
           : c >= 0xf0 && c < 0xf5 ? 3
                                   : -1;
}

bool input_bytes_are_text(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x20 || (c >= '\t' && c <= '\r') || c == 0x1b) {
            int n = c < 0x80 ? 0 : count_continuations(c);
            while (n > 0 && i + 1 < len && (bytes[i + 1] & 0xc0) == 0x80) {
                n--;
                i++;
            }
            if (!n)
                continue;
        }
        return false;
    }
    return true;
}

bool input_is_text(const struct input *in)
{
    return input_bytes_are_text(in->ptr, in->len);
}

allm_json *input_arguments(const char *given)
{
    allm_json *args;
    if (given && !strcmp(given, "-"))
        args = input_json(NULL);
    else
        args = allm_json_parse(given ? given : "{}", ALLM_NUL_ENDED, NULL);
    const allm_error *error = args ? allm_json_error(args) : NULL;
    if (args && !error && allm_json_type_of(args) == ALLM_JSON_OBJECT)
        return args;
    if (error)
        print_fault("the arguments are not JSON: %s", error->message);
    else if (args)
        print_fault("the arguments must be a JSON object, such as "
                    "{\"path\": \"src\"}");
    allm_json_free(args);
    return NULL;
}
