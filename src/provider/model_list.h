/* model_list.h - list the models of a server, in every dialect */
#ifndef PROVIDER_MODEL_LIST_H
#define PROVIDER_MODEL_LIST_H

#include "allm.h"

extern const allm_adapter openai_models_adapter, anthropic_models_adapter,
    gemini_models_adapter, ollama_models_adapter;

#endif
