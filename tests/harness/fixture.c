/* fixture.c - test dialects with folders of text files */
#include "harness/fixture.h"

#include "harness/check.h"
#include "harness/fixture_task.h"
#include "provider/decoder.h"
#include "provider/http.h"
#include "provider/registry.h"
#include "provider/tasks.h"
#include "json/json.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_LIMIT = 256 * 1024, PATH_LIMIT = 4096, MOST_FOLDERS = 1000 };

struct folder {
    char path[PATH_LIMIT];
    const allm_adapter *adapter;
};

static const char *path_of(const struct folder *f, const char *name)
{
    static char path[PATH_LIMIT + 64];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return path;
}

/* Read a file into `room`; ptr NULL: it does not exist. */
static struct slice load(const struct folder *f, const char *name, char *room)
{
    FILE *file = fopen(path_of(f, name), "rb");
    if (!file)
        return (struct slice){ NULL, 0 };
    size_t n = fread(room, 1, FILE_LIMIT - 1, file);
    fclose(file);
    room[n] = '\0';
    return (struct slice){ room, n };
}

static void store(const struct folder *f, const char *name, struct slice text)
{
    FILE *file = fopen(path_of(f, name), "wb");
    if (!CHECK_ALWAYS(file != NULL))
        return;
    fwrite(text.ptr, 1, text.len, file);
    fclose(file);
}

/* Is this the content of the file? */
static void expect(const struct folder *f, const char *name, struct slice got)
{
    static char room[FILE_LIMIT];
    const char *mode = getenv("ALLM_FIXTURES");
    if (mode && !strcmp(mode, "write") && check_whole())
        store(f, name, got);
    struct slice want = load(f, name, room);
    check_row(path_of(f, name));
    CHECK_SLICE(got, want);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every folder of a dialect whose name has this prefix, in order, up to the one
 * in which an allocation was made to fail. */
static void walk(const char *dialect, const allm_adapter *adapter,
                 const char *prefix, void (*each)(const struct folder *))
{
    static char root[PATH_LIMIT];
    static char *names[MOST_FOLDERS];
    size_t n = 0;
    const char *source = getenv("SOURCE_DIR");
    snprintf(root, sizeof root, "%s/tests/fixture/%s", source ? source : ".",
             dialect);
    DIR *dir = opendir(root);
    if (!CHECK_ALWAYS(dir != NULL))
        return;
    struct dirent *entry;
    while ((entry = readdir(dir)) && n < MOST_FOLDERS)
        if (entry->d_name[0] != '.' &&
            !strncmp(entry->d_name, prefix, strlen(prefix)))
            names[n++] = strdup(entry->d_name);
    closedir(dir);
    qsort(names, n, sizeof *names, by_name);
    CHECK_ALWAYS(n > 0);
    for (size_t i = 0; i < n; i++) {
        struct folder f = { .adapter = adapter };
        snprintf(f.path, sizeof f.path, "%.2000s/%.1000s", root, names[i]);
        check_row(f.path);
        if (check_whole())
            each(&f);
        free(names[i]);
    }
}

struct asked {
    allm_call call;
    allm_json *file;            /* call.json */
    allm_codec *request;
    allm_request blank;         /* of a task */
    struct fixture_task task;
};

static const char *text_at(const allm_json *v, const char *key,
                           const char *otherwise)
{
    const char *text = allm_json_text(allm_json_get(v, key), NULL);
    return text ? text : otherwise;
}

static int64_t never(void *ud)
{
    (void)ud;
    return 0;
}

static void ask(struct asked *a, const struct folder *f, struct slice request)
{
    if (!request.ptr)
        request = SLICE("{\"messages\": [{\"role\": \"user\", "
                        "\"content\": \"hi\"}]}");
    static char room[FILE_LIMIT];
    static const allm_clock clock = { .size = sizeof clock,
                                      .now_ns = never,
                                      .unix_ms = never };
    struct slice file = load(f, "call.json", room);
    a->file = allm_json_parse(file.ptr ? file.ptr : "{}",
                              file.ptr ? file.len : 2, NULL);
    CHECK(a->file && !allm_json_error(a->file));
    a->request = allm_codec_decode(request.ptr, request.len, "Request", NULL);
    CHECK(a->request && !allm_codec_error(a->request));
    const char *provider = text_at(a->file, "provider", f->adapter->name);
    const struct registry_row *row = registry_find(slice_of(provider));
    const allm_json *options = allm_json_get(a->file, "options");
    const allm_json *own = allm_json_get(a->file, "adapter_opts");
    a->call = (allm_call){
        .size = sizeof a->call,
        .request = allm_codec_value(a->request, ALLM_TYPE_REQUEST),
        .options = options ? options : json_empty_object(),
        .adapter_opts = own ? own : json_empty_object(),
        .provider = provider,
        .model = text_at(a->file, "model", "demo"),
        .base_url = text_at(a->file, "base_url",
                            row && row->base_url ? row->base_url
                                                 : "http://server/v1"),
        .quirks = row ? row->quirks : 0,
        .request_id = "fixture",
        .clock = &clock,
        .attempt = 1,
    };
    static char task[FILE_LIMIT];
    fixture_task_ask(&a->task, load(f, "task.json", task), &a->call, &a->blank);
    if (row && a->task.file)
        a->call.quirks = tasks_row(row, fixture_task_kind(&a->call)).quirks;
}

static void answer(struct asked *a)
{
    fixture_task_free(&a->task);
    allm_codec_free(a->request);
    allm_json_free(a->file);
}

struct play {
    struct arena events, life, log;
    struct allm_sink sink;
    struct decoding decoding;
    struct buf lines;
    allm_collector *collector;
    uint64_t seq;
    bool over;
};

static void tell(struct play *p, allm_event *event)
{
    size_t len = 0;
    event->seq = ++p->seq;
    allm_text *line = allm_event_json(event);
    const char *bytes = allm_text_bytes(line, &len);
    buf_add(&p->lines, (struct slice){ bytes, len });
    buf_byte(&p->lines, '\n');
    allm_text_free(line);
    allm_collector_add(p->collector, event);
}

/* Emit an error after an answer has begun. */
static void tell_failure(struct play *p)
{
    allm_event event = { .size = sizeof event,
                         .type = ALLM_EV_ERROR,
                         .error = p->sink.failure };
    CHECK(p->sink.failure != NULL);
    p->over = true;
    if (p->sink.failure)
        tell(p, &event);
}

static void take(struct play *p, allm_status status)
{
    allm_event *event;
    while ((event = sink_take(&p->sink)))
        tell(p, event);
    if (status < 0)
        tell_failure(p);
    p->over = p->over || p->sink.ended;
    arena_reset(&p->events);    /* borrowed events are now invalid */
}

static void feed(struct play *p, struct slice piece)
{
    bool content = false;
    while (piece.len && !p->over)
        take(p, decoder_feed(&p->decoding, &piece, &p->sink, &content));
}

static bool is_document(struct slice body)
{
    while (body.len && strchr(" \t\r\n", *body.ptr) && *body.ptr)
        body = slice_skip(body, 1);
    return body.len && (*body.ptr == '{' || *body.ptr == '[');
}

static void begin(struct play *p, const struct folder *f, const struct asked *a,
                  struct slice body)
{
    struct mem mem = mem_default();
    *p = (struct play){ .over = false };
    arena_init(&p->events, mem);
    arena_init(&p->life, mem);
    arena_init(&p->log, mem);
    buf_init(&p->lines, &p->log, FILE_LIMIT);
    sink_init(&p->sink, &p->events, &p->life);
    p->collector = allm_collector_new(NULL);
    decoder_init(&p->decoding, mem, f->adapter, &a->call,
                 arena_zero(&p->life, f->adapter->state_size),
                 f->adapter->framing == ALLM_FRAMING_SSE && is_document(body));
}

static void end(struct play *p)
{
    decoder_release(&p->decoding);
    allm_collector_free(p->collector);
    arena_release(&p->events);
    arena_release(&p->life);
    arena_release(&p->log);
}

/* Pieces of `step` bytes, the first one of `first`. */
static void run(struct play *p, struct slice body, size_t first, size_t step)
{
    allm_status status = ALLM_EVENT;
    size_t n = first;
    if (!p->decoding.state)
        return;
    while (body.len && !p->over) {
        n = n < body.len ? n : body.len;
        feed(p, (struct slice){ body.ptr, n });
        body = slice_skip(body, n);
        n = step;
    }
    while (status == ALLM_EVENT && !p->over) {
        status = decoder_end(&p->decoding, &p->sink);
        take(p, status);
    }
}

/* An answer with an error status. */
static void refuse(struct play *p, const struct folder *f,
                   const struct asked *a, const allm_json *head_file,
                   struct slice body)
{
    int64_t status = 0;
    allm_http_head head = { .size = sizeof head };
    allm_json_int64(allm_json_get(head_file, "status"), &status);
    head.status = (int32_t)status;
    f->adapter->explain(&a->call, &head, body.ptr, body.len, &p->sink);
    tell_failure(p);
}

static void check_response(const struct folder *f, const struct play *p)
{
    size_t len = 0;
    struct buf line;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&line, &a, FILE_LIMIT);
    allm_response *r = allm_collector_response(p->collector);
    allm_text *text = allm_response_json(r, ALLM_FORM_PLAIN);
    const char *bytes = allm_text_bytes(text, &len);
    buf_add(&line, (struct slice){ bytes, len });
    buf_byte(&line, '\n');
    expect(f, "response.json", buf_slice(&line));
    allm_text_free(text);
    allm_response_free(r);
    arena_release(&a);
}

static void check_cuts(const struct folder *f, const struct asked *a,
                       struct slice body, struct slice want)
{
    size_t jump = (1 + body.len / 1200) * check_stride();
    for (size_t cut = 0; cut < body.len; cut += jump) {
        struct play p;
        char row[PATH_LIMIT + 64];
        begin(&p, f, a, body);
        run(&p, body, cut ? cut : 1, cut ? body.len : 1);
        snprintf(row, sizeof row, "%s, cut at %zu (0: everywhere)", f->path,
                 cut);
        check_row(row);
        CHECK_SLICE(buf_slice(&p.lines), want);
        end(&p);
    }
}

static struct slice load_body(const struct folder *f, char *room)
{
    static const char *const names[] = { "wire-response.sse",
                                         "wire-response.ndjson",
                                         "wire-response.json" };
    struct slice body = { NULL, 0 };
    for (size_t i = 0; !body.ptr && i < sizeof names / sizeof *names; i++)
        body = load(f, names[i], room);
    return body;
}

static void decode_folder(const struct folder *f, bool cuts)
{
    static char room[FILE_LIMIT], head_room[FILE_LIMIT], asked[FILE_LIMIT];
    struct asked a;
    struct play p;
    struct slice body = load_body(f, room);
    struct slice head = load(f, "head.json", head_room);
    struct slice request = load(f, "request.json", asked);
    if (strstr(f->path, "/encode-") || !CHECK_ALWAYS(body.ptr != NULL))
        return;
    ask(&a, f, request);
    if (!CHECK(a.call.request != NULL)) {       /* out of memory */
        answer(&a);
        return;
    }
    begin(&p, f, &a, body);
    if (head.ptr) {
        allm_json *file = allm_json_parse(head.ptr, head.len, NULL);
        refuse(&p, f, &a, file, body);
        allm_json_free(file);
    } else {
        run(&p, body, body.len, body.len);
        check_response(f, &p);
    }
    expect(f, "events.jsonl", buf_slice(&p.lines));
    if (cuts && !head.ptr)
        check_cuts(f, &a, body, buf_slice(&p.lines));
    end(&p);
    answer(&a);
}

static void decode_with_cuts(const struct folder *f)
{
    decode_folder(f, true);
}

static void decode_once(const struct folder *f)
{
    decode_folder(f, false);
}

void fixture_decode_all(const char *dialect, const allm_adapter *adapter)
{
    walk(dialect, adapter, "", decode_with_cuts);
}

void fixture_decode_some(const char *dialect, const allm_adapter *adapter,
                         const char *prefix)
{
    walk(dialect, adapter, prefix, decode_once);
}

static void expect_error(const struct folder *f, const struct allm_sink *sink)
{
    size_t len = 0;
    allm_text *text = allm_error_json(sink->failure, ALLM_FORM_PLAIN);
    const char *bytes = allm_text_bytes(text, &len);
    expect(f, "error.json", (struct slice){ bytes, len });
    allm_text_free(text);
}

static void expect_head(const struct folder *f, const struct allm_http *h,
                        struct arena *a)
{
    struct buf text;
    static char room[FILE_LIMIT];
    if (!load(f, "head.txt", room).ptr)
        return;
    buf_init(&text, a, FILE_LIMIT);
    buf_format(&text, "%s %s\n", h->method, h->url);
    for (size_t i = 0; i < h->header_count; i++)
        buf_format(&text, "%s: %s\n", h->header[2 * i], h->header[2 * i + 1]);
    expect(f, "head.txt", buf_slice(&text));
}

static void encode_once(const struct folder *f, const struct asked *a)
{
    struct arena arena;
    struct allm_sink sink;
    struct allm_http http;
    allm_http_view view;
    arena_init(&arena, mem_default());
    sink_init(&sink, &arena, NULL);
    http_init(&http, &arena, &sink);
    if (a->call.request)
        f->adapter->encode(&a->call, &http);
    buf_byte(&http.body, '\n');
    if (sink.failure) {
        expect_error(f, &sink);
    } else if (a->call.request && http_view(&http, &view)) {
        expect(f, *view.body == '-' ? "body.form" : "body.json",
               (struct slice){ view.body, view.body_len });
        expect_head(f, &http, &arena);
    } else {
        CHECK(false);
    }
    arena_release(&arena);
}

static void encode_folder(const struct folder *f)
{
    static char room[FILE_LIMIT];
    struct asked a;
    struct slice request = load(f, "request.json", room);
    if (!CHECK_ALWAYS(request.ptr || load(f, "task.json", room).ptr))
        return;
    ask(&a, f, request);
    encode_once(f, &a);
    encode_once(f, &a);         /* from the form that the messages cache */
    answer(&a);
}

void fixture_encode_all(const char *dialect, const allm_adapter *adapter)
{
    walk(dialect, adapter, "encode-", encode_folder);
}

void fixture_encode_some(const char *dialect, const allm_adapter *adapter,
                         const char *prefix)
{
    walk(dialect, adapter, prefix, encode_folder);
}
