/* image.h - images from a script, for tests */
#ifndef PROVIDER_FAKE_IMAGE_H
#define PROVIDER_FAKE_IMAGE_H

#include "allm.h"

extern const allm_adapter fake_image_adapter;

#endif
