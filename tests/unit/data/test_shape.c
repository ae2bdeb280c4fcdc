/*
 * test_shape.c - copy structs by the table of their fields
 *
 * First a noun of our own with a field of every kind, then all the nouns of
 * the library, given structs of every size.
 */
#include "data/shape.h"

#include "base/status.h"
#include "data/chat_result.h"
#include "data/engine_record.h"
#include "data/error.h"
#include "data/event.h"
#include "data/image.h"
#include "data/message.h"
#include "data/model_ref.h"
#include "data/part.h"
#include "data/request.h"
#include "data/response.h"
#include "data/session_record.h"
#include "data/step_result.h"
#include "data/thread.h"
#include "data/tool.h"
#include "data/tool_call.h"
#include "data/usage.h"
#include "harness/noun.h"

#include <stdlib.h>

/* ------------------------------------------------------- a noun of ours --- */

typedef struct allm_pebble {        /* sits inside others */
    size_t size;
    struct allm_home *home;
    const char *colour;
    const allm_json *kept;
} allm_pebble;

typedef struct allm_stone {
    size_t size;
    struct allm_home *home;
    const char *name;
    size_t bytes_len;
    const char *bytes;
    uint32_t flag;
    int word;
    uint64_t count;
    allm_int whole;
    allm_num real;
    const allm_json *map, *array, *any;
    const allm_pebble *one;
    const allm_pebble *filled;
    size_t many_count;
    const allm_pebble *const *many;
    const allm_thread *thread;
    void *pointer;
    int settled;
    const allm_json *kept;
} allm_stone;

static const struct shape_field pebble_fields[] = {
    FIELD_FLAGS(pebble, colour, SHAPE_TEXT, SHAPE_NEEDED),
    FIELD_END,
};

static const struct shape pebble_shape = {
    .tag = "Test.Pebble",
    .noun = "pebble",
    .size = sizeof(allm_pebble),
    .kept = offsetof(allm_pebble, kept),
    .fields = pebble_fields,
};

static const struct shape_words words = WORDS("zero", "one");
static const struct shape_own nothing = { 0 };

static const struct shape_field stone_fields[] = {
    FIELD_FLAGS(stone, name, SHAPE_TEXT, SHAPE_NEEDED),
    FIELD_BYTES(stone, bytes, bytes_len, 0),
    FIELD(stone, flag, SHAPE_FLAG),
    FIELD_ENUM(stone, word, words, 0),
    FIELD(stone, count, SHAPE_COUNT),
    FIELD(stone, whole, SHAPE_INT),
    FIELD(stone, real, SHAPE_NUM),
    FIELD(stone, map, SHAPE_MAP),
    FIELD(stone, array, SHAPE_ARRAY),
    FIELD(stone, any, SHAPE_ANY),
    FIELD_ONE(stone, one, pebble_shape, 0),
    FIELD_ONE(stone, filled, pebble_shape, SHAPE_FILLED),
    FIELD_MANY(stone, many, many_count, pebble_shape, 0),
    FIELD_THREAD(stone, thread, thread_own),
    FIELD(stone, pointer, SHAPE_POINTER),
    FIELD_OWN("own", nothing, 0),
    FIELD_END,
};

static const allm_error *settle(struct allm_home *home, void *value)
{
    (void)home;
    ((allm_stone *)value)->settled++;
    return NULL;
}

static const struct shape stone_shape = {
    .tag = "Test.Stone",
    .noun = "stone",
    .size = sizeof(allm_stone),
    .kept = offsetof(allm_stone, kept),
    .fields = stone_fields,
    .settle = settle,
};

static allm_stone *stone_new(const allm_stone *fields)
{
    return shape_new(&stone_shape, fields);
}

/* A field of the stone's table by its name. */
static const struct shape_field *field(const char *name)
{
    const struct shape_field *f = stone_fields;
    while (strcmp(f->name, name) != 0)
        f++;
    return f;
}

/* -------------------------------------------------------------- copying --- */

/* The parts of a stone. */
struct quarry {
    allm_json *map, *array, *any, *kept;
    allm_thread *thread;
    const allm_pebble *two[2];
};

static bool open_quarry(struct quarry *q)
{
    q->map = noun_json("{'a':[1,2]}");
    q->array = noun_json("[1]");
    q->any = noun_json("'x'");
    q->kept = noun_json("{'later':true}");
    q->thread = allm_thread_new(NULL);
    return q->map && q->array && q->any && q->kept &&
           allm_thread_add(q->thread, ALLM_ROLE_USER, "x") == ALLM_OK;
}

static void close_quarry(struct quarry *q)
{
    allm_json_free(q->map);
    allm_json_free(q->array);
    allm_json_free(q->any);
    allm_json_free(q->kept);
    allm_thread_free(q->thread);
}

static bool is_json(const allm_json *v, allm_json_type type, size_t count)
{
    return allm_json_type_of(v) == type && allm_json_count(v) == count;
}

static bool has_colour(const allm_pebble *p, const char *colour)
{
    return p && p->colour && !strcmp(p->colour, colour);
}

/* Every field is there, whether or not memory ran out on the way. */
static void check_stone(const allm_stone *s, const void *pointer)
{
    struct slice bytes = { s->bytes, s->bytes_len };
    CHECK_ALWAYS(slice_is(slice_of(s->name), "granite"));
    CHECK_ALWAYS(slice_eq(bytes, SLICE("a\0b")));
    CHECK_ALWAYS(s->flag == 1 && s->word == 1 && s->count == 7);
    CHECK_ALWAYS(s->whole.set && s->whole.value == -5);
    CHECK_ALWAYS(s->real.set && s->real.value == 0.5);
    CHECK_ALWAYS(is_json(s->map, ALLM_JSON_OBJECT, 1));
    CHECK_ALWAYS(is_json(s->array, ALLM_JSON_ARRAY, 1));
    CHECK_ALWAYS(is_json(s->any, ALLM_JSON_TEXT, 0));
    CHECK_ALWAYS(is_json(s->kept, ALLM_JSON_OBJECT, 1));
    CHECK_ALWAYS(has_colour(s->one, "red"));
    CHECK_ALWAYS(has_colour(s->filled, "blue"));
    CHECK_ALWAYS(s->many_count == 2 && has_colour(s->many[0], "red") &&
                 has_colour(s->many[1], "blue"));
    CHECK_ALWAYS(!s->many[2]);      /* the list ends with NULL, too */
    CHECK_ALWAYS(allm_thread_count(s->thread) == 1);
    CHECK_ALWAYS(s->pointer == pointer && s->settled == 1);
}

static void copies_every_field_or_nothing(void)
{
    int place;
    char name[] = "granite";
    struct quarry q = { .two = { ALLM(pebble, .colour = "red"),
                                 ALLM(pebble, .colour = "blue") } };
    if (!open_quarry(&q)) {
        close_quarry(&q);
        return;
    }
    allm_stone *s =
        stone_new(ALLM(stone, .name = name, .bytes = "a\0b", .bytes_len = 3,
                       .flag = 1, .word = 1, .count = 7, .whole = ALLM_NUM(-5),
                       .real = ALLM_NUM(0.5), .map = q.map, .array = q.array,
                       .any = q.any, .one = q.two[0], .filled = q.two[1],
                       .many = q.two, .many_count = 2, .thread = q.thread,
                       .pointer = &place, .kept = q.kept));
    name[0] = 'G';
    close_quarry(&q);
    CHECK_WELL(shape_error(s));
    if (s) {
        CHECK_ALWAYS(!shape_error(s) && s->one != q.two[0]);
        CHECK_ALWAYS(s->thread != q.thread);
        check_stone(s, &place);
        allm_stone value = *s;
        allm_stone *copy = shape_keep_root(&stone_shape, &value);
        if (copy) {
            check_stone(copy, &place);
            CHECK_ALWAYS(copy->name != s->name && copy->map != s->map);
        }
        shape_free(copy);
    }
    shape_free(s);
}

/* An older struct, for which no room is planned, with fields of which each
 * needs a block of its own: every one of them fails once. */
static void copies_piece_by_piece_or_nothing(void)
{
    enum { LONGEST = 40000 };
    char *x = malloc(LONGEST + 1), *end = x + LONGEST;
    memset(x, 'x', LONGEST);
    *end = '\0';
    const allm_pebble *two[] = { ALLM(pebble, .colour = end - 10000),
                                 ALLM(pebble, .colour = end - 20000) };
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_text(b, end - 2500, 2500);
    allm_json *any = allm_json_build_done(b);
    allm_stone full = { .name = end - 600, .bytes = end - 1200, .any = any,
                        .one = ALLM(pebble, .colour = end - 5000),
                        .many = two, .many_count = 2 };
    allm_stone *older = noun_sized(&full, sizeof full,
                                   offsetof(allm_stone, kept));
    allm_stone *s = any ? stone_new(older) : NULL;
    if (s) {
        CHECK_ALWAYS(!shape_error(s) && s->filled && s->settled == 1);
        CHECK_ALWAYS(slice_of(s->name).len == 600 && s->bytes_len == 1200);
        CHECK_ALWAYS(allm_json_equal(s->any, any));
        CHECK_ALWAYS(has_colour(s->one, end - 5000));
        CHECK_ALWAYS(has_colour(s->many[1], end - 20000));
    }
    shape_free(s);
    allm_json_free(any);
    free(older);
    free(x);
}

static void a_struct_is_one_allocation(void)
{
    char bytes[2000];
    memset(bytes, 'x', sizeof bytes);
    allm_json *map = noun_json("{'a':[1,2,3,4,5,6,7,8,9]}");
    size_t before = check_allocations();
    allm_stone *s = stone_new(
        ALLM(stone, .name = "x", .bytes = bytes, .bytes_len = sizeof bytes,
             .any = map, .map = map, .filled = ALLM(pebble, .colour = "c")));
    CHECK_INT(check_allocations() - before, 1);
    shape_free(s);
    allm_json_free(map);
}

static void leaves_defaults_where_nothing_was_set(void)
{
    allm_stone *s = stone_new(ALLM(stone, .name = "x"));
    CHECK_WELL(shape_error(s));
    CHECK(!GET(s, bytes) && !GET(s, map) && !GET(s, one) && !GET(s, thread));
    CHECK(!GET(s, many) && !GET(s, many_count) && !GET(s, kept));
    if (s && s->filled) {
        CHECK(!s->filled->colour);
        CHECK_INT(s->filled->size, sizeof(allm_pebble));
    }
    CHECK(GET(s, filled));          /* promised, so it is there */
    shape_free(s);
}

static void a_length_of_zero_is_up_to_the_nul(void)
{
    static const struct {
        const char *why, *bytes;
        size_t len;
        struct slice want;
    } rows[] = {
        { "length 0", "abc", 0, { "abc", 3 } },
        { "the word for it", "abc", ALLM_NUL_ENDED, { "abc", 3 } },
        { "a part of the text", "abc", 2, { "ab", 2 } },
        { "an empty text", "", 0, { "", 0 } },
        { "a NUL inside", "a\0c", 3, { "a\0c", 3 } },
        { "absent, whatever its length", NULL, 5, { NULL, 0 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_stone *s = stone_new(ALLM(stone, .name = "x",
                                       .bytes = rows[i].bytes,
                                       .bytes_len = rows[i].len));
        struct slice got = { GET(s, bytes), GET(s, bytes_len) };
        CHECK_SLICE(got, rows[i].want);
        shape_free(s);
    }
}

static void an_empty_list_is_a_list(void)
{
    const allm_pebble *none = NULL;
    allm_stone *s = stone_new(ALLM(stone, .name = "x", .many = &none));
    CHECK(GET(s, many));
    CHECK_INT(GET(s, many_count), 0);
    shape_free(s);
}

/* ------------------------------------------------------------- refusing --- */

static void a_refused_struct_shows_nothing_but_its_error(void)
{
    allm_json *map = noun_json("{'a':1}");
    allm_stone *s = stone_new(ALLM(stone, .flag = 1, .map = map, .bytes = "b",
                                   .one = ALLM(pebble, .colour = "x")));
    CHECK_MISUSE(shape_error(s), "missing_field",
                 "allm_stone_new: name is missing");
    if (s) {
        allm_stone blank = { .size = sizeof blank, .home = s->home };
        CHECK_ALWAYS(!memcmp(s, &blank, sizeof blank));
    }
    shape_free(s);
    allm_json_free(map);
}

static void refuses_what_does_not_fit(void)
{
    const allm_pebble *hole[] = { ALLM(pebble, .colour = "x"), NULL };
    allm_json *map = noun_json("{}"), *list = noun_json("[]");
    allm_json *broken = allm_json_parse("{", 1, NULL);
    allm_thread *thread = allm_thread_new(ALLM(thread_opts, .metadata = list));
    const struct {
        const char *why;
        allm_stone given;
        const char *reason, *words;
    } rows[] = {
        { "a hole in a list", { .many = hole, .many_count = 2 },
          "null_element", "element 1 of many is NULL" },
        { "a count without a list", { .many_count = 2 },
          "missing_list", "many is NULL" },
        { "a count beyond all memory", { .many_count = (size_t)1 << 42 },
          "missing_list", "many is NULL" },
        { "a list where a map belongs", { .map = list },
          "wrong_type", "map must be a JSON object" },
        { "a map where a list belongs", { .array = map },
          "wrong_type", "array must be a JSON array" },
        { "a document that was refused", { .any = broken },
          "broken_json", "any is a JSON document that was refused" },
        { "the same in what is kept", { .kept = broken },
          "broken_json", "kept is a JSON document that was refused" },
        { "what is kept is members", { .kept = list },
          "wrong_type", "kept must be a JSON object" },
        { "a thread that was refused", { .thread = thread },
          "invalid_metadata", "metadata must be a JSON object" },
        { "a struct inside has no size", { .one = &(allm_pebble){ 0 } },
          "struct_size", "allm_pebble: the struct has no size" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_stone given = rows[i].given;
        given.size = sizeof given;
        given.name = "x";
        allm_stone *s = stone_new(&given);
        CHECK_MISUSE(shape_error(s), rows[i].reason, rows[i].words);
        CHECK(!GET(s, name));
        shape_free(s);
    }
    allm_json_free(map);
    allm_json_free(list);
    allm_json_free(broken);
    allm_thread_free(thread);
}

static void a_null_value_counts_as_absent(void)
{
    allm_json *null = noun_json("null");
    allm_stone *s = stone_new(ALLM(stone, .name = "x", .map = null,
                                   .array = null, .any = null, .kept = null));
    CHECK_WELL(shape_error(s));
    CHECK(!GET(s, map) && !GET(s, array) && !GET(s, kept));
    CHECK_VALUE(GET(s, any), "null");
    shape_free(s);
    allm_json_free(null);
}

static void a_refusal_outlives_its_cause(void)
{
    allm_pebble *bad = shape_new(&pebble_shape, NULL);
    const allm_pebble *list[] = { bad };
    allm_stone *one = stone_new(ALLM(stone, .name = "x", .one = bad));
    allm_stone *many =
        stone_new(ALLM(stone, .name = "x", .many = list, .many_count = 1));
    shape_free(bad);
    if (bad) {
        CHECK_MISUSE(shape_error(one), "missing_field", "colour is missing");
        CHECK_MISUSE(shape_error(many), "missing_field", "colour is missing");
    }
    shape_free(one);
    shape_free(many);
}

static void nothing_is_made_of_what_was_refused(void)
{
    static const allm_stone blank;
    allm_usage *bad = shape_new(&usage_shape, &blank);
    allm_usage *made = shape_new(&usage_shape, bad);
    shape_free(bad);
    if (bad)
        CHECK_MISUSE(shape_error(made), "struct_size", "allm_usage");
    shape_free(made);
}

static void nothing_is_accepted_everywhere(void)
{
    allm_stone *s = stone_new(NULL);
    CHECK_MISUSE(shape_error(s), "missing_field", "name is missing");
    shape_free(s);
    shape_free(NULL);
    CHECK_ALWAYS(shape_error(NULL) == status_nomem());
    CHECK_ALWAYS(!shape_keep_root(&stone_shape, NULL));
}

/* -------------------------------------------------------------- keeping --- */

static void ours_is_counted_and_a_copy_by_value_is_not_ours(void)
{
    allm_stone *s = stone_new(ALLM(stone, .name = "x"));
    allm_stone *again = shape_keep_root(&stone_shape, s);
    CHECK(again == s);
    if (s && check_whole()) {
        allm_stone value = *s;
        allm_stone *copy = shape_keep_root(&stone_shape, &value);
        CHECK(copy != s && copy != &value);
        CHECK_TEXT(GET(copy, name), "x");
        shape_free(&value);         /* nothing: it is not ours */
        CHECK_TEXT(s->name, "x");
        shape_free(copy);
    }
    shape_free(again);
    CHECK_TEXT(GET(s, name), "x");
    shape_free(s);
}

static void keeping_asks_for_no_field(void)
{
    struct arena told;
    const allm_error *error = NULL;
    arena_init(&told, mem_default());
    allm_stone *s = shape_keep(&stone_shape, ALLM(stone, .flag = 1), told.mem,
                               &told, &error);
    CHECK_WELL(error);
    CHECK_INT(GET(s, flag), 1);
    shape_free(s);
    arena_release(&told);
}

static void keeping_tells_what_is_wrong(void)
{
    struct arena told;
    arena_init(&told, mem_default());
    allm_stone *bad = stone_new(NULL);
    allm_stone blank = { 0 };
    const allm_error *error = NULL, *other = NULL;
    CHECK(!shape_keep(&stone_shape, &blank, told.mem, &told, &error));
    CHECK_MISUSE(error, "struct_size", "allm_stone: the struct has no size");
    if (bad)
        CHECK_ALWAYS(!shape_keep(&stone_shape, bad, told.mem, &told, &other));
    CHECK(shape_keep_root(&stone_shape, bad) == bad);
    shape_free(bad);
    shape_free(bad);
    CHECK_MISUSE(other, "missing_field", "name is missing");
    allm_stone *root = shape_keep_root(&stone_shape, &blank);
    CHECK_MISUSE(shape_error(root), "struct_size", "has no size");
    shape_free(root);
    arena_release(&told);
}

static void copies_into_a_home_that_exists(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    const allm_error *error = NULL;
    if (!home)
        return;
    const allm_pebble *p = shape_copy(home, &pebble_shape,
                                      ALLM(pebble, .colour = "x"), &error);
    CHECK_TEXT(GET(p, colour), "x");
    CHECK(!GET(p, home));
    CHECK(!shape_copy(home, &pebble_shape, &(allm_pebble){ 0 }, &error));
    CHECK_MISUSE(error, "struct_size", "allm_pebble");
    home_drop(home);
}

/* --------------------------------------------------------------- access --- */

static void knows_what_is_default(void)
{
    const allm_pebble *list[] = { NULL };
    static const allm_pebble pebble;
    allm_stone full = {
        .name = "", .bytes = "", .flag = 1, .word = 1, .count = 1,
        .whole = ALLM_NUM(0), .real = ALLM_NUM(0), .one = &pebble,
        .many = list, .many_count = 1, .pointer = &full,
    };
    allm_stone empty = { .whole = { 5, false }, .many = list };
    static const char *const names[] = { "name", "bytes", "flag", "word",
                                         "count", "whole", "real", "one",
                                         "many", "pointer" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        check_row(names[i]);
        CHECK_ALWAYS(shape_is_default(field(names[i]), &empty));
        CHECK_ALWAYS(!shape_is_default(field(names[i]), &full));
    }
    CHECK_ALWAYS(!shape_is_default(field("own"), &empty));
}

static void gets_and_sets_by_table(void)
{
    allm_stone s = { .name = "x", .bytes_len = 3 };
    CHECK_ALWAYS(shape_pointer(field("name"), &s) == s.name);
    shape_set_pointer(field("name"), &s, NULL);
    CHECK_ALWAYS(!s.name);
    CHECK_ALWAYS(shape_count(field("bytes"), &s) == 3);
    shape_set_count(field("bytes"), &s, 9);
    CHECK_ALWAYS(s.bytes_len == 9);
    CHECK_ALWAYS(shape_slot(field("flag"), &s) == &s.flag);
    CHECK_ALWAYS(shape_at(field("flag"), &s) == &s.flag);
    CHECK_ALWAYS(!shape_kept(&stone_shape, &s));
}

/* --------------------------------------------- all nouns, of every size --- */

static const struct shape *const nouns[] = {
    &chat_result_shape, &engine_record_shape, &error_shape, &event_shape,
    &image_shape, &image_request_shape, &image_response_shape,
    &image_usage_shape, &message_shape, &model_ref_shape, &part_shape,
    &request_shape, &response_shape, &session_record_shape,
    &step_result_shape, &tool_shape, &tool_call_shape, &usage_shape,
};
enum { NOUNS = sizeof nouns / sizeof *nouns };

static void a_struct_without_size_is_refused(void)
{
    static const union {
        struct shape_head head;
        char bytes[1024];
    } zero;
    for (size_t i = 0; i < NOUNS; i++) {
        check_row(nouns[i]->noun);
        void *made = shape_new(nouns[i], &zero);
        CHECK_MISUSE(shape_error(made), "struct_size", nouns[i]->noun);
        shape_free(made);
    }
}

/* Older callers have fewer members; nothing beyond is looked at. */
static void a_shorter_struct_is_zero_behind_its_end(void)
{
    for (size_t i = 0; i < NOUNS; i++) {
        check_row(nouns[i]->noun);
        for (size_t n = 8; n <= nouns[i]->size; n += 4) {
            void *given = noun_sized("", 0, n);
            void *made = shape_new(nouns[i], given);
            const allm_error *error = shape_error(made);
            CHECK(!error || error->kind == ALLM_ERR_MISUSE);
            CHECK(n >= sizeof(struct shape_head) ||
                  !strcmp(error ? error->reason : "", "struct_size"));
            shape_free(made);
            free(given);
        }
    }
}

static void a_longer_struct_may_set_what_we_know(void)
{
    static const allm_stone stone = { .name = "x" };
    allm_stone *given = noun_sized(&stone, sizeof stone, sizeof stone + 40);
    allm_stone *made = stone_new(given);
    CHECK_WELL(shape_error(made));
    CHECK_TEXT(GET(made, name), "x");
    CHECK_INT(GET(made, size), sizeof stone);
    shape_free(made);
    for (size_t i = sizeof stone; i < sizeof stone + 40; i += 13) {
        ((char *)given)[i] = 1;
        made = stone_new(given);
        CHECK_MISUSE(shape_error(made), "struct_size", "does not know");
        shape_free(made);
        ((char *)given)[i] = 0;
    }
    free(given);
}

/* ---------------------------------------------------------- an old pair --- */

/* Structs inside a struct have sizes, too. */
static void sizes_are_judged_inside_too(void)
{
    static const allm_pebble pebble = { .colour = "red" };
    allm_pebble *older = noun_sized(&pebble, sizeof pebble,
                                    offsetof(allm_pebble, kept));
    allm_pebble *newer = noun_sized(&pebble, sizeof pebble, sizeof pebble + 8);
    allm_stone *s =
        stone_new(ALLM(stone, .name = "x", .one = older, .filled = newer));
    CHECK_WELL(shape_error(s));
    CHECK_TEXT(s && s->one ? s->one->colour : NULL, "red");
    CHECK_TEXT(s && s->filled ? s->filled->colour : NULL, "red");
    shape_free(s);
    ((char *)newer)[sizeof pebble] = 1;
    s = stone_new(ALLM(stone, .name = "x", .one = newer));
    CHECK_MISUSE(shape_error(s), "struct_size", "allm_pebble");
    shape_free(s);
    free(older);
    free(newer);
}

/* ------------------------------------------ is every member in a table? --- */

enum { WIDEST = 512 };

static void cover(bool *seen, size_t at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        seen[at + i] = true;
}

static size_t size_of(const struct shape_field *f)
{
    switch (f->kind) {
    case SHAPE_FLAG:
    case SHAPE_ENUM: return sizeof(uint32_t);
    case SHAPE_INT:
    case SHAPE_NUM:  return sizeof(allm_int);
    case SHAPE_OWN:  return 0;
    default:         return sizeof(void *);
    }
}

static void cover_fields(const struct shape *s, bool *seen)
{
    cover(seen, 0, sizeof(struct shape_head));
    cover(seen, s->kept, sizeof(void *));
    for (const struct shape_field *f = s->fields; f->name; f++) {
        cover(seen, f->at, size_of(f));
        if (f->kind == SHAPE_BYTES || f->kind == SHAPE_MANY)
            cover(seen, f->length_at, sizeof(size_t));
    }
}

static const struct {
    const struct shape *shape;
    size_t at;
} not_copied[] = {
    { &image_shape, offsetof(allm_image, reserved) },
    { &message_shape, offsetof(allm_message, reserved) },
    { &response_shape, offsetof(allm_response, reserved) },
    { &step_result_shape, offsetof(allm_step_result, reserved) },
    { &session_record_shape, offsetof(allm_session_record, reserved) },
    { &event_shape, offsetof(allm_event, reserved) },
    { &tool_shape, offsetof(allm_tool, reserved) },
    { &error_shape, offsetof(allm_error, kind) },   /* the variant says it */
};

/* The members from here to the end come from the metadata. */
static const struct {
    const struct shape *shape;
    size_t at;
} from_metadata[] = {
    { &step_result_shape, offsetof(allm_step_result, manual_tool_call_count) },
    { &chat_result_shape, offsetof(allm_chat_result, manual_tool_call_count) },
};

static void cover_others(const struct shape *s, bool *seen)
{
    for (size_t k = 0; k < sizeof not_copied / sizeof *not_copied; k++)
        if (not_copied[k].shape == s)
            cover(seen, not_copied[k].at, sizeof(uint32_t));
    for (size_t k = 0; k < sizeof from_metadata / sizeof *from_metadata; k++)
        if (from_metadata[k].shape == s)
            cover(seen, from_metadata[k].at, s->size - from_metadata[k].at);
}

static void every_member_is_copied(void)
{
    for (size_t i = 0; i < NOUNS; i++) {
        const struct shape *s = nouns[i];
        bool seen[WIDEST] = { false };
        struct {
            struct shape_head head;
            int kind;
        } probe;
        probe.head = (struct shape_head){ sizeof probe, NULL };
        for (probe.kind = -20; probe.kind < 40; probe.kind++)
            cover_fields(shape_of(s, &probe), seen);
        cover_others(s, seen);
        check_row(s->noun);
        size_t n = 0;
        while (n < s->size && seen[n])
            n++;
        CHECK_INT(n, s->size);          /* else the offset of the lost one */
    }
}

TESTS = {
    TEST(copies_every_field_or_nothing),
    TEST(copies_piece_by_piece_or_nothing),
    TEST(a_struct_is_one_allocation),
    TEST(leaves_defaults_where_nothing_was_set),
    TEST(a_length_of_zero_is_up_to_the_nul),
    TEST(an_empty_list_is_a_list),
    TEST(a_refused_struct_shows_nothing_but_its_error),
    TEST(refuses_what_does_not_fit),
    TEST(a_null_value_counts_as_absent),
    TEST(a_refusal_outlives_its_cause),
    TEST(nothing_is_made_of_what_was_refused),
    TEST(nothing_is_accepted_everywhere),
    TEST(ours_is_counted_and_a_copy_by_value_is_not_ours),
    TEST(keeping_asks_for_no_field),
    TEST(keeping_tells_what_is_wrong),
    TEST(copies_into_a_home_that_exists),
    TEST(knows_what_is_default),
    TEST(gets_and_sets_by_table),
    TEST(a_struct_without_size_is_refused),
    TEST(a_shorter_struct_is_zero_behind_its_end),
    TEST(a_longer_struct_may_set_what_we_know),
    TEST(sizes_are_judged_inside_too),
    TEST(every_member_is_copied),
    TESTS_END
};
