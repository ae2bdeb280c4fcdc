/* image.h - the dialect of /images: OpenAI's models that paint */
#ifndef PROVIDER_OPENAI_IMAGE_H
#define PROVIDER_OPENAI_IMAGE_H

#include "allm.h"

extern const allm_adapter openai_image_adapter;

#endif
