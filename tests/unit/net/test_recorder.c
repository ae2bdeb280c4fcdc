/* test_recorder.c - what a recorder passes on, and what it records */
#include "allm.h"

#include "base/file.h"
#include "harness/check.h"
#include "harness/dialect.h"
#include "harness/drain.h"
#include "harness/play.h"
#include "net/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEY "sesame/0123456789"

/* A recorder over a script, into no file. */
struct setting {
    struct clock_manual clock;
    struct scripted play;
    allm_transport script;
    allm_recorder *record;
};

static const allm_transport *set_up(struct setting *s, const char *path,
                                    const struct scripted_step *steps)
{
    s->clock = (struct clock_manual){ 1000000, 1700000000000 };
    s->play = (struct scripted){ .steps = steps, .clock = &s->clock };
    s->script = scripted_transport(&s->play);
    allm_clock clock = play_clock(&s->clock);
    s->record = allm_recorder_new(path, ALLM(recorder_opts, .clock = &clock,
                                             .transport = &s->script));
    CHECK(s->record && !allm_recorder_error(s->record));
    return allm_recorder_transport(s->record);
}

static void tear_down(struct setting *s)
{
    CHECK_ALWAYS(s->play.open_now == 0);
    allm_recorder_free(s->record);
}

/* What the recorder has; static, "" without memory. */
static const char *text_of(const allm_recorder *r)
{
    static char text[32768];
    allm_text *t = allm_recorder_text(r);
    const char *bytes = allm_text_error(t) ? NULL : allm_text_bytes(t, NULL);
    snprintf(text, sizeof text, "%s", bytes ? bytes : "");
    allm_text_free(t);
    return text;
}

/* ------------------------------------------------------------- the text --- */

static void writes_what_people_can_read(void)
{
    const struct scripted_step steps[] = {
        STEP_CONNECT(30), STEP_DELAY(10),
        STEP_HEADERS(200, "Content-Type", "text/plain", "set-cookie", "id=1"),
        STEP_BYTES("one\n"), STEP_DELAY(7), STEP_BYTES("\xc3"), STEP_BYTES(""),
        STEP_DELAY(2), STEP_END,
        STEP_REFUSE("network_error", "no route for " KEY), STEP_DONE
    };
    struct setting s;
    const allm_transport *t = set_up(&s, NULL, steps);
    const struct drain ask = { .key = KEY, .clock = &s.clock,
                               .body = "{\"say\": [\"" KEY "\"]}" };
    CHECK_TEXT(drain_all(t, &ask),
               "(connecting) +30 +10200 Content-Type=text/plain "
               "set-cookie=id=1 [one<0a>] +7 [<c3>] [] +2 ok");
    CHECK_TEXT(drain_all(t, &ask), "!network_error: no route for " KEY);
    CHECK_TEXT(text_of(s.record),
               "{\"allm_recording\": 1}\n"
               "{\n  \"request\": {\n    \"method\": \"POST\",\n"
               "    \"url\": \"https://a.example/x\",\n    \"headers\": [\n"
               "      \"content-type: application/json\"\n    ],\n"
               "    \"body\": {\n      \"say\": [\n        \"[REDACTED]\"\n"
               "      ]\n    }\n  }\n}\n"
               "{\"connect_ms\": 30}\n"
               "{\n  \"answer\": {\n    \"status\": 200,\n    \"headers\": [\n"
               "      \"content-type: text/plain\",\n"
               "      \"set-cookie: [REDACTED]\"\n    ]\n  }\n}\n"
               "{\"ms\": 40, \"text\": \"one\\n\"}\n"
               "{\"ms\": 7, \"base64\": \"ww==\"}\n"
               "{\"ms\": 0, \"text\": \"\"}\n"
               "{\"ms\": 2, \"end\": \"complete\"}\n"
               "{\n  \"request\": {\n    \"method\": \"POST\",\n"
               "    \"url\": \"https://a.example/x\",\n    \"headers\": [\n"
               "      \"content-type: application/json\"\n    ],\n"
               "    \"body\": {\n      \"say\": [\n        \"[REDACTED]\"\n"
               "      ]\n    }\n  }\n}\n"
               "{\"refused\": {\"kind\": \"adapter\", \"reason\": "
               "\"network_error\", \"message\": \"no route for "
               "[REDACTED]\"}}\n");
    tear_down(&s);
}

/* Wherever the network cuts it, the key is gone and the rest is there. */
static void a_key_that_is_cut_is_not_kept(void)
{
    static const char body[] = "a" KEY "b" KEY KEY "c sesame\\/0123456789";
    for (size_t cut = 1; cut < sizeof body; cut++) {
        const struct scripted_step steps[] = {
            STEP_HEAD(200), STEP_PIECES(body, cut), STEP_END, STEP_DONE
        };
        struct setting s;
        const allm_transport *t = set_up(&s, NULL, steps);
        const struct drain ask = { .key = KEY };
        drain_all(t, &ask);
        const char *text = text_of(s.record);
        CHECK_ALWAYS(!strstr(text, "0123456789"));
        size_t marks = 0;
        for (const char *p = text; (p = strstr(p, "[REDACTED]")); p++)
            marks++;
        CHECK_INT(marks, 4);
        tear_down(&s);
    }
}

static void looks_count_where_providers_complain(void)
{
    static const struct scripted_step steps[] = {
        STEP_HEAD(401), STEP_PIECES("bad key sk-abcdefgh!", 11), STEP_END,
        STEP_HEAD(200), STEP_BYTES("org-wide-rules"), STEP_END, STEP_DONE
    };
    struct setting s;
    const allm_transport *t = set_up(&s, NULL, steps);
    const struct drain ask = { .key = KEY };
    drain_all(t, &ask);
    drain_all(t, &ask);
    const char *text = text_of(s.record);
    CHECK(strstr(text, "\"bad key [REDACTED]\"") && strstr(text, "\"!\""));
    CHECK(strstr(text, "\"org-wide-rules\""));
    tear_down(&s);
}

/* ----------------------------------------------------------- and played --- */

static const struct {
    const char *why;
    struct scripted_step steps[8];
    size_t most;
} cases[] = {
    { "pieces", { STEP_HEAD(200), STEP_PIECES("abcdefg", 2), STEP_END }, 0 },
    { "times", { STEP_CONNECT(5), STEP_HEAD(200), STEP_BYTES("a"),
                 STEP_DELAY(9), STEP_BYTES("b"), STEP_DELAY(3), STEP_END }, 0 },
    { "headers", { STEP_HEADERS(204, "a", "b", "a", "c: d", "e", ""),
                   STEP_END }, 0 },
    { "an empty body", { STEP_HEAD(200), STEP_END }, 0 },
    { "empty pieces", { STEP_HEAD(200), STEP_BYTES(""), STEP_BYTES("x"),
                        STEP_BYTES(""), STEP_END }, 0 },
    { "bytes", { STEP_HEAD(200), STEP_PIECES("\0\xff\xc3\xa4\x7f\\\"", 3),
                 STEP_END }, 0 },
    { "no success", { STEP_HEAD(500), STEP_BYTES("{\"why\": 1}"), STEP_END },
      0 },
    { "refused", { STEP_REFUSE("network_error", "nobody there") }, 0 },
    { "broken before the answer", { STEP_DELAY(4),
      STEP_ERROR("timeout", "too late") }, 0 },
    { "broken in the middle", { STEP_HEAD(200), STEP_BYTES("ab"),
      STEP_DELAY(4), STEP_ERROR("network_error", "cut") }, 0 },
    { "silence at once", { STEP_STAY }, 0 },
    { "silence later", { STEP_HEAD(200), STEP_BYTES("ab"), STEP_STAY }, 0 },
    { "never connected", { STEP_CONNECT(-1), STEP_END }, 0 },
    { "enough", { STEP_HEAD(200), STEP_PIECES("abcdefg", 2), STEP_END }, 2 },
};

/* Played by the clock, everything is as it was; else but for the times. */
static void what_was_recorded_is_played(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char real[1024], text[4096];
        struct setting s;
        check_row(cases[i].why);
        const allm_transport *t = set_up(&s, NULL, cases[i].steps);
        struct drain ask = { .clock = &s.clock, .most = cases[i].most };
        snprintf(real, sizeof real, "%s", drain_all(t, &ask));
        snprintf(text, sizeof text, "%s", text_of(s.record));
        allm_clock clock = play_clock(&s.clock);
        allm_player *p = allm_player_new(
            NULL, ALLM(player_opts, .text = text, .clock = &clock,
                       .flags = ALLM_PLAYER_TIMED));
        CHECK_INT(allm_player_left(p), 1);
        CHECK_TEXT(drain_all(allm_player_transport(p), &ask), real);
        CHECK_INT(allm_player_left(p), 0);
        allm_player_free(p);
        tear_down(&s);
    }
}

/* Record what is played and it is the same recording. */
static void a_recording_of_a_replay_is_the_same(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        struct setting s;
        check_row(cases[i].why);
        const allm_transport *t = set_up(&s, NULL, cases[i].steps);
        struct drain ask = { .clock = &s.clock, .most = cases[i].most };
        drain_all(t, &ask);
        snprintf(text, sizeof text, "%s", text_of(s.record));
        allm_clock clock = play_clock(&s.clock);
        allm_player *p = allm_player_new(
            NULL, ALLM(player_opts, .text = text, .clock = &clock,
                       .flags = ALLM_PLAYER_TIMED));
        allm_recorder *again = allm_recorder_new(
            NULL, ALLM(recorder_opts, .clock = &clock,
                       .transport = allm_player_transport(p)));
        drain_all(allm_recorder_transport(again), &ask);
        CHECK_TEXT(text_of(again), text);
        allm_recorder_free(again);
        allm_player_free(p);
        tear_down(&s);
    }
}

/* -------------------------------------------------------------- engines --- */

static allm_engine *engine_over(const allm_transport *t,
                                struct clock_manual *manual,
                                const allm_adapter *adapter)
{
    allm_clock clock = play_clock(manual);
    return allm_engine_new(ALLM(engine_opts, .model = "test:m",
                                .adapter_table = adapter, .transport = t,
                                .clock = &clock));
}

static void play_into(char *out, size_t size, const allm_transport *t,
                      struct clock_manual *manual, const allm_adapter *adapter)
{
    allm_engine *e = engine_over(t, manual, adapter);
    allm_stream *s = play_call(e);
    snprintf(out, size, "%s | %s", play_all(s), play_why(s));
    allm_stream_free(s);
    allm_engine_free(e);
}

/* Play a script by an engine, then its recording: the same events. */
static void compare_events(const struct scripted_step *steps,
                           const allm_adapter *adapter)
{
    char real[8192], again[8192];
    struct setting s;
    const allm_transport *t = set_up(&s, NULL, steps);
    play_into(real, sizeof real, t, &s.clock, adapter);
    const char *text = text_of(s.record);
    allm_clock clock = play_clock(&s.clock);
    for (uint32_t flags = 0; flags < 4; flags++) {
        allm_player *p = allm_player_new(NULL,
                                         ALLM(player_opts, .text = text,
                                              .clock = &clock, .flags = flags));
        play_into(again, sizeof again, allm_player_transport(p), &s.clock,
                  adapter);
        CHECK_TEXT(again, real);
        CHECK_INT(allm_player_left(p), 0);
        allm_player_free(p);
    }
    tear_down(&s);
}

#define A    "data: {\"text\": \"a\"}\n\n"
#define STOP "data: {\"finish\": \"stop\"}\n\n"

static void engines_tell_the_same(void)
{
    static const struct {
        const char *why;
        struct scripted_step steps[12];
    } rows[] = {
        { "all is well", { STEP_HEAD(200), STEP_PIECES(A STOP, 5), STEP_END } },
        { "the protocol's end",
          { STEP_HEAD(200), STEP_BYTES(A "data: end\n\n"), STEP_STAY } },
        { "no end after all",
          { STEP_HEAD(200), STEP_BYTES(A STOP), STEP_STAY } },
        { "cut",
          { STEP_HEAD(200), STEP_BYTES(A),
            STEP_ERROR("network_error", "reset") } },
        { "stops early", { STEP_HEAD(200), STEP_BYTES(A), STEP_END } },
        { "silence", { STEP_HEAD(200), STEP_BYTES(A), STEP_STAY } },
        { "refused",
          { STEP_HEAD(400), STEP_BYTES("{\"why\": \"no\"}"), STEP_END } },
        { "nobody", { STEP_HEAD(401), STEP_END } },
        { "tried again",
          { STEP_REFUSE("network_error", "no"), STEP_HEAD(503),
            STEP_BYTES("later"), STEP_END, STEP_HEAD(200), STEP_BYTES(A STOP),
            STEP_END } },
        { "tried again in vain",
          { STEP_CONNECT(-1), STEP_STAY, STEP_CONNECT(-1), STEP_STAY,
            STEP_CONNECT(-1), STEP_STAY } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        compare_events(rows[i].steps, &dialect_sse);
    }
}

static void any_cuts_give_the_same_events(void)
{
    static const char *const files[] = { "feed/talk.sse", "feed/talk.ndjson",
                                         "feed/talk.json" };
    static const allm_adapter *const adapters[] = { &dialect_sse,
                                                    &dialect_ndjson,
                                                    &dialect_whole };
    struct random r = check_random();
    for (int n = 0; n < 200; n++) {
        size_t which = random_below(r, 3), places[24] = { 0 }, at = 0;
        for (size_t i = 0; i < 23; i++)
            places[i] = at += 1 + random_below(r, 25);
        struct scripted_step steps[] = {
            STEP_CONNECT(0), STEP_HEAD(200), STEP_DELAY(0),
            STEP_FILE(files[which], 0), STEP_DELAY(0), STEP_END, STEP_DONE
        };
        steps[0].ms = (int64_t)random_below(r, 50);
        steps[2].ms = (int64_t)random_below(r, 50);
        steps[3].places = places;
        compare_events(steps, adapters[which]);
    }
}

/* ---------------------------------------------------------------- files --- */

struct place {
    char folder[200], file[300];
};

static bool make_place(struct place *p)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%.150s/allm-test-XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(p->folder)) {
        check_skip("no temporary folder");
        return false;
    }
    snprintf(p->file, sizeof p->file, "%s/file", p->folder);
    return true;
}

static void clear_place(struct place *p)
{
    unlink(p->file);
    CHECK_ALWAYS(rmdir(p->folder) == 0);
}

static void files_are_written_continued_and_replaced(void)
{
    static const struct scripted_step steps[] = {
        STEP_HEAD(200), STEP_BYTES("one"), STEP_END,
        STEP_HEAD(200), STEP_BYTES("two"), STEP_END, STEP_DONE
    };
    const struct drain ask = { .url = NULL };
    struct place place;
    struct setting s;
    if (!make_place(&place))
        return;
    const allm_transport *t = set_up(&s, place.file, steps);
    drain_all(t, &ask);
    CHECK_INT(allm_recorder_flush(s.record), ALLM_OK);
    CHECK_ALWAYS(access(place.file, F_OK) == 0 || !check_whole());
    drain_all(t, &ask);
    tear_down(&s);              /* flushes */
    s.play.opens = 0;
    for (uint32_t flags = ALLM_RECORDER_APPEND;; flags = 0) {
        allm_recorder *r = allm_recorder_new(
            place.file,
            ALLM(recorder_opts, .transport = &s.script, .flags = flags));
        drain_all(allm_recorder_transport(r), &ask);
        CHECK_INT(allm_recorder_flush(r), ALLM_OK);
        allm_recorder_free(r);
        allm_player *p = allm_player_new(place.file, NULL);
        CHECK_INT(allm_player_left(p), flags ? 3 : 1);
        CHECK_TEXT(drain_all(allm_player_transport(p), &ask),
                   flags ? "200 [one] ok" : "200 [two] ok");
        allm_player_free(p);
        if (!flags)
            break;
    }
    clear_place(&place);
}

static void an_exchange_that_is_open_is_left_out(void)
{
    static const struct scripted_step steps[] = { STEP_STAY, STEP_HEAD(200),
                                                  STEP_END, STEP_DONE };
    const struct drain ask = { .url = "https://second" };
    const allm_error *why;
    struct setting s;
    const allm_transport *t = set_up(&s, NULL, steps);
    const allm_http_view view = { .size = sizeof view, .method = "GET",
                                  .url = "https://first" };
    allm_exchange *x = t ? t->open(t->self, &view, NULL, &why) : NULL;
    drain_all(t, &ask);
    const char *text = text_of(s.record);
    CHECK(!strstr(text, "first") && strstr(text, "second"));
    if (x)
        t->close(t->self, x);
    text = text_of(s.record);
    const char *first = strstr(text, "first");
    CHECK(first && strstr(first, "second"));    /* in the order of opening */
    tear_down(&s);
}

static void what_cannot_be_recorded_is_refused(void)
{
    const struct drain ask = { .url = NULL };
    allm_transport bare = { .size = sizeof bare };
    allm_recorder *r = allm_recorder_new(NULL, NULL);
    const char *told = drain_all(allm_recorder_transport(r), &ask);
    CHECK(strstr(told, "!invalid_engine: no transport"));   /* no waker */
    allm_recorder_free(r);

    r = allm_recorder_new(NULL, ALLM(recorder_opts, .transport = &bare));
    CHECK_TEXT(allm_recorder_error(r)->reason, "invalid_transport");
    allm_recorder_free(r);
    r = allm_recorder_new(NULL, ALLM(recorder_opts, .flags = 8));
    CHECK_TEXT(allm_recorder_error(r)->reason, "invalid_options");
    allm_recorder_free(r);
    r = allm_recorder_new(NULL, &(allm_recorder_opts){ .flags = 1 });
    CHECK_TEXT(allm_recorder_error(r)->reason, "struct_size");
    allm_recorder_free(r);
}

static void file_errors_are_reported(void)
{
    struct place place;
    char inside[400];
    struct setting s;
    if (!make_place(&place))
        return;
    snprintf(inside, sizeof inside, "%s/none/file", place.folder);
    set_up(&s, inside, (const struct scripted_step[]){ STEP_DONE });
    CHECK_INT(allm_recorder_flush(s.record), ALLM_ERR_STORE);
    const allm_error *e = allm_recorder_error(s.record);
    CHECK(e && strstr(e->message,
                      "cannot be written (there is no such file or folder)"));
    tear_down(&s);
    allm_recorder *r = allm_recorder_new(
        place.folder, ALLM(recorder_opts, .transport = &s.script,
                           .flags = ALLM_RECORDER_APPEND));
    CHECK(strstr(allm_recorder_error(r)->message, "(it is a folder)"));
    allm_recorder_free(r);
    clear_place(&place);
}

/* A clock that goes back makes no recording that cannot be read. */
static void times_never_go_back(void)
{
    static const struct scripted_step steps[] = {
        STEP_HEAD(200), STEP_BYTES("a"), STEP_BYTES("b"), STEP_END, STEP_DONE
    };
    struct setting s;
    allm_chunk chunk = { .size = sizeof chunk };
    const allm_error *why;
    const allm_transport *t = set_up(&s, NULL, steps);
    const allm_http_view view = { .size = sizeof view, .url = "u" };
    allm_exchange *x = t->open(t->self, &view, NULL, &why);
    for (int64_t ms = 50; x && ms > -50; ms -= 25) {
        t->read(t->self, x, &chunk);
        s.clock.now_ns = 1000000 + ms * 1000000;
    }
    if (x)
        t->close(t->self, x);
    CHECK(strstr(text_of(s.record), "{\"ms\": 50, \"text\": \"b\"}\n"
                                    "{\"ms\": 0, \"end\": \"complete\"}"));
    tear_down(&s);
}

/* No line is longer in time than a recording may say. */
static void times_have_an_end(void)
{
    static const struct scripted_step steps[] = { STEP_HEAD(200),
                                                  STEP_BYTES("a"), STEP_DONE };
    char want[64];
    struct setting s;
    allm_chunk chunk = { .size = sizeof chunk };
    const allm_error *why;
    const allm_transport *t = set_up(&s, NULL, steps);
    const allm_http_view view = { .size = sizeof view, .url = "u" };
    allm_exchange *x = t->open(t->self, &view, NULL, &why);
    s.clock.now_ns = INT64_MAX / 2;
    if (x) {
        t->read(t->self, x, &chunk);
        t->close(t->self, x);
    }
    snprintf(want, sizeof want, "{\"ms\": %lld, \"text\": \"a\"}",
             (long long)RECORDING_LONGEST_MS);
    CHECK(strstr(text_of(s.record), want));
    tear_down(&s);
}

/* The last line of a file that was edited may have lost its end. */
static void a_line_without_its_end_is_continued(void)
{
    struct place place;
    struct arena a;
    allm_transport script = scripted_transport(NULL);
    if (!make_place(&place))
        return;
    arena_init(&a, mem_default());
    if (file_write(&a, place.file, SLICE("{\"allm_recording\": 1}")) == 0) {
        allm_recorder *r = allm_recorder_new(
            place.file, ALLM(recorder_opts, .transport = &script,
                             .flags = ALLM_RECORDER_APPEND));
        CHECK_TEXT(text_of(r), "{\"allm_recording\": 1}\n");
        allm_recorder_free(r);
    }
    arena_release(&a);
    clear_place(&place);
}

/* What is no recording is not overwritten by one that wants to go on. */
static void foreign_files_are_not_continued(void)
{
    struct place place;
    struct arena a;
    struct slice got = { NULL, 0 };
    allm_transport script = scripted_transport(NULL);
    if (!make_place(&place))
        return;
    arena_init(&a, mem_default());
    if (file_write(&a, place.file, SLICE("dear diary\n")) == 0) {
        allm_recorder *r = allm_recorder_new(
            place.file, ALLM(recorder_opts, .transport = &script,
                             .flags = ALLM_RECORDER_APPEND));
        CHECK(strstr(allm_recorder_error(r)->message, "line 1: an object is"));
        allm_recorder_free(r);
        if (file_read(&a, place.file, 100, &got) == 0)
            CHECK_ALWAYS(slice_is(got, "dear diary\n"));
    }
    arena_release(&a);
    clear_place(&place);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(allm_recorder_error(NULL)->kind == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(!allm_recorder_text(NULL));
    CHECK_ALWAYS(strstr(drain_all(allm_recorder_transport(NULL),
                                  &(struct drain){ .url = "u" }),
                        "memory"));
    CHECK_ALWAYS(allm_recorder_flush(NULL) == ALLM_ERR_NOMEM);
    allm_recorder_free(NULL);
}

TESTS = {
    TEST(writes_what_people_can_read),
    TEST_ONCE(a_key_that_is_cut_is_not_kept),
    TEST(looks_count_where_providers_complain),
    TEST(what_was_recorded_is_played),
    TEST_ONCE(a_recording_of_a_replay_is_the_same),
    TEST(engines_tell_the_same),
    TEST_ONCE(any_cuts_give_the_same_events),
    TEST(files_are_written_continued_and_replaced),
    TEST(an_exchange_that_is_open_is_left_out),
    TEST(what_cannot_be_recorded_is_refused),
    TEST(file_errors_are_reported),
    TEST(times_never_go_back),
    TEST(times_have_an_end),
    TEST(a_line_without_its_end_is_continued),
    TEST(foreign_files_are_not_continued),
    TEST(nothing_is_accepted),
    TESTS_END,
};
