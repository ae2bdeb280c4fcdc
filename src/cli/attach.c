/*
 * attach.c - what an attachment is, and the bytes at a URL
 *
 * The content says what it is, not the name.  For a URL, an adapter of our own
 * asks for it as if it were a model: so the client, its deadlines, TLS and
 * proxies are those of every call.
 */
#include "cli/attach.h"

#include "cli/print.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The first bytes of a format, and where they are. */
static const struct {
    const char *mime;
    size_t at;
    const char *bytes;
    size_t len;
} magics[] = {
    { "image/png", 0, "\x89PNG\r\n\x1a\n", 8 },
    { "image/jpeg", 0, "\xff\xd8\xff", 3 },
    { "image/gif", 0, "GIF8", 4 },
    { "image/webp", 8, "WEBP", 4 },
    { "application/pdf", 0, "%PDF-", 5 },
};

const char *attach_type(const char *bytes, size_t len)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (len >= magics[i].at + magics[i].len &&
            !memcmp(bytes + magics[i].at, magics[i].bytes, magics[i].len))
            return magics[i].mime;
    return NULL;
}

bool attach_is_url(const char *word)
{
    return !strncasecmp(word, "https://", 8) ||
           !strncasecmp(word, "http://", 7);
}

/* ---------------------------------------------------------------- URLs --- */

static char wanted[8192]; /* the URL, without its fragment */
static struct input *into;

static allm_status request_page(const allm_call *call, allm_http *http)
{
    (void)call;
    allm_http_method(http, "GET");
    allm_http_url(http, wanted);
    allm_http_header(http, "accept",
                     "image/"
                     "*");
    allm_http_header(http, "accept-encoding", "identity");
    return ALLM_OK;
}

static allm_status keep_body(void *state, const allm_call *call,
                             const allm_frame *frame, allm_sink *sink)
{
    static const allm_message done = { .size = sizeof done,
                                       .role = ALLM_ROLE_ASSISTANT,
                                       .text = "" };
    (void)state;
    (void)call;
    if (!input_append(into, frame->data, frame->data_len))
        return ALLM_ERR_NOMEM;
    return allm_sink_put(sink, ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED,
                                    .message = &done,
                                    .finish_reason = ALLM_FINISH_STOP));
}

static allm_status end_body(void *state, const allm_call *call, allm_sink *sink)
{
    (void)state;
    (void)call;
    allm_sink_end(sink);
    return ALLM_OK;
}

static const allm_adapter page = { .size = sizeof page,
                                   .name = "url",
                                   .state_size = 1,
                                   .framing = ALLM_FRAMING_WHOLE,
                                   .encode = request_page,
                                   .decode = keep_body,
                                   .finish = end_body };

/* The call's address is the server's: what follows is not to be changed. */
static allm_json *make_options(const char *url)
{
    size_t scheme = strcspn(url, ":") + 3;
    allm_json_build *b = member_new_object();
    member_text_n(b, "base_url", url, scheme + strcspn(url + scheme, "/?#"));
    return member_done(b);
}

/* Print why it could not be fetched, if it could not. */
static bool was_fetched(allm_stream *stream, const char *url)
{
    const allm_error *error = allm_stream_error(stream);
    if (!stream)
        return print_fault("out of memory");
    if (error && error->http_status.value / 100 == 3)
        return print_fault("%.500s leads to another address; attach that one",
                           url);
    return !error ||
           print_fault("cannot fetch %.500s: %.300s", url, error->message);
}

bool attach_fetch(struct input *in, const char *url, const allm_net_opts *net,
                  struct taps *taps)
{
    allm_net_opts own = *net;
    const char *host = url + strcspn(url, ":") + 3;
    if (memchr(host, '@', strcspn(host, "/?#")))
        return print_fault("a URL with a name or a password is not fetched");
    if (strcspn(url, "#") >= sizeof wanted)
        return print_fault("a URL may have %zu bytes", sizeof wanted - 1);
    snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(url, "#"), url);
    allm_json *options = make_options(url);
    allm_json *once = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    const allm_message *message = ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = "url");
    *in = (struct input){ 0 };
    into = in;
    own.public_only = !own.proxy || !*own.proxy;
    if (own.public_only)
        own.proxy = ""; /* behind one of the environment, nothing is checked */
    allm_engine_opts opts = { .size = sizeof opts,
                              .model = "url:any",
                              .adapter_table = &page,
                              .net = &own,
                              .retry = once };
    taps_apply(taps, &opts);
    allm_engine *engine = allm_engine_new(&opts);
    allm_stream *stream =
        allm_generate(engine,
                      ALLM(request, .message_count = 1, .messages = &message),
                      ALLM(call_opts, .json = options, .total_ms = 30000));
    allm_stream_wait(stream);
    bool ok = was_fetched(stream, url);
    allm_stream_free(stream);
    allm_engine_free(engine);
    allm_json_free(once);
    allm_json_free(options);
    return ok;
}
