/* upload.c - the body of a request, as libcurl sends it */
#include "net/upload.h"

#include <stdint.h>
#include <stdio.h>

enum {
    SMALL_BODY = 16 * 1024,     /* a body up to this size is posted */
    BUFFER_SIZE = 16 * 1024,    /* libcurl's minimum */
    LARGE_BUFFER = 256 * 1024   /* at most; freed when the body is sent */
};

void upload_init(struct upload *u, struct rope body)
{
    *u = (struct upload){ .body.rope = body };
}

static void free_copy(struct upload *u, struct mem mem)
{
    mem_free(mem, u->copy, u->copy_size);
    u->copy = NULL;
    u->copy_size = 0;
}

void upload_release(struct upload *u, struct mem mem)
{
    free_copy(u, mem);
    *u = (struct upload){ .copy = NULL };
}

bool upload_post(struct upload *u, struct mem mem)
{
    size_t len = u->body.rope.len;
    if (len > SMALL_BODY)
        return true;
    u->copy = mem_alloc(mem, len + 1);
    if (!u->copy)
        return false;
    u->copy_size = len + 1;
    rope_read(&u->body, u->copy, len);
    u->posted = true;
    return true;
}

void upload_rewind(struct upload *u)
{
    rope_seek(&u->body, 0);
}

/* ------------------------------------------------------------- libcurl --- */

static size_t on_read(char *to, size_t one, size_t n, void *ud)
{
    (void)one;                  /* always 1 */
    return rope_read(&((struct upload *)ud)->body, to, n);
}

/* A reused connection has died, and libcurl sends the body again over another
 * one.  It does so only before the first byte of a response. */
static int on_seek(void *ud, curl_off_t offset, int origin)
{
    struct upload *u = ud;
    bool done = !u->detached && origin == SEEK_SET && offset >= 0 &&
                rope_seek(&u->body, (size_t)offset);
    return done ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

bool upload_set_callbacks(CURL *easy)
{
    return !curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read) &&
           !curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
}

/* libcurl calls send() once for each buffer: a large body needs few calls. */
static long buffer_size(const struct upload *u)
{
    size_t len = u->body.rope.len;
    if (u->posted || len < BUFFER_SIZE)
        return BUFFER_SIZE;
    return len < LARGE_BUFFER ? (long)len : (long)LARGE_BUFFER;
}

bool upload_set_owner(struct upload *u, CURL *easy)
{
    return !curl_easy_setopt(easy, CURLOPT_READDATA, u) &&
           !curl_easy_setopt(easy, CURLOPT_SEEKDATA, u) &&
           !curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, buffer_size(u));
}

bool upload_set_body(const struct upload *u, CURL *easy)
{
    return !curl_easy_setopt(easy, CURLOPT_POST, 1L) &&
           !curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                             u->posted ? u->copy : NULL) &&
           !curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                             (curl_off_t)u->body.rope.len);
}

/* ----------------------------------------------------------- detaching --- */

/* Has libcurl sent the whole body? */
static bool is_sent(const struct upload *u, CURL *easy)
{
    curl_off_t sent = 0;
    if (!easy)
        return true;
    curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    return (uint64_t)sent >= u->body.rope.len;
}

/* libcurl does not need the body any more: free the copy of a small one, and
 * the buffer of a large one, which libcurl frees when its size is set. */
static void drop_sent(struct upload *u, struct mem mem, CURL *easy)
{
    if (easy && u->posted)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
    else if (easy)
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)BUFFER_SIZE);
    if (u->posted)
        free_copy(u, mem);
}

/* The server has responded before it had the whole body: copy the part that
 * libcurl has not read yet.  False: out of memory. */
static bool copy_unsent(struct upload *u, struct mem mem)
{
    size_t left = rope_left(&u->body);
    if (!left)
        return true;
    u->copy = mem_alloc(mem, left);
    if (!u->copy)
        return false;
    rope_read(&u->body, u->copy, left);
    u->copy_size = left;
    return true;
}

bool upload_detach(struct upload *u, struct mem mem, CURL *easy)
{
    u->detached = true;
    if (easy && !u->posted && !copy_unsent(u, mem))
        return false;
    if (is_sent(u, easy))
        drop_sent(u, mem, easy);
    u->body = (struct rope_reader){ .done = 0 };
    if (!u->posted && u->copy)
        u->body.rope = rope_of_slice((struct slice){ u->copy, u->copy_size });
    return true;
}
