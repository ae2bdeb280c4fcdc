/* dialects.h - the adapters of all dialects */
#pragma once

#include "allm.h"

/* Conversations. */
extern const allm_adapter openai_chat_adapter, openai_responses_adapter,
    anthropic_adapter, gemini_adapter, ollama_adapter, fake_adapter;

/* The tasks; see tasks.h. */
extern const allm_adapter openai_embed_adapter, gemini_embed_adapter,
    ollama_embed_adapter, fake_embed_adapter;
extern const allm_adapter openai_image_adapter, gemini_image_adapter,
    fake_image_adapter;
extern const allm_adapter openai_moderate_adapter, fake_moderate_adapter;
extern const allm_adapter openai_models_adapter, anthropic_models_adapter,
    gemini_models_adapter, ollama_models_adapter;
