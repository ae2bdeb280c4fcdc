/* image.h - generate images with generateContent: Google's native API */
#ifndef PROVIDER_GEMINI_IMAGE_H
#define PROVIDER_GEMINI_IMAGE_H

#include "allm.h"

extern const allm_adapter gemini_image_adapter;

#endif
