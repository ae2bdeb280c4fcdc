/*
 * test_roundtrip.c - what is written can be read again, for random values
 *
 * Documents of the Elixir library, documents by chance, and both of them
 * broken in every way that chance finds.
 */
#include "data/codec.h"
#include "data/decode.h"
#include "data/encode.h"
#include "documents.h"
#include "json/json.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "random_struct.h"

static const char *const registered[] = {
    "Message", "Tool", "ToolCall", "Request", "Response", "Thread", "Session",
    "StepResult", "ChatResult", "Usage", "Engine", "ModelRef",
    "Error.EngineError", "Error.AdapterError", "Error.StreamError",
    "Error.ValidationError", "Error.ToolError", "Error.SessionError",
    "Error.ImageAdapterError", "Image", "ImageRequest", "ImageResponse",
    "ImageUsage", "TextPart", "ImagePart",
};

/* --------------------------------------------------------------- checks --- */

/* The plain form, read as its type, is that form again. */
static void check_plain_again(const allm_codec *c, const char *type)
{
    allm_text *plain = allm_codec_json(c, ALLM_FORM_PLAIN);
    allm_codec *again = decode_slice(text_slice(plain), type);
    CHECK(!allm_codec_error(again));
    allm_text *text = allm_codec_json(again, ALLM_FORM_PLAIN);
    CHECK_SLICE(text_slice(text), text_slice(plain));
    allm_text_free(text);
    allm_codec_free(again);
    allm_text_free(plain);
}

/* What we wrote we read, and write again so. */
static void check_tagged_again(const allm_codec *c)
{
    allm_text *text = allm_codec_json(c, ALLM_FORM_TAGGED);
    allm_codec *again = decode_slice(text_slice(text), NULL);
    CHECK(!allm_codec_error(again));
    CHECK_INT(allm_codec_type(again), allm_codec_type(c));
    allm_text *twice = allm_codec_json(again, ALLM_FORM_TAGGED);
    CHECK_SLICE(text_slice(twice), text_slice(text));
    allm_text_free(twice);
    allm_codec_free(again);
    allm_text_free(text);
}

/* The tagged form says no less than the plain one. */
static void check_plain_by_way_of_tagged(const allm_codec *c)
{
    allm_text *plain = allm_codec_json(c, ALLM_FORM_PLAIN);
    allm_text *tagged = allm_codec_json(c, ALLM_FORM_TAGGED);
    allm_codec *again = decode_slice(text_slice(tagged), NULL);
    allm_text *text = allm_codec_json(again, ALLM_FORM_PLAIN);
    CHECK_SLICE(text_slice(text), text_slice(plain));
    allm_text_free(text);
    allm_codec_free(again);
    allm_text_free(tagged);
    allm_text_free(plain);
}

/* ----------------------------------------------------- Elixir documents --- */

static const char *folder(void)
{
    static char path[1024];
    const char *root = getenv("SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/data/elixir", root ? root : ".");
    return path;
}

/* The bytes of a file, to be freed; NULL if it cannot be read. */
static char *read_file(const char *name, size_t *len)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    FILE *file = fopen(path, "rb");
    char *bytes = file ? malloc(1 << 16) : NULL;
    *len = bytes ? fread(bytes, 1, 1 << 16, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

/* Everything in the document comes back, and nothing else; in what order does
 * not matter. */
static void check_same_document(const allm_codec *c, const allm_json *want)
{
    allm_text *text = allm_codec_json(c, ALLM_FORM_TAGGED);
    struct slice s = text_slice(text);
    allm_json *got = s.ptr ? allm_json_parse(s.ptr, s.len, NULL) : NULL;
    CHECK(allm_json_equal(got, want));
    allm_json_free(got);
    allm_text_free(text);
}

/* Which of the registered types it was. */
static size_t check_document(const char *name)
{
    size_t len, type = 0;
    char *bytes = read_file(name, &len);
    CHECK_ALWAYS(bytes != NULL);
    allm_json *v = bytes ? allm_json_parse(bytes, len, NULL) : NULL;
    allm_codec *c = bytes ? allm_codec_decode(bytes, len, NULL, NULL) : NULL;
    const char *tag = allm_json_text(allm_json_get(v, "__type__"), NULL);
    CHECK(!allm_codec_error(c));
    CHECK(allm_codec_type(c) != ALLM_TYPE_JSON);
    check_same_document(c, v);
    check_tagged_again(c);
    check_plain_again(c, tag);
    while (tag && type < COUNT(registered) &&
           strcmp(tag + 5, registered[type]) != 0)
        type++;
    allm_codec_free(c);
    allm_json_free(v);
    free(bytes);
    return type;
}

static void documents_of_elixir_load(void)
{
    bool seen[COUNT(registered) + 1] = { false };
    DIR *dir = opendir(folder());
    CHECK_ALWAYS(dir != NULL);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        check_row(entry->d_name);
        seen[check_document(entry->d_name)] = true;
    }
    if (dir)
        closedir(dir);
    CHECK_INT(COUNT(registered), 25);
    for (size_t i = 0; i < COUNT(registered); i++)
        CHECK_WHY(seen[i], registered[i]);
    CHECK(!seen[COUNT(registered)]);
}

static void large_documents_survive_lack_of_memory(void)
{
    check_document("chat_result.json");
    check_document("message_parts.json");
    check_document("session_error.json");
    check_document("engine.json");
}

/* -------------------------------------------------- documents by chance --- */

/* A struct that is not ours is copied before it is written. */
static void check_copy(const allm_codec *c, struct slice want)
{
    union {
        struct shape_head head;
        char bytes[1024];
        void *align;
    } mine;
    const struct shape *s;
    allm_type type = allm_codec_type(c);
    const void *value = allm_codec_value(c, type);
    allm_json *v = allm_json_parse(want.ptr, want.len, NULL);
    struct slice tag = json_slice(allm_json_get(v, "__type__"));
    s = codec_shape(tag, &type);
    if (value && s && type != ALLM_TYPE_THREAD && s->size <= sizeof mine) {
        memcpy(&mine, value, s->size);
        mine.head.home = NULL;
        allm_text *text = encode_to_text(s, &mine, ALLM_FORM_TAGGED);
        CHECK_SLICE(text_slice(text), want);
        allm_text_free(text);
    }
    allm_json_free(v);
}

static void check_random_document(struct random r, const char *type, bool plain)
{
    struct arena a;
    struct gen g;
    allm_type found;
    arena_init(&a, mem_default());
    gen_init(&g, &a, r, plain);
    gen_struct(&g, codec_shape(slice_of(type), &found));
    struct slice text = buf_slice(&g.out);
    allm_codec *c = decode_slice(text, plain ? type : NULL);
    CHECK(!allm_codec_error(c));
    allm_form form = plain ? ALLM_FORM_PLAIN : ALLM_FORM_TAGGED;
    allm_text *back = allm_codec_json(c, form);
    bool part = found == ALLM_TYPE_PART && plain;
    if (!part)                  /* which may come as its data, too */
        CHECK_SLICE(text_slice(back), text);
    check_tagged_again(c);
    check_plain_again(c, type);
    check_plain_by_way_of_tagged(c);
    if (!plain)
        check_copy(c, text);
    allm_text_free(back);
    allm_codec_free(c);
    arena_release(&a);
}

static void random_documents_come_back(void)
{
    struct random r = check_random();
    for (int round = 0; round < 60; round++) {
        for (size_t i = 0; i < COUNT(registered); i++) {
            check_row(registered[i]);
            check_random_document(r, registered[i], false);
            check_random_document(r, registered[i], true);
        }
    }
}

static void one_random_document_comes_back(void)
{
    struct random r = check_random();
    check_random_document(r, "ChatResult", false);
    check_random_document(r, "Request", true);
}

/* --------------------------------------------------------------- events --- */

/* The values of random events, which borrow them. */
struct supplies {
    allm_codec *message, *response, *chat, *usage, *error, *thread, *call;
};

static allm_codec *random_struct(struct arena *a, struct random r,
                                 const char *type)
{
    struct gen g;
    allm_type found;
    gen_init(&g, a, r, true);
    gen_struct(&g, codec_shape(slice_of(type), &found));
    return decode_slice(buf_slice(&g.out), type);
}

static struct supplies make_supplies(struct arena *a, struct random r)
{
    return (struct supplies){
        .message = random_struct(a, r, "Message"),
        .response = random_struct(a, r, "Response"),
        .chat = random_struct(a, r, "ChatResult"),
        .usage = random_struct(a, r, "Usage"),
        .error = random_struct(a, r, "Error.AdapterError"),
        .thread = random_struct(a, r, "Thread"),
        .call = random_struct(a, r, "ToolCall"),
    };
}

static void free_supplies(struct supplies *s)
{
    allm_codec_free(s->message);
    allm_codec_free(s->response);
    allm_codec_free(s->chat);
    allm_codec_free(s->usage);
    allm_codec_free(s->error);
    allm_codec_free(s->thread);
    allm_codec_free(s->call);
}

/* {"k": something} */
static const allm_json *random_map(struct arena *a, struct random r)
{
    struct build b;
    build_init(&b, a);
    build_object(&b);
    build_key(&b, SLICE("k"));
    build_value(&b, random_value(a, r, 5));
    build_end(&b);
    return build_done(&b);
}

static void check_random_event(struct random r, allm_event_type type)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct supplies s = make_supplies(&a, r);
    const allm_tool_call *call = allm_codec_value(s.call, ALLM_TYPE_TOOL_CALL);
    struct slice text = random_text(&a, r), raw = random_text(&a, r);
    const allm_message *message = allm_codec_value(s.message,
                                                   ALLM_TYPE_MESSAGE);
    allm_event *e = allm_event_new(
        ALLM(event, .type = type, .seq = random_below(r, UINT64_MAX),
             .cursor = random_below(r, 2) ? "1.2" : NULL,
             .record = random_below(r, UINT64_MAX), .keep = 3,
             .messages = &message, .message_count = message ? 1 : 0,
             .status = "idle", .finish_reason = (allm_finish)random_below(r, 7),
             .id = "\xC3\xA9", .name = "name", .text = text.ptr,
             .text_len = text.len, .raw_arguments = raw.ptr, .raw_len = raw.len,
             .reason = "why", .arguments = random_map(&a, r),
             .result = random_value(&a, r, 9), .opts = random_map(&a, r),
             .chunk = random_value(&a, r, 9),
             .metadata = random_below(r, 2) ? random_map(&a, r) : NULL,
             .provider_state = random_below(r, 2) ? random_map(&a, r) : NULL,
             .message = message,
             .response = allm_codec_value(s.response, ALLM_TYPE_RESPONSE),
             .thread = allm_codec_value(s.thread, ALLM_TYPE_THREAD),
             .mode = (allm_mode)random_below(r, 2),
             .manual_tool_call_count = call ? 1 : 0, .manual_tool_calls = &call,
             .chat_result = allm_codec_value(s.chat, ALLM_TYPE_CHAT_RESULT),
             .usage = allm_codec_value(s.usage, ALLM_TYPE_USAGE),
             .error = allm_codec_value(s.error, ALLM_TYPE_ERROR)));
    free_supplies(&s);
    CHECK(!allm_event_error(e));
    allm_text *once = allm_event_json(e);
    struct slice json = text_slice(once);
    allm_event *again = json.ptr ? allm_event_parse(json.ptr, json.len) : NULL;
    CHECK(!allm_event_error(again));
    allm_text *twice = allm_event_json(again);
    CHECK_SLICE(text_slice(twice), json);
    allm_text_free(twice);
    allm_event_free(again);
    allm_text_free(once);
    allm_event_free(e);
    arena_release(&a);
}

static void random_events_come_back(void)
{
    struct random r = check_random();
    for (int round = 0; round < 60; round++) {
        for (int type = 1; type <= ALLM_EV_SESSION_CHANGED; type++) {
            check_row(allm_event_tag((allm_event_type)type));
            check_random_event(r, (allm_event_type)type);
        }
    }
}

static void one_random_event_comes_back(void)
{
    struct random r = check_random();
    check_random_event(r, ALLM_EV_STEP_COMPLETED);
    check_random_event(r, ALLM_EV_USAGE);
}

/* --------------------------------------------------------------- broken --- */

static void check_is_json(struct slice text)
{
    allm_json *v = text.ptr ? allm_json_parse(text.ptr, text.len, NULL) : NULL;
    CHECK(!allm_json_error(v));
    allm_json_free(v);
}

/* It is read, or rejected with a reason; if it is read, it can be written. */
static void check_survives(struct slice text, const char *as)
{
    allm_codec *c = decode_slice(text, as);
    const allm_error *e = allm_codec_error(c);
    if (e && check_whole()) {
        CHECK_INT(e->kind, ALLM_ERR_VALIDATION);
        CHECK_TEXT(e->reason, "invalid_request");
        CHECK(allm_json_count(e->errors) == 1);
        CHECK(e->message && *e->message);
    } else if (!e) {
        check_tagged_again(c);
        /* what was somebody else's loses its tag there: no more is promised
         * than that it is JSON */
        allm_text *plain = allm_codec_json(c, ALLM_FORM_PLAIN);
        check_is_json(text_slice(plain));
        allm_text_free(plain);
    }
    allm_codec_free(c);
}

static void every_cut_is_refused(void)
{
    static const char *const names[] = { "request.json", "message_parts.json",
                                         "session_error.json" };
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t len;
        char *bytes = read_file(names[i], &len);
        CHECK_ALWAYS(bytes != NULL);
        check_row(names[i]);
        while (len && bytes[len - 1] != '}')
            len--;
        for (size_t cut = 1; bytes && cut < len; cut++) {
            /* a separate block, so that reading too far is detected */
            char *piece = malloc(cut);
            CHECK_ALWAYS(piece != NULL);
            memcpy(piece, bytes, cut);
            allm_codec *c = allm_codec_decode(piece, cut, NULL, NULL);
            check_refused(c, "[[\"json\",\"malformed\"]]");
            allm_codec_free(c);
            free(piece);
        }
        free(bytes);
    }
}

/* Write v with changes: other values, members left out, keys renamed. */
static void write_changed(struct gen *g, const allm_json *v, uint64_t one_in)
{
    static const char *const odd[] = {
        "null", "true", "0", "-1", "1.5", "18446744073709551616", "\"\"",
        "\"user\"", "\"error\"", "\"\\u0000\"", "[]", "{}", "[[]]",
        "{\"__type__\":\"ALLM.Usage\",\"data\":{}}",
        "{\"__type__\":\"ALLM.Message\",\"data\":{\"role\":\"tool\"}}",
        "{\"__type__\":\"ALLM.Message\",\"data\":[]}",
        "{\"__type__\":\"X\",\"data\":{}}", "{\"__type__\":1}",
        "{\"type\":\"text\",\"text\":\"x\"}",
        "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"value\":\"x\"}}",
        "{\"kind\":\"tool\",\"reason\":\"r\"}",
        "{\"id\":\"i\",\"name\":\"n\"}",
    };
    static const char *const keys[] = { "kind", "type", "__type__", "data",
                                        "error", "metadata", "content",
                                        "text", "seq", "" };
    allm_json_type type = allm_json_type_of(v);
    bool object = type == ALLM_JSON_OBJECT;
    if (chance(g, one_in)) {
        emit_raw(&g->emit, slice_of(odd[below(g, COUNT(odd))]));
        return;
    }
    if (!object && type != ALLM_JSON_ARRAY) {
        emit_value(&g->emit, v);
        return;
    }
    emit_open(&g->emit, object ? '{' : '[');
    for (const allm_json *k = NULL; (k = allm_json_next(v, k));) {
        if (chance(g, one_in))
            continue;
        const char *renamed = keys[below(g, COUNT(keys))];
        bool rename = chance(g, one_in) && !allm_json_get(v, renamed);
        if (object)
            emit_key(&g->emit, rename ? slice_of(renamed) : json_slice(k));
        write_changed(g, object ? allm_json_value(k) : k, one_in);
    }
    emit_close(&g->emit, object ? '}' : ']');
}

static void check_changed(struct random r, const char *type, bool plain)
{
    struct arena a;
    struct gen g, changed;
    allm_type found;
    arena_init(&a, mem_default());
    gen_init(&g, &a, r, plain);
    gen_struct(&g, codec_shape(slice_of(type), &found));
    struct slice text = buf_slice(&g.out);
    allm_json *v = allm_json_parse(
        text.ptr, text.len, ALLM(json_opts, .flags = ALLM_JSON_DUPLICATES));
    gen_init(&changed, &a, r, plain);
    write_changed(&changed, v, 20);
    check_survives(buf_slice(&changed.out), type);
    allm_json_free(v);
    arena_release(&a);
}

static void changed_documents_are_read_or_refused(void)
{
    struct random r = check_random();
    for (int round = 0; round < 60; round++) {
        for (size_t i = 0; i < COUNT(registered); i++) {
            check_row(registered[i]);
            check_changed(r, registered[i], false);
            check_changed(r, registered[i], true);
        }
    }
}

static void flip_bytes(struct random r, char *bytes, size_t len)
{
    static const char favourites[] = "{}[]\",:\\0123456789eE+-.tfnu \0\xFF";
    for (uint64_t n = 1 + random_below(r, 3); n > 0; n--) {
        size_t at = (size_t)random_below(r, len);
        bytes[at] = random_below(r, 2)
                        ? favourites[random_below(r, sizeof favourites - 1)]
                        : (char)random_below(r, 256);
    }
}

static void flipped_bytes_are_read_or_refused(void)
{
    static const char *const names[] = { "chat_result.json", "request.json",
                                         "message_parts.json", "image.json" };
    struct random r = check_random();
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t len;
        char *bytes = read_file(names[i], &len);
        CHECK_ALWAYS(bytes != NULL);
        char *piece = malloc(len + 1);
        CHECK_ALWAYS(piece != NULL);
        check_row(names[i]);
        for (int round = 0; bytes && round < 400; round++) {
            memcpy(piece, bytes, len);
            flip_bytes(r, piece, len);
            check_survives((struct slice){ piece, len }, "Message");
        }
        free(piece);
        free(bytes);
    }
}

TESTS = {
    TEST_ONCE(documents_of_elixir_load),
    TEST(large_documents_survive_lack_of_memory),
    TEST_ONCE(random_documents_come_back),
    TEST(one_random_document_comes_back),
    TEST_ONCE(random_events_come_back),
    TEST(one_random_event_comes_back),
    TEST_ONCE(every_cut_is_refused),
    TEST_ONCE(changed_documents_are_read_or_refused),
    TEST_ONCE(flipped_bytes_are_read_or_refused),
    TESTS_END,
};
