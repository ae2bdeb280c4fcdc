/*
 * registry.c - the table of providers, one row each
 *
 * The module names are those in documents that the Elixir library writes.
 */
#include "provider/registry.h"

#include "provider/dialects.h"
#include "provider/model_rules.h"
#include "provider/quirks.h"

enum {
    MISTRAL = CHAT_NO_STREAM_OPTIONS | CHAT_OLD_MAX_TOKENS |
              CHAT_STRICT_FIELDS | CHAT_SHORT_IDS
};

/* A server with the dialect openai_chat; special settings follow. */
#define CHAT(name_, url, env) \
    .name = (name_), .adapter = &openai_chat_adapter, .base_url = (url), \
    .base_url_env = (env)

/* The same for anthropic. */
#define MESSAGES(name_, url, env) \
    .name = (name_), .adapter = &anthropic_adapter, .base_url = (url), \
    .base_url_env = (env)

/* The same for openai_responses. */
#define RESPONSES(name_, url, env) \
    .name = (name_), .adapter = &openai_responses_adapter, .base_url = (url), \
    .base_url_env = (env)

/* And for gemini. */
#define CONTENT(name_, url, env) \
    .name = (name_), .adapter = &gemini_adapter, .base_url = (url), \
    .base_url_env = (env)

#define GOOGLE_URL "https://generativelanguage.googleapis.com/v1beta"

static const struct registry_row rows[] = {
    { .name = "fake",
      .module = "Elixir.ALLM.Providers.Fake",
      .adapter = &fake_adapter },

    /* any server: set base_url, and quirks in adapter_opts */
    { CHAT("openai_chat", NULL, "OPENAI_CHAT_BASE_URL"), .keyless = true },

    { CHAT("openai", "https://api.openai.com/v1", "OPENAI_BASE_URL"),
      .module = "Elixir.ALLM.Providers.OpenAI",
      .quirks = CHAT_LIMITED_IDS,
      .by_model = true },
    { CHAT("azure", NULL, "AZURE_OPENAI_ENDPOINT"),
      .key_env = "AZURE_OPENAI_API_KEY",
      .auth_header = "api-key",
      .quirks = CHAT_AZURE_PATHS | CHAT_LIMITED_IDS,
      .responses_quirks = RESPONSES_AZURE_PATHS },

    { CHAT("alibaba",
           "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
           "DASHSCOPE_BASE_URL"),
      .key_env = "DASHSCOPE_API_KEY" },
    { CHAT("baseten", "https://inference.baseten.co/v1", "BASETEN_BASE_URL") },
    { CHAT("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_BASE_URL"),
      .quirks = CHAT_NEW_MAX_TOKENS },
    /* its OpenAI-compatible API, not its own */
    { CHAT("cohere", "https://api.cohere.ai/compatibility/v1",
           "COHERE_BASE_URL"),
      .quirks = CHAT_NO_STREAM_OPTIONS | CHAT_OLD_MAX_TOKENS |
                CHAT_STRICT_FIELDS },
    { CHAT("databricks", NULL, "DATABRICKS_BASE_URL"),
      .key_env = "DATABRICKS_TOKEN" },
    { CHAT("deepinfra", "https://api.deepinfra.com/v1/openai",
           "DEEPINFRA_BASE_URL") },
    { CHAT("deepseek", "https://api.deepseek.com", "DEEPSEEK_BASE_URL"),
      .quirks = CHAT_REPLAY_REASONING },
    { CHAT("fireworks", "https://api.fireworks.ai/inference/v1",
           "FIREWORKS_BASE_URL") },
    { CHAT("gemini_openai",
           "https://generativelanguage.googleapis.com/v1beta/openai",
           "GEMINI_OPENAI_BASE_URL"),
      .key_env = "GEMINI_API_KEY" },
    { CHAT("github", "https://models.github.ai/inference", "GITHUB_BASE_URL"),
      .key_env = "GITHUB_TOKEN" },
    { CHAT("groq", "https://api.groq.com/openai/v1", "GROQ_BASE_URL") },
    { CHAT("huggingface", "https://router.huggingface.co/v1",
           "HUGGINGFACE_BASE_URL"),
      .key_env = "HF_TOKEN" },
    { CHAT("minimax", "https://api.minimax.io/v1", "MINIMAX_BASE_URL") },
    { CHAT("mistral", "https://api.mistral.ai/v1", "MISTRAL_BASE_URL"),
      .quirks = MISTRAL },
    { CHAT("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_BASE_URL"),
      .quirks = CHAT_REPLAY_REASONING },
    { CHAT("nebius", "https://api.tokenfactory.nebius.com/v1",
           "NEBIUS_BASE_URL") },
    { CHAT("novita", "https://api.novita.ai/openai/v1", "NOVITA_BASE_URL") },
    { CHAT("nvidia", "https://integrate.api.nvidia.com/v1",
           "NVIDIA_BASE_URL") },
    { CHAT("openrouter", "https://openrouter.ai/api/v1",
           "OPENROUTER_BASE_URL") },
    { CHAT("perplexity", "https://api.perplexity.ai", "PERPLEXITY_BASE_URL") },
    { CHAT("sambanova", "https://api.sambanova.ai/v1", "SAMBANOVA_BASE_URL") },
    { CHAT("together", "https://api.together.xyz/v1", "TOGETHER_BASE_URL") },
    { CHAT("venice", "https://api.venice.ai/api/v1", "VENICE_BASE_URL") },
    { CHAT("xai", "https://api.x.ai/v1", "XAI_BASE_URL") },
    { CHAT("zai", "https://api.z.ai/api/paas/v4", "ZAI_BASE_URL") },

    /* servers on the local machine */
    { CHAT("gpustack", "http://localhost/v1", "GPUSTACK_BASE_URL"),
      .keyless = true },
    { CHAT("koboldcpp", "http://localhost:5001/v1", "KOBOLDCPP_BASE_URL"),
      .keyless = true },
    { CHAT("llamacpp", "http://localhost:8080/v1", "LLAMACPP_BASE_URL"),
      .keyless = true,
      .responses_quirks = RESPONSES_NO_INCLUDE | RESPONSES_CHAT_FORMAT },
    { CHAT("lmstudio", "http://localhost:1234/v1", "LMSTUDIO_BASE_URL"),
      .keyless = true },
    { CHAT("ollama_openai", "http://localhost:11434/v1",
           "OLLAMA_OPENAI_BASE_URL"),
      .keyless = true },
    { CHAT("sglang", "http://localhost:30000/v1", "SGLANG_BASE_URL"),
      .keyless = true },
    { CHAT("vllm", "http://localhost:8000/v1", "VLLM_BASE_URL"),
      .keyless = true },

    { .name = "ollama",
      .adapter = &ollama_adapter,
      .base_url = "http://localhost:11434",
      .base_url_env = "OLLAMA_HOST",
      .keyless = true,
      .first_ms = 600000 },     /* it may have to load the model */
    { .name = "ollama_cloud",
      .adapter = &ollama_adapter,
      .base_url = "https://ollama.com",
      .base_url_env = "OLLAMA_CLOUD_BASE_URL",
      .key_env = "OLLAMA_API_KEY" },
    /* only with /responses: any server, and servers from above */
    { RESPONSES("openai_responses", NULL, "OPENAI_RESPONSES_BASE_URL"),
      .keyless = true },
    { RESPONSES("azure_responses", NULL, "AZURE_OPENAI_ENDPOINT"),
      .key_env = "AZURE_OPENAI_API_KEY",
      .auth_header = "api-key",
      .quirks = RESPONSES_AZURE_PATHS },
    { RESPONSES("groq_responses", "https://api.groq.com/openai/v1",
                "GROQ_RESPONSES_BASE_URL"),
      .key_env = "GROQ_API_KEY",
      .quirks = RESPONSES_NO_INCLUDE },
    { RESPONSES("huggingface_responses", "https://router.huggingface.co/v1",
                "HUGGINGFACE_RESPONSES_BASE_URL"),
      .key_env = "HF_TOKEN",
      .quirks = RESPONSES_NO_INCLUDE },
    { RESPONSES("openrouter_responses", "https://openrouter.ai/api/v1",
                "OPENROUTER_RESPONSES_BASE_URL"),
      .key_env = "OPENROUTER_API_KEY" },
    { RESPONSES("perplexity_responses", "https://api.perplexity.ai/v1",
                "PERPLEXITY_RESPONSES_BASE_URL"),
      .key_env = "PERPLEXITY_API_KEY",
      .quirks = RESPONSES_NO_INCLUDE | RESPONSES_NO_STORE },
    { RESPONSES("xai_responses", "https://api.x.ai/v1",
                "XAI_RESPONSES_BASE_URL"),
      .key_env = "XAI_API_KEY" },
    { RESPONSES("llamacpp_responses", "http://localhost:8080/v1",
                "LLAMACPP_RESPONSES_BASE_URL"),
      .keyless = true,
      .quirks = RESPONSES_NO_INCLUDE | RESPONSES_CHAT_FORMAT },
    { RESPONSES("lmstudio_responses", "http://localhost:1234/v1",
                "LMSTUDIO_RESPONSES_BASE_URL"),
      .keyless = true,
      .quirks = RESPONSES_NO_INCLUDE },
    { RESPONSES("ollama_responses", "http://localhost:11434/v1",
                "OLLAMA_RESPONSES_BASE_URL"),
      .keyless = true,
      .quirks = RESPONSES_NO_INCLUDE },
    { RESPONSES("vllm_responses", "http://localhost:8000/v1",
                "VLLM_RESPONSES_BASE_URL"),
      .keyless = true,
      .quirks = RESPONSES_NO_INCLUDE },

    { MESSAGES("anthropic", "https://api.anthropic.com/v1",
               "ANTHROPIC_BASE_URL"),
      .module = "Elixir.ALLM.Providers.Anthropic" },

    /* servers from above that also have the dialect anthropic */
    { MESSAGES("deepseek_anthropic", "https://api.deepseek.com/anthropic",
               "DEEPSEEK_ANTHROPIC_BASE_URL"),
      .key_env = "DEEPSEEK_API_KEY",
      .quirks = ANTHROPIC_UNSIGNED_THOUGHTS },
    { MESSAGES("minimax_anthropic", "https://api.minimax.io/anthropic",
               "MINIMAX_ANTHROPIC_BASE_URL"),
      .key_env = "MINIMAX_API_KEY",
      .quirks = ANTHROPIC_UNSIGNED_THOUGHTS },
    { MESSAGES("moonshot_anthropic", "https://api.moonshot.ai/anthropic",
               "MOONSHOT_ANTHROPIC_BASE_URL"),
      .key_env = "MOONSHOT_API_KEY",
      .quirks = ANTHROPIC_UNSIGNED_THOUGHTS },
    { MESSAGES("openrouter_anthropic", "https://openrouter.ai/api/v1",
               "OPENROUTER_ANTHROPIC_BASE_URL"),
      .key_env = "OPENROUTER_API_KEY",
      .auth_header = "authorization",
      .auth_prefix = "Bearer " },
    { MESSAGES("zai_anthropic", "https://api.z.ai/api/anthropic",
               "ZAI_ANTHROPIC_BASE_URL"),
      .key_env = "ZAI_API_KEY",
      .quirks = ANTHROPIC_UNSIGNED_THOUGHTS },
    { MESSAGES("llamacpp_anthropic", "http://localhost:8080/v1",
               "LLAMACPP_ANTHROPIC_BASE_URL"),
      .keyless = true,
      .schema_provider = "llamacpp",
      .quirks = ANTHROPIC_UNSIGNED_THOUGHTS },
    { MESSAGES("lmstudio_anthropic", "http://localhost:1234/v1",
               "LMSTUDIO_ANTHROPIC_BASE_URL"),
      .keyless = true,
      .quirks = ANTHROPIC_UNSIGNED_THOUGHTS },
    { MESSAGES("ollama_anthropic", "http://localhost:11434/v1",
               "OLLAMA_ANTHROPIC_BASE_URL"),
      .keyless = true,
      .schema_provider = "ollama",
      .quirks = ANTHROPIC_UNSIGNED_THOUGHTS },
    { MESSAGES("vllm_anthropic", "http://localhost:8000/v1",
               "VLLM_ANTHROPIC_BASE_URL"),
      .keyless = true,
      .quirks = ANTHROPIC_UNSIGNED_THOUGHTS },

    { CONTENT("gemini", GOOGLE_URL, "GEMINI_BASE_URL"),
      .module = "Elixir.ALLM.Providers.Gemini" },
    { CONTENT("google", GOOGLE_URL, "GOOGLE_BASE_URL") },

    /* .../v1/projects/P/locations/L/publishers/google, with an access token
     * that is valid for an hour after the login */
    { CONTENT("vertex", NULL, "VERTEX_BASE_URL"),
      .key_env = "VERTEX_ACCESS_TOKEN",
      .auth_header = "authorization",
      .auth_prefix = "Bearer " },
};

const struct registry_row *registry_find(struct slice name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_is(name, rows[i].name) ||
            (rows[i].module && slice_is(name, rows[i].module)))
            return &rows[i];
    return NULL;
}

bool registry_for(const struct registry_row *row, const char *model,
                  const char *api, struct registry_row *out)
{
    bool chat = row->adapter == &openai_chat_adapter;
    bool responses = row->adapter == &openai_responses_adapter;
    *out = *row;
    if (!api)
        api = !row->by_model                         ? NULL
              : model_rules(model) & MODEL_RESPONSES ? "responses"
                                                     : "chat";
    if (!api || (!chat && !responses) || (chat && !strcmp(api, "chat")) ||
        (responses && !strcmp(api, "responses")))
        return true;
    if (chat && !strcmp(api, "responses")) {
        out->adapter = &openai_responses_adapter;
        out->quirks = row->responses_quirks;
        return true;
    }
    if (chat || strcmp(api, "chat") != 0)
        return false;
    out->adapter = &openai_chat_adapter;
    out->quirks = row->quirks & RESPONSES_AZURE_PATHS ? CHAT_AZURE_PATHS : 0;
    return true;
}

const struct registry_row *registry_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}
