/*
 * upload.h - the body of a request, as libcurl sends it
 *
 * A small body is copied ("posted"): libcurl sends it together with the
 * headers.  A large body is not copied; libcurl reads it piece by piece, and
 * the caller owns it until upload_detach().
 */
#pragma once

#include "base/mem.h"
#include "base/rope.h"

#include <curl/curl.h>

/* Must not be moved: libcurl has its address. */
struct upload {
    struct rope_reader body;    /* libcurl has read a part of it */
    char *copy;                 /* a posted body, or the part of a large body
                                   that was not sent at upload_detach() */
    size_t copy_size;
    bool posted;
    bool detached;
};

/* Borrow a body. */
void upload_init(struct upload *u, struct rope body);
void upload_release(struct upload *u, struct mem mem);

/* Copy the body if it is small.  False: out of memory. */
bool upload_post(struct upload *u, struct mem mem);

/* Set the callbacks of a handle, which no request changes. */
bool upload_set_callbacks(CURL *easy);

/* Set the data of these callbacks and the size of libcurl's buffer. */
bool upload_set_owner(struct upload *u, CURL *easy);

/* Send the body with a POST request. */
bool upload_set_body(const struct upload *u, CURL *easy);

/* The request will be sent again from its beginning.  Nothing was sent yet. */
void upload_rewind(struct upload *u);

/* Return the body to its owner: the part that libcurl has not sent yet is
 * copied.  The handle is NULL if libcurl is done.  False: out of memory. */
bool upload_detach(struct upload *u, struct mem mem, CURL *easy);
