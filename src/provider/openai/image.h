/* image.h - the dialect of /images: OpenAI's models for images */
#ifndef PROVIDER_OPENAI_IMAGE_H
#define PROVIDER_OPENAI_IMAGE_H

#include "allm.h"

extern const allm_adapter openai_image_adapter;

#endif
