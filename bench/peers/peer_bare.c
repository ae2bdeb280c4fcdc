/*
 * peer_bare.c - the least that libcurl and yyjson can do; see client.h
 *
 * It finds the text of each event and nothing else: no errors, no limits, no
 * usage, no events.  The other clients are compared with it.
 */
#include "client.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <yyjson.h>

static const char *base;
static struct curl_slist *headers;

/* A transfer; the line buffer has the beginning of a line that was split. */
struct transfer {
    CURL *easy;
    char *line;
    size_t line_len, line_cap;
    size_t deltas;
    char call_id[32];
    char *text;
    size_t text_len, text_cap;
};

/* ------------------------------------------------------------- events --- */

static void keep(char **bytes, size_t *len, size_t *cap, const char *more,
                 size_t n)
{
    if (*cap - *len < n) {
        *cap = *cap * 2 + n;
        *bytes = realloc(*bytes, *cap);
        if (!*bytes)
            client_fail("memory");
    }
    if (n)
        memcpy(*bytes + *len, more, n);
    *len += n;
}

/* The text of a delta, or the arguments of its call. */
static yyjson_val *find_text(struct transfer *t, yyjson_val *delta)
{
    yyjson_val *text = yyjson_obj_get(delta, "content");
    if (yyjson_is_str(text))
        return text;
    yyjson_val *calls = yyjson_obj_get(delta, "tool_calls");
    yyjson_val *call = yyjson_arr_get_first(calls);
    const char *id = yyjson_get_str(yyjson_obj_get(call, "id"));
    if (id)
        snprintf(t->call_id, sizeof t->call_id, "%s", id);
    return yyjson_obj_get(yyjson_obj_get(call, "function"), "arguments");
}

static void take_event(struct transfer *t, const char *json, size_t len)
{
    static char pool[64 * 1024];
    yyjson_alc alc;
    yyjson_alc_pool_init(&alc, pool, sizeof pool);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)json, len, 0, &alc,
                                       NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *choice = yyjson_arr_get(yyjson_obj_get(root, "choices"), 0);
    yyjson_val *text = find_text(t, yyjson_obj_get(choice, "delta"));
    size_t n = yyjson_get_len(text);
    if (!n)
        return;
    keep(&t->text, &t->text_len, &t->text_cap, yyjson_get_str(text), n);
    t->deltas++;
}

static void take_line(struct transfer *t, const char *line, size_t len)
{
    if (len > 7 && !memcmp(line, "data: {", 7))
        take_event(t, line + 6, len - 6);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl's type */
static size_t on_bytes(char *bytes, size_t one, size_t n, void *ud)
{
    struct transfer *t = ud;
    size_t left = n;
    const char *at = bytes, *end;
    (void)one;
    while ((end = memchr(at, '\n', left))) {
        size_t len = (size_t)(end - at);
        if (t->line_len) {
            keep(&t->line, &t->line_len, &t->line_cap, at, len);
            take_line(t, t->line, t->line_len);
            t->line_len = 0;
        } else {
            take_line(t, at, len);
        }
        left -= len + 1;
        at = end + 1;
    }
    keep(&t->line, &t->line_len, &t->line_cap, at, left);
    return n;
}

/* ---------------------------------------------------------- transfers --- */

static const char short_body[] =
    "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\","
    "\"content\":\"hi\"}]}";

static struct transfer *transfer_new(const char *body)
{
    char url[256];
    struct transfer *t = calloc(1, sizeof *t);
    snprintf(url, sizeof url, "%s/v1/chat/completions", base);
    t->easy = curl_easy_init();
    curl_easy_setopt(t->easy, CURLOPT_URL, url);
    curl_easy_setopt(t->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
    if (getenv("SSL_CERT_FILE"))
        curl_easy_setopt(t->easy, CURLOPT_CAINFO, getenv("SSL_CERT_FILE"));
    return t;
}

static void transfer_free(struct transfer *t)
{
    curl_easy_cleanup(t->easy);
    free(t->line);
    free(t->text);
    free(t);
}

static size_t perform(struct transfer *t)
{
    t->line_len = t->deltas = t->text_len = 0;
    CURLcode status = curl_easy_perform(t->easy);
    if (status != CURLE_OK)
        client_fail(curl_easy_strerror(status));
    return t->deltas;
}

/* A request whose body is the JSON of a document. */
static size_t perform_json(struct transfer *t, yyjson_mut_doc *doc)
{
    size_t len;
    char *body = yyjson_mut_write(doc, 0, &len);
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE, (long)len);
    size_t n = perform(t);
    free(body);
    return n;
}

/* ---------------------------------------------------------- workloads --- */

static size_t run_plain(struct transfer *t, long n)
{
    size_t events = 0;
    for (long i = 0; i < n; i++)
        events += perform(t);
    return events;
}

static yyjson_mut_val *begin_body(yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "model", "m");
    yyjson_mut_obj_add_bool(doc, root, "stream", true);
    return yyjson_mut_obj_add_arr(doc, root, "messages");
}

static yyjson_mut_val *add_message(yyjson_mut_doc *doc, yyjson_mut_val *list,
                                   const char *role, const char *text)
{
    yyjson_mut_val *m = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, m, "role", role);
    yyjson_mut_obj_add_str(doc, m, "content", text);
    return m;
}

static size_t run_history(struct transfer *t, long n)
{
    size_t events = 0;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = begin_body(doc);
    for (int i = 0; i < HISTORY - 1; i++)
        add_message(doc, list, i % 2 ? "assistant" : "user", client_prose());
    for (long i = 0; i < n; i++) {
        add_message(doc, list, "user", client_prose());
        events += perform_json(t, doc);
    }
    yyjson_mut_doc_free(doc);
    return events;
}

/* The call that was received, and its result. */
static void add_call(yyjson_mut_doc *doc, yyjson_mut_val *list,
                     const struct transfer *t)
{
    yyjson_mut_val *m = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, m, "role", "assistant");
    yyjson_mut_val *calls = yyjson_mut_obj_add_arr(doc, m, "tool_calls");
    yyjson_mut_val *call = yyjson_mut_arr_add_obj(doc, calls);
    yyjson_mut_obj_add_strcpy(doc, call, "id", t->call_id);
    yyjson_mut_obj_add_str(doc, call, "type", "function");
    yyjson_mut_val *f = yyjson_mut_obj_add_obj(doc, call, "function");
    yyjson_mut_obj_add_str(doc, f, "name", "note");
    yyjson_mut_obj_add_strncpy(doc, f, "arguments", t->text, t->text_len);
    m = add_message(doc, list, "tool", "fine");
    yyjson_mut_obj_add_strcpy(doc, m, "tool_call_id", t->call_id);
}

static void add_tool(yyjson_mut_doc *doc)
{
    static const char tool[] =
        "[{\"type\":\"function\",\"function\":{\"name\":\"note\","
        "\"description\":\"keeps a note\",\"parameters\":{\"type\":\"object\","
        "\"properties\":{\"text\":{\"type\":\"string\"}}}}}]";
    yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), "tools",
                           yyjson_mut_raw(doc, tool));
}

static size_t run_tools(struct transfer *t, long n)
{
    size_t events = 0;
    for (long i = 0; i < n; i++) {
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *list = begin_body(doc);
        add_tool(doc);
        add_message(doc, list, "user", "hi");
        for (;;) {
            t->call_id[0] = '\0';
            events += perform_json(t, doc);
            if (!t->call_id[0])
                break;
            add_call(doc, list, t);
        }
        yyjson_mut_doc_free(doc);
    }
    return events;
}

/* The loop of libcurl's manual. */
static size_t run_paced(struct transfer *unused, long n)
{
    size_t events = 0;
    int running = 1;
    struct transfer **all = calloc((size_t)n, sizeof(*all));
    CURLM *multi = curl_multi_init();
    (void)unused;
    for (long i = 0; i < n; i++) {
        all[i] = transfer_new(short_body);
        curl_multi_add_handle(multi, all[i]->easy);
    }
    while (running) {
        curl_multi_perform(multi, &running);
        if (running)
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    for (long i = 0; i < n; i++) {
        events += all[i]->deltas;
        curl_multi_remove_handle(multi, all[i]->easy);
        transfer_free(all[i]);
    }
    curl_multi_cleanup(multi);
    free(all);
    return events;
}

/* Until every one of these transfers has its two deltas. */
static void await_deltas(CURLM *multi, struct transfer **all, long n)
{
    int running;
    while (n) {
        curl_multi_perform(multi, &running);
        while (n && all[n - 1]->deltas > 1)
            n--;
        if (n)
            curl_multi_poll(multi, NULL, 0, 100, NULL);
    }
}

static void run_hold(struct transfer *first, long n)
{
    enum { BATCH = 100 };       /* each look at them looks at all of them */
    struct transfer *batch[BATCH];
    CURLM *multi = curl_multi_init();
    long some;
    client_allow_files();
    curl_multi_add_handle(multi, first->easy);
    await_deltas(multi, &first, 1);
    client_meet("base");
    for (long i = 0; i < n; i += some) {
        some = n - i < BATCH ? n - i : BATCH;
        for (long k = 0; k < some; k++) {
            batch[k] = transfer_new(short_body);
            curl_multi_add_handle(multi, batch[k]->easy);
        }
        await_deltas(multi, batch, some);
    }
    client_meet("held");
    _Exit(0);
}

static const struct {
    const char *name;
    size_t (*run)(struct transfer *, long);
} workloads[] = {
    { "one", run_plain },       { "many", run_plain },   { "args", run_plain },
    { "history", run_history }, { "tools", run_tools },  { "paced", run_paced },
};

static int run(struct transfer *t, const char *name, long n)
{
    if (!strcmp(name, "hold"))
        run_hold(t, n);
    if (!strcmp(name, "start")) {
        perform(t);
        puts("first");
        return 0;
    }
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (strcmp(workloads[i].name, name) != 0)
            continue;
        workloads[i].run(t, n < 5 ? 1 : n / 5);
        int64_t began = client_cpu_us();
        client_report(workloads[i].run(t, n), began);
        return 0;
    }
    return 2;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    base = argv[2];
    curl_global_init(CURL_GLOBAL_DEFAULT);
    headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Authorization: Bearer k");
    struct transfer *t = transfer_new(short_body);
    int status = run(t, argv[1], strtol(argv[3], NULL, 10));
    transfer_free(t);
    curl_slist_free_all(headers);
    curl_global_cleanup();
    return status;
}
