/* picture.h - images in the results of tools */
#pragma once

#include "json/build.h"

enum { PICTURE_MOST = 5 << 20 };        /* bytes of one */

/*
 * The array of images in a struct outcome.  An image that models cannot see (it
 * is not PNG, JPEG, GIF or WebP, or has more than 5 MiB) is left out.
 */
struct pictures {
    struct build list;
    struct arena *arena;
    size_t count;
};

void pictures_init(struct pictures *p, struct arena *a);

/* False: it is left out. */
bool pictures_add(struct pictures *p, struct slice bytes);
bool pictures_add_base64(struct pictures *p, struct slice text);

/* The array; NULL: it is empty, or the arena is broken. */
const allm_json *pictures_done(struct pictures *p);
