/*
 * across.h - what each of the five dialects answers in the same conversation
 *
 * A thought with what only its own model can read, a text and two calls at
 * once.  WORD of what may go to nobody else: "OWN-" and the dialect.
 */
#pragma once

#include "harness/canned.h"

struct across {
    const char *dialect, *model;
    const char *sibling;        /* another model of the same provider */
    const char *answer;         /* thought, "Said.", tide_at, wind_at */
    const char *thought;        /* the same, but a thought is all there is */
    const char *own;            /* a word that only this one may see again */
    const char *list;           /* how the messages begin in a body */
};

#define FRAME(json) "data: " json "\n\n"

#define CHAT_DELTA(delta) \
    FRAME("{\"choices\":[{\"index\":0,\"delta\":{" delta "}}]}")
#define CHAT_CALL(index, id, name, args) \
    CHAT_DELTA("\"tool_calls\":[{\"index\":" index ",\"id\":\"" id \
               "\",\"type\":\"function\",\"function\":{\"name\":\"" name \
               "\",\"arguments\":\"" args "\"}}]")
#define CHAT_THOUGHT \
    CHAT_DELTA("\"reasoning\":\"OWN-chat\",\"reasoning_details\":[{\"type\":" \
               "\"reasoning.text\",\"text\":\"OWN-chat\",\"signature\":" \
               "\"OWN-chat\",\"index\":0}]")
#define CHAT_END(reason) \
    FRAME("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" \
          reason "\"}]}") "data: [DONE]\n\n"

#define ITEM(index, json) \
    FRAME("{\"type\":\"response.output_item.done\",\"output_index\":" index \
          ",\"item\":{" json "}}")
#define ITEM_CALL(index, id, name, args) \
    ITEM(index, "\"type\":\"function_call\",\"id\":\"OWN-responses-" id \
                "\",\"call_id\":\"" id "\",\"name\":\"" name \
                "\",\"arguments\":\"" args "\"")
#define ITEM_THOUGHT \
    ITEM("0", "\"type\":\"reasoning\",\"id\":\"OWN-responses\",\"summary\":" \
              "[{\"type\":\"summary_text\",\"text\":\"OWN-responses\"}]," \
              "\"encrypted_content\":\"OWN-responses\"")
#define RESPONSE_END \
    FRAME("{\"type\":\"response.completed\",\"response\":{\"status\":" \
          "\"completed\"}}")

#define BLOCK(index, block, delta) \
    FRAME("{\"type\":\"content_block_start\",\"index\":" index \
          ",\"content_block\":{" block "}}") \
    FRAME("{\"type\":\"content_block_delta\",\"index\":" index \
          ",\"delta\":{" delta "}}") \
    FRAME("{\"type\":\"content_block_stop\",\"index\":" index "}")
#define CLAUDE_START \
    FRAME("{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\"," \
          "\"role\":\"assistant\",\"content\":[]}}")
#define CLAUDE_THOUGHT \
    BLOCK("0", "\"type\":\"thinking\",\"thinking\":\"OWN-anthropic\"," \
               "\"signature\":\"\"", \
          "\"type\":\"signature_delta\",\"signature\":\"OWN-anthropic\"") \
    FRAME("{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{" \
          "\"type\":\"redacted_thinking\",\"data\":\"OWN-anthropic\"}}") \
    FRAME("{\"type\":\"content_block_stop\",\"index\":1}")
#define CLAUDE_CALL(index, id, name, args) \
    BLOCK(index, "\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name \
                 "\",\"input\":{}", \
          "\"type\":\"input_json_delta\",\"partial_json\":\"" args "\"")
#define CLAUDE_END(reason) \
    FRAME("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason \
          "\"}}") FRAME("{\"type\":\"message_stop\"}")

#define GEMINI(parts, more) \
    FRAME("{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" \
          parts "]}" more "}]}")
#define GEMINI_THOUGHT \
    "{\"text\":\"OWN-gemini\",\"thought\":true," \
    "\"thoughtSignature\":\"OWN-gemini\"}"
#define GEMINI_CALLS \
    "{\"functionCall\":{\"id\":\"g_call_1\",\"name\":\"tide_at\"," \
    "\"args\":{\"port\":\"Brest\"}},\"thoughtSignature\":\"OWN-gemini\"}," \
    "{\"functionCall\":{\"id\":\"g_call_2\",\"name\":\"wind_at\"," \
    "\"args\":{\"port\":\"Oban\",\"n\":1.50}}}"
#define GEMINI_END ",\"finishReason\":\"STOP\""

#define OLLAMA(message, done) \
    "{\"message\":{\"role\":\"assistant\"," message "},\"done\":" done "}\n"
#define OLLAMA_CALLS \
    "\"tool_calls\":[{\"function\":{\"name\":\"tide_at\",\"arguments\":" \
    "{\"port\":\"Brest\"}}},{\"function\":{\"name\":\"wind_at\"," \
    "\"arguments\":{\"port\":\"Oban\",\"n\":1.50}}}]"

#define BREST "{\\\"port\\\":\\\"Brest\\\"}"
#define OBAN  "{\\\"port\\\":\\\"Oban\\\",\\\"n\\\":1.50}"

static const struct across across[] = {
    { "openai_chat", "openrouter:demo", "openrouter:other",
      CHAT_THOUGHT CHAT_DELTA("\"content\":\"Said.\"")
      CHAT_CALL("0", "call|odd:1", "tide_at", BREST)
      CHAT_CALL("1", "call|odd:2", "wind_at", OBAN) CHAT_END("tool_calls"),
      CHAT_THOUGHT CHAT_END("length"), "OWN-chat", "\"messages\":[" },
    { "openai_responses", "openai:gpt-5", "openai:gpt-5-mini",
      ITEM_THOUGHT
      ITEM("1", "\"type\":\"message\",\"id\":\"OWN-responses-msg\",\"content\":"
                "[{\"type\":\"output_text\",\"text\":\"Said.\"}]")
      ITEM_CALL("2", "call_1", "tide_at", BREST)
      ITEM_CALL("3", "call_2", "wind_at", OBAN) RESPONSE_END,
      ITEM_THOUGHT RESPONSE_END, "OWN-responses", "\"input\":[" },
    { "anthropic", "anthropic:claude-opus-4-1", "anthropic:claude-opus-4-5",
      CLAUDE_START CLAUDE_THOUGHT
      BLOCK("2", "\"type\":\"text\",\"text\":\"\"",
            "\"type\":\"text_delta\",\"text\":\"Said.\"")
      CLAUDE_CALL("3", "toolu_1", "tide_at", BREST)
      CLAUDE_CALL("4", "toolu_2", "wind_at", OBAN) CLAUDE_END("tool_use"),
      CLAUDE_START CLAUDE_THOUGHT CLAUDE_END("max_tokens"),
      "OWN-anthropic", "\"messages\":[" },
    { "gemini", "gemini:gemini-3-pro", "gemini:gemini-2.5-pro",
      GEMINI(GEMINI_THOUGHT ",{\"text\":\"Said.\"}", "")
      GEMINI(GEMINI_CALLS, GEMINI_END),
      GEMINI(GEMINI_THOUGHT, ",\"finishReason\":\"MAX_TOKENS\""),
      "OWN-gemini", "\"contents\":[" },
    { "ollama", "ollama:demo", "ollama:other",
      OLLAMA("\"content\":\"\",\"thinking\":\"OWN-ollama\"", "false")
      OLLAMA("\"content\":\"Said.\"", "false")
      OLLAMA("\"content\":\"\"," OLLAMA_CALLS, "false")
      OLLAMA("\"content\":\"\"", "true"),
      OLLAMA("\"content\":\"\",\"thinking\":\"OWN-ollama\"", "false")
      OLLAMA("\"content\":\"\"", "true"),
      "OWN-ollama", "\"messages\":[" },
};

enum { ACROSS = sizeof across / sizeof *across };
