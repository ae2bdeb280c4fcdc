/* tasks.c - the dialects of tasks other than conversations */
#include "provider/tasks.h"

#include "provider/dialects.h"
#include "provider/openai/address.h"
#include "provider/quirks.h"

/* OpenAI accepts 300,000 tokens per request, and texts rarely have more than
 * one token per two bytes. */
#define OPENAI_BYTES 600000

static const struct tasks_way ways[] = {
    { TASKS_EMBED, &openai_chat_adapter, &openai_embed_adapter, 2048,
      OPENAI_BYTES, 0 },
    { TASKS_EMBED, &openai_responses_adapter, &openai_embed_adapter, 2048,
      OPENAI_BYTES, 0 },
    { TASKS_EMBED, &gemini_adapter, &gemini_embed_adapter, 100, 0, 3072 },
    { TASKS_EMBED, &ollama_adapter, &ollama_embed_adapter, 2048, 0, 0 },
    { TASKS_EMBED, &fake_adapter, &fake_embed_adapter, 1000, 0, 1 },
    { TASKS_IMAGE, &openai_chat_adapter, &openai_image_adapter, 0, 0, 0 },
    { TASKS_IMAGE, &openai_responses_adapter, &openai_image_adapter, 0, 0, 0 },
    { TASKS_IMAGE, &gemini_adapter, &gemini_image_adapter, 0, 0, 0 },
    { TASKS_IMAGE, &fake_adapter, &fake_image_adapter, 0, 0, 0 },
    { TASKS_MODERATE, &openai_chat_adapter, &openai_moderate_adapter, 0, 0, 0 },
    { TASKS_MODERATE, &openai_responses_adapter, &openai_moderate_adapter, 0, 0,
      0 },
    { TASKS_MODERATE, &fake_adapter, &fake_moderate_adapter, 0, 0, 0 },
    { TASKS_MODELS, &openai_chat_adapter, &openai_models_adapter, 0, 0, 0 },
    { TASKS_MODELS, &openai_responses_adapter, &openai_models_adapter, 0, 0,
      0 },
    { TASKS_MODELS, &anthropic_adapter, &anthropic_models_adapter, 0, 0, 0 },
    { TASKS_MODELS, &gemini_adapter, &gemini_models_adapter, 0, 0, 0 },
    { TASKS_MODELS, &ollama_adapter, &ollama_models_adapter, 0, 0, 0 },
};

const struct tasks_way *tasks_find(const struct registry_row *row,
                                   enum tasks_kind kind)
{
    for (size_t i = 0; row && i < sizeof ways / sizeof *ways; i++)
        if (ways[i].kind == kind && ways[i].chat == row->adapter)
            return &ways[i];
    return NULL;
}

struct registry_row tasks_row(const struct registry_row *row,
                              enum tasks_kind kind)
{
    struct registry_row out = *row;
    bool azure = row->adapter == &openai_chat_adapter
                     ? row->quirks & CHAT_AZURE_PATHS
                     : row->adapter == &openai_responses_adapter &&
                           (row->quirks & RESPONSES_AZURE_PATHS);
    out.adapter = tasks_find(row, kind)->adapter;
    out.quirks = azure ? OPENAI_ADDRESS_AZURE : 0;
    return out;
}
