/* play.c - play scripts of the fake provider, and write down the events */
#include "harness/play.h"

#include "harness/check.h"

#include <stdio.h>

allm_json *play_json(const char *text)
{
    char plain[65536];
    size_t n = 0;
    for (; text[n] && n + 1 < sizeof plain; n++)
        plain[n] = text[n] == '\'' ? '"' : text[n];
    plain[n] = '\0';
    allm_json *v = allm_json_parse(plain, n, NULL);
    CHECK(v && !allm_json_error(v));
    return v;
}

static int64_t manual_now(void *ud)
{
    return ((struct clock_manual *)ud)->now_ns;
}

static int64_t manual_unix(void *ud)
{
    return ((struct clock_manual *)ud)->unix_ms;
}

static bool manual_sleep(void *ud, int64_t ns)
{
    return clock_of_manual(ud).sleep_until(ud, ns);
}

allm_engine *play_engine_at(int port)
{
    return play_engine_with(port, ALLM(net_opts, .proxy = ""));
}

allm_engine *play_engine_with(int port, const allm_net_opts *net)
{
    char opts[128];
    snprintf(opts, sizeof opts, "{'base_url': 'http://127.0.0.1:%d/v1'}", port);
    allm_json *json = play_json(opts);
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "openai:m",
                                          .adapter_opts = json, .net = net));
    allm_json_free(json);
    return e;
}

allm_clock play_clock(struct clock_manual *clock)
{
    return (allm_clock){ sizeof(allm_clock), manual_now, manual_unix, clock,
                         manual_sleep };
}

allm_engine *play_engine(const char *opts, struct clock_manual *clock)
{
    allm_clock c = play_clock(clock);
    allm_json *v = play_json(opts);
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                          .adapter_opts = v,
                                          .clock = clock ? &c : NULL));
    CHECK(e && !allm_engine_error(e));
    allm_json_free(v);
    return e;
}

allm_stream *play_call_with(const allm_engine *e, const allm_call_opts *opts)
{
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    return allm_generate(e, ALLM(request, .message_count = 1, .messages = &hi),
                         opts);
}

allm_stream *play_call(const allm_engine *e)
{
    return play_call_with(e, NULL);
}

static const char *finish_word(allm_finish f)
{
    static const char *const words[] = { "null",  "stop",
                                         "length", "tool_calls",
                                         "content_filter", "error",
                                         "other" };
    return words[f];
}

static const char *json_word(const allm_json *v)
{
    static char word[256];
    allm_text *t = allm_json_write(v, 0);
    const char *bytes = allm_text_bytes(t, NULL);
    snprintf(word, sizeof word, "%s", bytes ? bytes : "?");
    allm_text_free(t);
    return word;
}

const char *play_word(const allm_event *e)
{
    static char word[1024];
#define SAY(...) snprintf(word, sizeof word, __VA_ARGS__)
    const char *text = e->text ? e->text : "?";
    switch (e->type) {
    case ALLM_EV_MESSAGE_STARTED:     SAY("started"); break;
    case ALLM_EV_TEXT_DELTA:          SAY("text:%s", text); break;
    case ALLM_EV_TEXT_COMPLETED:      SAY("text=%s", text); break;
    case ALLM_EV_TOOL_CALL_STARTED:   SAY("call:%s/%s", e->id, e->name); break;
    case ALLM_EV_TOOL_CALL_DELTA:     SAY("args:%s/%s", e->id, text); break;
    case ALLM_EV_REASONING_DELTA:     SAY("thinks:%s", text); break;
    case ALLM_EV_REASONING_COMPLETED: SAY("thought:%s", text); break;
    case ALLM_EV_RAW_CHUNK: SAY("chunk:%s", json_word(e->chunk)); break;
    case ALLM_EV_TOOL_CALL_COMPLETED:
        SAY("called:%s/%s/%s/%s", e->id, e->name, json_word(e->arguments),
            e->raw_arguments);
        break;
    case ALLM_EV_USAGE:
        SAY("usage:%d/%d", (int)e->usage->input_tokens.value,
            (int)e->usage->output_tokens.value);
        break;
    case ALLM_EV_ERROR:
        SAY("error:%s/%s", allm_status_name(e->error->kind), e->error->reason);
        break;
    case ALLM_EV_MESSAGE_COMPLETED:
        SAY("completed:%s/%s", e->message ? e->message->text : "?",
            finish_word(e->finish_reason));
        break;
    default: SAY("odd"); break;
    }
#undef SAY
    return word;
}

static void add(char *out, size_t size, const char *word)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s", n ? " " : "", word);
}

const char *play_all(allm_stream *s)
{
    static char out[8192];
    const allm_event *event = NULL;
    allm_status status;
    uint64_t seq = 0;
    out[0] = '\0';
    while ((status = allm_stream_next(s, &event)) == ALLM_EVENT) {
        CHECK_ALWAYS(event->seq == ++seq);
        add(out, sizeof out, play_word(event));
    }
    CHECK_ALWAYS(!event);
    const allm_error *e = allm_stream_error(s);
    add(out, sizeof out, status < 0 ? allm_status_name(status) : "ok");
    if (status < 0 && e)
        add(out, sizeof out, e->reason);
    return out;
}

const char *play_once(const char *opts)
{
    allm_engine *e = play_engine(opts, NULL);
    allm_stream *s = play_call(e);
    const char *told = play_all(s);
    allm_stream_free(s);
    allm_engine_free(e);
    return told;
}

const char *play_why(const allm_stream *s)
{
    const allm_error *e = allm_stream_error(s);
    return e ? e->message : "";
}
