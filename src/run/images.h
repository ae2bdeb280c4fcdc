/* images.h - files of images read, before a dialect writes them */
#ifndef RUN_IMAGES_H
#define RUN_IMAGES_H

#include "base/home.h"

enum { IMAGES_LIMIT = 20 * 1024 * 1024 };   /* of one file */

/*
 * Put messages whose images are bytes in the place of those whose images are
 * files; the others stay as they are.  What is made lives in the home.  NULL,
 * or what is wrong: a file that cannot be read, or is too large.
 */
const allm_error *images_load(allm_request *r, struct allm_home *home);

#endif
