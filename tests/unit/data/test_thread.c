/* test_thread.c - conversations that share their messages */
#include "data/thread.h"

#include "harness/noun.h"

#include <stdlib.h>

/* Is message i of the thread this text? */
static void check_at(const allm_thread *t, size_t i, const char *text)
{
    const allm_message *m = allm_thread_at(t, i);
    CHECK_TEXT(GET(m, text), text);
}

static allm_message *user(const char *text)
{
    return allm_message_from_text(ALLM_ROLE_USER, text);
}

/* --------------------------------------------------------------- making --- */

static void a_new_thread_is_empty(void)
{
    size_t n = 7;
    allm_thread *t = allm_thread_new(NULL);
    CHECK_WELL(allm_thread_error(t));
    CHECK_INT(allm_thread_count(t), 0);
    CHECK_ALWAYS(!allm_thread_last(t) && !allm_thread_at(t, 0));
    CHECK_ALWAYS(allm_thread_messages(t, &n) && n == 0);
    CHECK_VALUE(allm_thread_metadata(t), "{}");
    CHECK_JSON(allm_thread_json(t, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.Thread','data':{'messages':[],"
               "'metadata':{}}}");
    allm_thread_free(t);
}

static void has_metadata(void)
{
    allm_json *trace = noun_json("{'trace':'x'}"), *more = noun_json("{'n':1}");
    allm_thread *t = allm_thread_new(ALLM(thread_opts, .metadata = trace));
    CHECK_VALUE(allm_thread_metadata(t), "{'trace':'x'}");
    allm_thread *copy = allm_thread_copy(t);
    CHECK_INT(allm_thread_set_metadata(t, more), ALLM_OK);
    CHECK_VALUE(allm_thread_metadata(t), "{'n':1}");
    CHECK_VALUE(allm_thread_metadata(copy), "{'trace':'x'}");
    CHECK_INT(allm_thread_set_metadata(t, allm_thread_metadata(t)), ALLM_OK);
    CHECK_VALUE(allm_thread_metadata(t), "{'n':1}");
    CHECK_INT(allm_thread_set_metadata(t, NULL), ALLM_OK);
    CHECK_VALUE(allm_thread_metadata(t), "{}");
    allm_thread_free(t);
    allm_thread_free(copy);
    allm_json_free(trace);
    allm_json_free(more);
}

/* Refused, or no memory: then it is as it was. */
static void metadata_changes_wholly_or_not_at_all(void)
{
    allm_json *map = noun_json("{'a':1}"), *list = noun_json("[1]");
    allm_json *broken = allm_json_parse("{", 1, NULL);
    allm_thread *t = allm_thread_new(ALLM(thread_opts, .metadata = map));
    if (t && map && list && broken) {
        const allm_json *before = allm_thread_metadata(t);
        CHECK_ALWAYS(allm_json_count(before) == 1);
        CHECK_ALWAYS(allm_thread_set_metadata(t, list) == ALLM_ERR_MISUSE);
        CHECK_ALWAYS(allm_thread_set_metadata(t, broken) == ALLM_ERR_MISUSE);
        CHECK_ALWAYS(allm_thread_metadata(t) == before);
        bool set = allm_thread_set_metadata(t, NULL) == ALLM_OK;
        CHECK_ALWAYS(allm_json_count(allm_thread_metadata(t)) == !set);
        set = allm_thread_set_metadata(t, map) == ALLM_OK;
        CHECK_ALWAYS(allm_json_count(allm_thread_metadata(t)) == set);
    }
    allm_thread_free(t);
    allm_json_free(map);
    allm_json_free(list);
    allm_json_free(broken);
}

static void refused(const allm_thread_opts *opts, const char *reason,
                    const char *words)
{
    allm_thread *t = allm_thread_new(opts);
    allm_thread *copy = allm_thread_copy(t);
    allm_message *m = user("x");
    const allm_message *list[] = { m };
    CHECK_MISUSE(allm_thread_error(t), reason, words);
    CHECK_INT(allm_thread_add(t, ALLM_ROLE_USER, "x"), ALLM_ERR_MISUSE);
    CHECK_INT(allm_thread_append(t, m), ALLM_ERR_MISUSE);
    CHECK_INT(allm_thread_append_all(t, 1, list), ALLM_ERR_MISUSE);
    CHECK_INT(allm_thread_set_metadata(t, NULL), ALLM_ERR_MISUSE);
    CHECK_INT(allm_thread_count(t), 0);
    allm_text *json = allm_thread_json(t, ALLM_FORM_PLAIN);
    CHECK_MISUSE(allm_text_error(json), reason, words);
    allm_text_free(json);
    allm_thread_free(t);
    CHECK_MISUSE(allm_thread_error(copy), reason, words);
    allm_thread_free(copy);
    allm_message_free(m);
}

static void refuses_odd_options(void)
{
    allm_json *list = noun_json("[]");
    allm_json *broken = allm_json_parse("{", 1, NULL);
    if (list && broken) {
        refused(ALLM(thread_opts, .metadata = list), "invalid_metadata",
                "metadata must be a JSON object");
        refused(ALLM(thread_opts, .metadata = broken), "invalid_metadata",
                "metadata must be a JSON object");
    }
    refused(&(allm_thread_opts){ 0 }, "struct_size", "has no size");
    allm_json_free(list);
    allm_json_free(broken);
}

static void options_of_other_versions(void)
{
    allm_json *map = noun_json("{'a':1}");
    allm_thread_opts full = { .metadata = map };
    allm_thread_opts *older = noun_sized(&full, sizeof full,
                                         offsetof(allm_thread_opts, allocator));
    allm_thread_opts *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    allm_thread *a = allm_thread_new(older), *b = allm_thread_new(newer);
    CHECK_WELL(allm_thread_error(a));
    CHECK_WELL(allm_thread_error(b));
    CHECK_VALUE(allm_thread_metadata(a), "{'a':1}");
    CHECK_VALUE(allm_thread_metadata(b), "{'a':1}");
    allm_thread_free(a);
    allm_thread_free(b);
    ((char *)newer)[sizeof full] = 1;
    b = allm_thread_new(newer);
    CHECK_MISUSE(allm_thread_error(b), "struct_size", "does not know");
    allm_thread_free(b);
    free(older);
    free(newer);
    allm_json_free(map);
}

/* An allocator that counts its bytes. */
static void *count_given(void *ud, void *p, size_t old, size_t size)
{
    *(size_t *)ud += size != 0;
    return mem_default().fn(mem_default().ud, p, old, size);
}

static void memory_comes_from_its_allocator(void)
{
    size_t given = 0;
    allm_json *map = noun_json("{'a':1}");
    allm_allocator *mine = ALLM(allocator, .fn = count_given, .ud = &given);
    allm_message *m = user("x");
    const allm_message *list[] = { m, ALLM(message, .role = ALLM_ROLE_USER,
                                           .text = "y") };
    size_t before = check_allocations();
    allm_thread *t = allm_thread_new(ALLM(thread_opts, .allocator = mine));
    for (int i = 0; i < 20; i++)
        allm_thread_add(t, ALLM_ROLE_USER, "x");
    allm_thread_append(t, list[1]);
    allm_thread_append_all(t, 2, list);
    allm_thread_set_metadata(t, map);
    allm_thread *copy = allm_thread_copy(t);
    allm_thread_add(copy, ALLM_ROLE_USER, "x");
    allm_text_free(allm_thread_json(copy, ALLM_FORM_PLAIN));
    CHECK_ALWAYS(check_allocations() - before == given);
    allm_thread_free(t);
    allm_thread_free(copy);
    allm_message_free(m);
    allm_json_free(map);
}

static void nothing_is_accepted(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_message *m = user("x");
    const allm_message *list[] = { m };
    size_t n = 7;
    CHECK_ALWAYS(allm_thread_add(NULL, ALLM_ROLE_USER, "x") == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(allm_thread_append(NULL, m) == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(allm_thread_append_all(NULL, 1, list) == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(allm_thread_set_metadata(NULL, NULL) == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(allm_thread_append(t, NULL) == ALLM_ERR_NOMEM);
    CHECK_INT(allm_thread_append_all(t, 1, NULL), ALLM_ERR_MISUSE);
    CHECK_INT(allm_thread_append_all(t, 0, NULL), ALLM_OK);
    CHECK_INT(allm_thread_add(t, ALLM_ROLE_USER, NULL), ALLM_ERR_MISUSE);
    CHECK_INT(allm_thread_add(t, ALLM_ROLE_NONE, "x"), ALLM_ERR_MISUSE);
    CHECK_ALWAYS(allm_thread_count(t) == 0);
    CHECK_ALWAYS(!allm_thread_copy(NULL) && !allm_thread_count(NULL));
    CHECK_ALWAYS(!allm_thread_at(NULL, 0) && !allm_thread_last(NULL));
    CHECK_ALWAYS(allm_thread_messages(NULL, &n) && n == 0);
    CHECK_ALWAYS(allm_thread_messages(t, NULL));
    CHECK_ALWAYS(!allm_thread_metadata(NULL));
    CHECK_ALWAYS(!allm_thread_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_thread_error(NULL), ALLM_ERR_NOMEM, "out_of_memory", NULL);
    allm_thread_free(NULL);
    allm_thread_free(t);
    allm_message_free(m);
}

/* ------------------------------------------------------------ appending --- */

static void adds_texts_in_order(void)
{
    static const allm_role roles[] = { ALLM_ROLE_SYSTEM, ALLM_ROLE_USER,
                                       ALLM_ROLE_ASSISTANT };
    allm_thread *t = allm_thread_new(NULL);
    for (size_t i = 0; i < 3; i++) {
        allm_thread_add(t, roles[i], "text");
        const allm_message *last = allm_thread_last(t);
        CHECK_INT(allm_thread_count(t), i + 1);
        CHECK_INT(GET(last, role), roles[i]);
        CHECK_TEXT(GET(last, text), "text");
        CHECK(!GET(last, name) && !GET(last, metadata));
    }
    allm_thread_add(t, ALLM_ROLE_USER, "first");
    allm_thread_add(t, ALLM_ROLE_USER, "last");
    check_at(t, 3, "first");
    check_at(t, 4, "last");
    check_at(t, 5, NULL);
    check_at(t, SIZE_MAX, NULL);
    allm_thread_free(t);
}

static void appending_shares_what_is_ours(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_message *m = user("x");
    const allm_message *foreign = ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = "y");
    allm_message value = m ? *m : *foreign;
    allm_thread_append(t, m);
    allm_thread_append(t, foreign);
    allm_thread_append(t, &value);
    allm_thread_append(t, m);
    allm_message_free(m);
    CHECK(allm_thread_at(t, 0) == m);
    CHECK(allm_thread_at(t, 1) != foreign);
    CHECK(allm_thread_at(t, 2) != &value && allm_thread_at(t, 2) != m);
    CHECK(allm_thread_at(t, 3) == m);
    check_at(t, 0, "x");
    check_at(t, 1, "y");
    check_at(t, 2, "x");
    allm_thread_free(t);
}

static void a_message_may_outlive_its_thread(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "x");
    allm_message *m = allm_message_keep(allm_thread_last(t));
    allm_thread_free(t);
    CHECK_TEXT(GET(m, text), "x");
    allm_message_free(m);
}

static void appends_several_at_once(void)
{
    allm_message *a = user("a"), *b = user("b");
    const allm_message *list[] = { a, b };
    allm_thread *t = allm_thread_new(NULL);
    CHECK_INT(allm_thread_append_all(t, 1, list), ALLM_OK);
    CHECK_INT(allm_thread_append_all(t, 2, list), ALLM_OK);
    CHECK_INT(allm_thread_append_all(t, 0, list), ALLM_OK);
    CHECK_INT(allm_thread_count(t), 3);
    CHECK(allm_thread_at(t, 1) == a && allm_thread_at(t, 2) == b);
    allm_message_free(a);
    allm_message_free(b);
    check_at(t, 2, "b");
    allm_thread_free(t);
}

/* Wholly or not at all, whatever goes wrong, memory included. */
static void several_are_appended_or_none(void)
{
    allm_message *good = user("good");
    allm_message *bad = allm_message_from_text(ALLM_ROLE_NONE, "bad");
    const allm_message *foreign = ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = "foreign");
    static const allm_message sizeless = { .text = "x" };
    const struct {
        const char *why;
        const allm_message *list[3];
        allm_status status;
    } rows[] = {
        { "all is well", { good, foreign, good }, ALLM_OK },
        { "one is NULL", { good, NULL, good }, ALLM_ERR_NOMEM },
        { "the last is NULL", { good, foreign, NULL }, ALLM_ERR_NOMEM },
        { "one was refused", { good, bad, good }, ALLM_ERR_MISUSE },
        { "one has no size", { foreign, good, &sizeless }, ALLM_ERR_MISUSE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_thread *t = allm_thread_new(NULL);
        for (size_t n = 0; n < 7; n++)      /* then the spine must grow */
            allm_thread_append(t, good);
        size_t before = allm_thread_count(t);
        allm_status status = allm_thread_append_all(t, 3, rows[i].list);
        CHECK_INT(status, rows[i].status);
        CHECK_ALWAYS(allm_thread_count(t) ==
                     before + (status == ALLM_OK ? 3 : 0));
        allm_thread_free(t);
    }
    CHECK_ALWAYS(sizeless.size == 0);
    allm_message_free(good);
    allm_message_free(bad);
}

static void one_is_appended_or_not(void)
{
    allm_message *bad = allm_message_from_text(ALLM_ROLE_NONE, "bad");
    allm_thread *t = allm_thread_new(NULL);
    for (int i = 0; i < 20; i++) {
        size_t before = allm_thread_count(t);
        allm_status status = allm_thread_add(t, ALLM_ROLE_USER, "x");
        CHECK_ALWAYS(allm_thread_count(t) == before + (status == ALLM_OK));
    }
    CHECK_INT(allm_thread_append(t, bad), ALLM_ERR_MISUSE);
    CHECK_INT(allm_thread_count(t), 20);
    allm_thread_free(t);
    allm_message_free(bad);
}

/* --------------------------------------------------------------- copies --- */

static void copies_branch_off(void)
{
    allm_thread *a = allm_thread_new(NULL);
    allm_thread_add(a, ALLM_ROLE_USER, "common");
    allm_thread *b = allm_thread_copy(a), *c = allm_thread_copy(a);
    allm_thread_add(b, ALLM_ROLE_USER, "b1");
    allm_thread_add(a, ALLM_ROLE_USER, "a1");
    allm_thread_add(b, ALLM_ROLE_USER, "b2");
    CHECK_INT(allm_thread_count(a), 2);
    CHECK_INT(allm_thread_count(b), 3);
    CHECK_INT(allm_thread_count(c), 1);
    CHECK(allm_thread_at(a, 0) == allm_thread_at(b, 0));
    CHECK(allm_thread_at(a, 0) == allm_thread_at(c, 0));
    allm_thread_free(a);
    check_at(b, 0, "common");
    check_at(b, 1, "b1");
    check_at(b, 2, "b2");
    allm_thread_free(b);
    allm_thread_add(c, ALLM_ROLE_USER, "c1");
    check_at(c, 0, "common");
    check_at(c, 1, "c1");
    allm_thread_free(c);
}

enum { STAGES = 40 };

static void snapshots_see_only_their_length(void)
{
    allm_thread *t = allm_thread_new(NULL), *snapshot[STAGES];
    for (size_t i = 0; i < STAGES; i++) {
        snapshot[i] = allm_thread_copy(t);
        allm_thread_add(t, ALLM_ROLE_USER, "x");
    }
    for (size_t i = 0; i < STAGES; i++) {
        size_t n;
        const allm_message *const *list = allm_thread_messages(snapshot[i], &n);
        CHECK_INT(n, i);
        CHECK(!allm_thread_at(snapshot[i], i));
        for (size_t k = 0; k < n && check_whole(); k++)
            CHECK(list[k] == allm_thread_at(t, k));
        allm_thread_free(snapshot[i]);
    }
    allm_thread_free(t);
}

static void a_copy_of_an_empty_thread(void)
{
    allm_thread *a = allm_thread_new(NULL), *b = allm_thread_copy(a);
    allm_thread_add(b, ALLM_ROLE_USER, "x");
    CHECK_ALWAYS(allm_thread_count(a) == 0);
    CHECK_INT(allm_thread_count(b), 1);
    allm_thread_free(b);
    allm_thread_free(a);
}

/* ----------------------------------------------------------------- cost --- */

static allm_thread *grown(allm_thread *t, size_t n)
{
    allm_message *m = user("x");
    while (allm_thread_count(t) < n && allm_thread_append(t, m) == ALLM_OK)
        continue;
    allm_message_free(m);
    return t;
}

/* Allocations for the next message, at a length where the spine has room. */
static size_t cost_at(size_t length)
{
    allm_thread *t = grown(allm_thread_new(NULL), length);
    size_t before = check_allocations();
    allm_thread_add(t, ALLM_ROLE_USER, "x");
    size_t cost = check_allocations() - before;
    CHECK_INT(allm_thread_count(t), length + 1);
    allm_thread_free(t);
    return cost;
}

static void appending_costs_the_same_at_any_length(void)
{
    CHECK_INT(cost_at(10), 1);          /* the message itself */
    CHECK_INT(cost_at(100000), cost_at(10));
}

static void growing_costs_as_many_allocations_as_messages(void)
{
    enum { N = 100000 };
    allm_thread *t = allm_thread_new(NULL);
    size_t before = check_allocations();
    for (size_t i = 0; i < N; i++)
        allm_thread_add(t, ALLM_ROLE_USER, "x");
    size_t cost = check_allocations() - before;
    CHECK(cost >= N && cost <= N + 20);     /* and the doublings */
    allm_thread_free(t);
}

/* Bytes that n snapshots of a growing thread take, with their messages. */
static size_t bytes_for(size_t n)
{
    allm_thread **snapshot = calloc(n, sizeof(allm_thread *));
    allm_thread *t = allm_thread_new(NULL);
    size_t before = check_live_bytes();
    for (size_t i = 0; i < n; i++) {
        allm_thread_add(t, ALLM_ROLE_USER, "x");
        snapshot[i] = allm_thread_copy(t);
    }
    size_t bytes = check_live_bytes() - before;
    for (size_t i = 0; i < n; i++)
        allm_thread_free(snapshot[i]);
    allm_thread_free(t);
    free(snapshot);
    return bytes;
}

static void snapshots_cost_what_messages_cost(void)
{
    enum { EACH = 400 };                /* a message, a thread, its slots */
    size_t n = 2000, once = bytes_for(n), twice = bytes_for(2 * n);
    size_t four = bytes_for(4 * n);
    CHECK(once <= n * EACH);
    CHECK(twice <= 2 * n * EACH);
    CHECK(four <= 4 * n * EACH);
    CHECK(four <= 5 * once);            /* not 16 times */
}

/* ------------------------------------------------------------- property --- */

/* A simple model: each thread is a separate array of pointers. */
enum { MODELS = 8, LONGEST = 200 };

struct model {
    allm_thread *thread;
    size_t count;
    const allm_message *messages[LONGEST];
};

static void check_model(const struct model *m)
{
    size_t n;
    const allm_message *const *list = allm_thread_messages(m->thread, &n);
    CHECK_ALWAYS(n == m->count);
    for (size_t i = 0; i < n && i < m->count; i++)
        CHECK_ALWAYS(list[i] == m->messages[i]);
}

static void model_add(struct model *m, struct random r)
{
    char text[2] = { (char)('a' + random_below(r, 26)), '\0' };
    if (m->count < LONGEST &&
        allm_thread_add(m->thread, ALLM_ROLE_USER, text) == ALLM_OK) {
        m->messages[m->count++] = allm_thread_last(m->thread);
        CHECK_ALWAYS(
            slice_is(slice_of(text), allm_thread_last(m->thread)->text));
    }
}

/* Some of another one's messages; sometimes with a hole, and then none. */
static void model_append_all(struct model *m, const struct model *from,
                             struct random r)
{
    const allm_message *list[LONGEST];
    size_t n = random_below(r, from->count + 1);
    bool hole = n && random_below(r, 4) == 0;
    memcpy(list, from->messages, n * sizeof *list);
    if (hole)
        list[random_below(r, n)] = NULL;
    if (m->count + n > LONGEST)
        return;
    allm_status status = allm_thread_append_all(m->thread, n, list);
    if (status != ALLM_OK || !m->thread)
        return;
    CHECK_ALWAYS(!hole);
    memcpy(m->messages + m->count, list, n * sizeof *list);
    m->count += n;
}

static void model_replace(struct model *m, const struct model *from)
{
    allm_thread *copy = from ? allm_thread_copy(from->thread)
                             : allm_thread_new(NULL);
    allm_thread_free(m->thread);
    m->thread = copy;
    m->count = copy && from ? from->count : 0;
    if (m->count)
        memmove(m->messages, from->messages, sizeof m->messages);
}

static void act(struct model *models, struct random r)
{
    struct model *m = &models[random_below(r, MODELS)];
    struct model *other = &models[random_below(r, MODELS)];
    switch (random_below(r, 10)) {
    case 0:  model_replace(m, NULL); break;
    case 1:
    case 2:  model_replace(m, other); break;
    case 3:  model_append_all(m, other, r); break;
    default: model_add(m, r);
    }
    check_model(m);
    check_model(other);
}

static void live_through(size_t acts)
{
    struct model models[MODELS] = { 0 };
    struct random r = check_random();
    for (size_t i = 0; i < acts; i++)
        act(models, r);
    for (size_t i = 0; i < MODELS; i++) {
        check_model(&models[i]);
        allm_thread_free(models[i].thread);
    }
}

static void sharing_is_invisible(void)
{
    live_through(20000);
}

static void sharing_is_invisible_when_memory_fails(void)
{
    live_through(60);
}

/* ------------------------------------------------------------ JSON form --- */

static void has_a_json_form(void)
{
    allm_json *map = noun_json("{'a':1}");
    allm_thread *t = allm_thread_new(ALLM(thread_opts, .metadata = map));
    allm_thread_add(t, ALLM_ROLE_USER, "hi");
    CHECK_JSON(allm_thread_json(t, ALLM_FORM_PLAIN),
               "{'messages':[{'role':'user','content':'hi','name':null,"
               "'tool_call_id':null,'metadata':{}}],'metadata':{'a':1}}");
    allm_thread_free(t);
    allm_json_free(map);
}

/* Unknown members of a document are kept, also after changes. */
static void keeps_what_it_does_not_know(void)
{
    static const char text[] = "{\"messages\":[],\"metadata\":{},\"x\":1}";
    allm_json *map = noun_json("{'a':1}");
    allm_codec *c = allm_codec_decode(text, sizeof text - 1, "Thread", NULL);
    allm_thread *t = allm_thread_copy(allm_codec_value(c, ALLM_TYPE_THREAD));
    allm_codec_free(c);
    allm_thread_set_metadata(t, map);
    CHECK_JSON(allm_thread_json(t, ALLM_FORM_PLAIN),
               "{'messages':[],'metadata':{'a':1},'x':1}");
    allm_thread_free(t);
    allm_json_free(map);
}

static void lends_a_record(void)
{
    allm_json *map = noun_json("{'a':1}");
    allm_thread *t = allm_thread_new(ALLM(thread_opts, .metadata = map));
    allm_thread_add(t, ALLM_ROLE_USER, "x");
    if (t) {
        allm_thread_record r = thread_record(t);
        CHECK_INT(r.message_count, 1);
        CHECK(r.messages[0] == allm_thread_at(t, 0));
        CHECK_VALUE(r.metadata, "{'a':1}");
        CHECK(!r.kept);
    }
    allm_thread_free(t);
    allm_json_free(map);
}

TESTS = {
    TEST(a_new_thread_is_empty),
    TEST(has_metadata),
    TEST(metadata_changes_wholly_or_not_at_all),
    TEST(refuses_odd_options),
    TEST(options_of_other_versions),
    TEST(memory_comes_from_its_allocator),
    TEST(nothing_is_accepted),
    TEST(adds_texts_in_order),
    TEST(appending_shares_what_is_ours),
    TEST(a_message_may_outlive_its_thread),
    TEST(appends_several_at_once),
    TEST(several_are_appended_or_none),
    TEST(one_is_appended_or_not),
    TEST(copies_branch_off),
    TEST(snapshots_see_only_their_length),
    TEST(a_copy_of_an_empty_thread),
    TEST_ONCE(appending_costs_the_same_at_any_length),
    TEST_ONCE(growing_costs_as_many_allocations_as_messages),
    TEST_ONCE(snapshots_cost_what_messages_cost),
    TEST_ONCE(sharing_is_invisible),
    TEST(sharing_is_invisible_when_memory_fails),
    TEST(has_a_json_form),
    TEST(keeps_what_it_does_not_know),
    TEST(lends_a_record),
    TESTS_END
};
