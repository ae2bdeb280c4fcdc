/*
 * read.c - the JSON reader: text to values in one pass
 *
 *      text --copy--> {"a": [1, "x"]}000     decoded in place
 *                       |        |
 *      values   head | object | key a | array | 1 | "x"     yyjson's layout
 *
 * While a container is open its uni.ofs is the index of the one around it, and
 * its tag counts the members that have begun.
 *
 * Why not yyjson's own reader?  It accepts what we reject (equal keys, depth)
 * and rounds what we keep (more digits than a double has): its values would
 * need a second pass, and sometimes a second reading.  It also cannot stop at
 * the end of an incomplete text.  The layout and the conversion of doubles are
 * yyjson's; fuzz_json.c compares this reader with it.
 *
 * Invariants
 *   (1) The copy is followed by zeros.  A zero is not part of any document, so
 *       nothing here checks for the end of the text until it meets one.
 *   (2) at is a place where a value is expected, or right after one.
 *   (3) Nothing recurses: the stack is in the values.
 */
#include "json/read.h"

#include "base/utf8.h"
#include "json/members.h"
#include "json/number.h"

char *read_wrong(struct reading *r, const char *at, const char *detail,
                 const char *expected)
{
    bool ended = at == r->end;
    if (ended && r->partial) {
        r->cut = true;
        return NULL;
    }
    *r->fault = (struct fault){
        .word = "malformed",
        .detail = ended ? "truncated" : detail,
        .what = expected,
        .advice = ended ? "send the whole document, or read the beginning of "
                          "one with allm_json_partial()"
                        : "correct the text there; JSON is one value in UTF-8 "
                          "(RFC 8259)",
        .offset = (size_t)(at - r->start),
        .expected = true,
    };
    return NULL;
}

static char *unexpected(struct reading *r, const char *at, const char *expected)
{
    struct slice rest = { at, (size_t)(r->end - at) };
    uint32_t point;
    return read_wrong(r, at,
                      utf8_take(&rest, &point) ? "unexpected_character"
                                               : "invalid_utf8",
                      expected);
}

static char *refuse_too_deep(struct reading *r, const char *at)
{
    *r->fault = (struct fault){
        .word = "too_deep",
        .detail = "depth",
        .what = "containers are nested deeper than max_depth allows",
        .advice = "flatten the document, or raise max_depth in allm_json_opts",
        .offset = (size_t)(at - r->start),
    };
    return NULL;
}

static char *refuse_long_number(struct reading *r, const char *at)
{
    *r->fault = (struct fault){
        .word = "too_large",
        .detail = "number",
        .what = "a number has more than 1,024 characters",
        .advice = "send it as a string",
        .offset = (size_t)(at - r->start),
    };
    return NULL;
}

static bool refuse_many_values(struct reading *r, const char *at)
{
    *r->fault = (struct fault){
        .word = "too_large",
        .detail = "values",
        .what = "the document has more than 16,777,216 values and keys",
        .advice = "send it in parts",
        .offset = (size_t)(at - r->start),
    };
    return false;
}

static bool refuse_duplicate(struct reading *r, const yyjson_val *key)
{
    *r->fault = (struct fault){
        .word = "duplicate_key",
        .detail = "key",
        .what = "a key occurs twice in one object",
        .name = val_slice(key),
        .advice = "rename or remove one, or let the first win by "
                  "ALLM_JSON_DUPLICATES",
        .offset = (size_t)(key->uni.str - r->start) - 1,
    };
    return false;
}

/* ------------------------------------------------------------- values --- */

/* Limit the number of values: the head, the maximum allowed, and a key. */
static size_t most_room(const struct reading *r, size_t wanted)
{
    return wanted < r->max_values + 3 ? wanted : r->max_values + 3;
}

/* Ensure room for two more values: a value and the key after it. */
static bool grow_values(struct reading *r, const char *at)
{
    size_t count = (size_t)(r->next - r->vals);
    size_t cap = (size_t)(r->limit - r->vals);
    size_t more = most_room(r, cap + cap / 2), bytes;
    yyjson_val *vals = NULL;
    if (more == cap)
        return refuse_many_values(r, at);
    if (mem_mul(more, sizeof *vals, &bytes))
        vals = arena_resize(r->arena, r->vals, cap * sizeof *vals, bytes);
    if (!vals) {
        r->no_memory = true;
        return false;
    }
    r->vals = vals;
    r->next = vals + count;
    r->limit = vals + more;
    return true;
}

static char *skip_space(char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
        at++;
    return at;
}

/* White space is rare in large documents: one comparison if there is none. */
static inline char *skip(char *at)
{
    return (unsigned char)*at > ' ' ? at : skip_space(at);
}

/* A string, from its quote. */
static inline char *read_text(struct reading *r, char *at, yyjson_val *v)
{
    char *from = at + 1;
    char *stop = from + (scan_plain(from) - from);
    if (*stop != '"')
        return read_text_rest(r, from, stop, v);
    v->tag = val_text_tag((size_t)(stop - from)) | YYJSON_SUBTYPE_NOESC;
    v->uni.str = from;
    *stop = '\0';
    return stop + 1;
}

/* A wrong or incomplete literal: report the first wrong letter. */
static char *wrong_literal(struct reading *r, const char *at, const char *word)
{
    while (*at == *word)
        at++, word++;
    return read_wrong(r, at, "invalid_literal", "expected true, false or null");
}

static inline char *read_literal(struct reading *r, char *at, const char *word,
                                 size_t len, yyjson_val *v, uint64_t tag)
{
    if (!slice_same(at, word, len))     /* the padding is readable */
        return wrong_literal(r, at, word);
    *v = (yyjson_val){ .tag = tag };
    return at + len;
}

/* A number that is kept as text gets its NUL once the byte after it is read. */
static void end_big(struct reading *r, char *end)
{
    if (r->big_end)
        *r->big_end = '\0';
    r->big_end = end;
}

static char *read_number(struct reading *r, char *at, yyjson_val *v)
{
    const char *wrong = NULL;
    char *end = number_read_short(at, v);
    if (end)
        return end;
    end = number_read(at, v, &wrong);
    if (wrong)
        return read_wrong(r, end, "invalid_number", wrong);
    if (end == r->end && r->partial && r->open)
        return read_wrong(r, end, NULL, NULL);  /* it may continue */
    if (end - at > NUMBER_LONGEST)
        return refuse_long_number(r, at);
    if (val_type(v) == YYJSON_TYPE_RAW)
        end_big(r, end);
    return end;
}

/* Anything but a string or a container. */
static inline char *read_scalar(struct reading *r, char *at, yyjson_val *v)
{
    switch (*at) {
    case 't':
        return read_literal(r, at, "true", 4, v,
                            YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE);
    case 'f':
        return read_literal(r, at, "false", 5, v, YYJSON_TYPE_BOOL);
    case 'n':
        return read_literal(r, at, "null", 4, v, YYJSON_TYPE_NULL);
    case '-': case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9':
        return read_number(r, at, v);
    default:
        return unexpected(r, at, "expected a value");
    }
}

/* --------------------------------------------------------- containers --- */

static bool refuse_repeat(struct reading *r, const yyjson_val *key)
{
    r->has_twins = true;
    return r->duplicates || refuse_duplicate(r, key);
}

/* The keys of a big object are checked at its end, all at once. */
static bool check_many_keys(struct reading *r, const yyjson_val *object)
{
    const yyjson_val *twice;
    if (members_differ(object, r->arena->mem, &twice))
        return true;
    if (twice)
        return refuse_repeat(r, twice);
    r->no_memory = true;
    return false;
}

/* A key and its colon; returns the position of the value. */
static inline char *read_key(struct reading *r, char *at, yyjson_val *v)
{
    if (*at != '"')
        return unexpected(r, at, "expected a key in quotes");
    at = read_text(r, at, v);
    if (!at)
        return NULL;
    if (val_subtype(v) != YYJSON_SUBTYPE_NOESC && r->loose &&
        !read_mend_key(r, v))
        return NULL;
    if (*at != ':')
        at = skip_space(at);
    if (*at != ':')
        return unexpected(r, at, "expected a colon behind a key");
    return skip(at + 1);
}

/* Open a container; returns the position of its first member or its end. */
static inline char *enter_container(struct reading *r, char *at, yyjson_val *v)
{
    if (r->depth == r->max_depth)
        return refuse_too_deep(r, at);
    bool object = *at == '{';
    v->tag = object ? YYJSON_TYPE_OBJ : YYJSON_TYPE_ARR;
    v->uni.ofs = r->open;
    r->open = (size_t)(v - r->vals);
    r->closer = object ? '}' : ']';
    r->depth++;
    return skip(at + 1);
}

/* Check the keys of a complete object, of which two may be equal. */
static bool check_keys(struct reading *r, const yyjson_val *object)
{
    uint64_t seen = 0;
    if (val_len(object) > MEMBERS_FEW)
        return check_many_keys(r, object);
    const yyjson_val *k = object + 1, *end = val_after(object);
    for (; k < end; k = val_after(k + 1))
        if (!members_is_new(&seen, object, k) && !refuse_repeat(r, k))
            return false;
    return true;
}

/* The innermost container ends before `end`: continue with the one around
 * it. */
static inline bool close_container(struct reading *r, const yyjson_val *end)
{
    yyjson_val *in = &r->vals[r->open];
    r->open = in->uni.ofs;
    uint8_t around = val_type(&r->vals[r->open]);   /* NONE: the head */
    r->closer = !around ? '\0' : around == YYJSON_TYPE_OBJ ? '}' : ']';
    r->depth--;
    in->uni.ofs = (size_t)((const char *)end - (char *)in);
    if (val_len(in) < 2 || val_type(in) == YYJSON_TYPE_ARR)
        return true;
    return (!r->mended || read_settle_keys(r, in)) &&
           (!members_may_repeat(in) || check_keys(r, in));
}

/* Only white space may follow the document. */
static char *finish_document(struct reading *r, char *at)
{
    at = skip_space(at);
    if (at != r->end)
        read_wrong(r, at, "trailing_content",
                   "expected nothing behind the document");
    return NULL;
}

static char *expected_more(struct reading *r, const char *at)
{
    return unexpected(r, at,
                      r->closer == '}'
                          ? "expected a comma or a closing brace"
                          : "expected a comma or a closing bracket");
}

/* After a value: close the containers that end here and skip the comma.
 * Returns the position of the next member, or NULL if there is none. */
static inline char *leave_value(struct reading *r, char *at, yyjson_val *next)
{
    while (r->closer) {
        at = skip(at);
        if (*at == ',')
            return skip(at + 1);
        if (*at != r->closer)
            return expected_more(r, at);
        if (!close_container(r, next))
            return NULL;
        at++;
    }
    return finish_document(r, at);
}

/* Read values until the text ends, regularly or not. */
static void read_values(struct reading *r, char *at)
{
    yyjson_val *v = r->next;
    for (;;) {
        bool opened = false;
        if (v + 2 >= r->limit) {
            r->next = v;
            if (!grow_values(r, at))
                return;
            v = r->next;
        }
        r->vals[r->open].tag += (uint64_t)1 << YYJSON_TAG_BIT;
        if (*at == '"') {
            at = read_text(r, at, v);
            v += r->cut;        /* a part of a string is a value */
        } else if (*at == '{' || *at == '[') {
            at = enter_container(r, at, v);
            opened = at && *at != r->closer;
        } else {
            at = read_scalar(r, at, v);
        }
        if (!at)
            break;
        v++;
        if (!opened)
            at = leave_value(r, at, v);
        if (!at)
            break;
        if (r->closer != '}')
            continue;
        at = read_key(r, at, v);
        if (!at)
            break;
        v++;
    }
    r->next = v;
}

/* --------------------------------------------------- unfinished texts --- */

/* Drop a key without a value at the end. */
static void drop_lone_key(struct reading *r)
{
    const yyjson_val *v = &r->vals[r->open] + 1;
    while (v + 1 < r->next)
        v = val_after(v + 1);
    if (v < r->next)
        r->next--;
}

/* The innermost container was cut off: its last member may be missing. */
static void count_again(struct reading *r)
{
    yyjson_val *in = &r->vals[r->open];
    bool object = val_type(in) == YYJSON_TYPE_OBJ;
    size_t n = 0;
    for (const yyjson_val *v = in + 1; v < r->next; n++)
        v = val_after(v + object);
    in->tag = val_type(in) | (uint64_t)n << YYJSON_TAG_BIT;
}

/* The text was cut off: close everything that is open. */
static bool close_all(struct reading *r)
{
    if (r->closer == '}')
        drop_lone_key(r);
    while (r->open) {
        count_again(r);
        if (!close_container(r, r->next))
            return false;
    }
    return true;
}

/* ------------------------------------------------------- the document --- */

static bool prepare_reading(struct reading *r)
{
    size_t len = r->text.len, room, bytes;
    size_t cap = most_room(r, len / 6 + 8); /* a typical density */
    if (mem_add(len, SCAN_PADDING, &room) &&
        mem_mul(cap, sizeof *r->vals, &bytes)) {
        r->start = arena_alloc(r->arena, room);
        r->vals = arena_alloc(r->arena, bytes);
    }
    if (!r->start || !r->vals) {
        r->no_memory = true;
        return false;
    }
    r->limit = r->vals + cap;
    r->next = r->vals + 1;
    r->vals[0].tag = YYJSON_TYPE_NONE;      /* the head encloses everything */
    if (len)
        memcpy(r->start, r->text.ptr, len);
    r->end = r->start + len;
    memset(r->end, 0, SCAN_PADDING);        /* keeps (1) */
    return true;
}

static bool read_root(struct reading *r)
{
    char *at = skip_space(r->start);
    if (at == r->end) {
        read_wrong(r, at, NULL, "expected a value");
        r->fault->detail = "empty";
    } else if (slice_starts(r->text, SLICE("\xEF\xBB\xBF"))) {
        read_wrong(r, at, "byte_order_mark", "expected no byte order mark");
    } else {
        read_values(r, at);
    }
    if (r->no_memory || r->fault->word)
        return false;
    return !r->cut || close_all(r);
}

bool read_document(struct reading *r)
{
    if (!prepare_reading(r) || !read_root(r))
        return false;
    end_big(r, NULL);
    if (r->next == r->vals + 1)
        return true;
    if (r->has_twins &&
        !members_keep_one(r->vals + 1, r->arena->mem, r->loose)) {
        r->no_memory = true;
        return false;
    }
    size_t used = (1 + val_span(r->vals + 1)) * sizeof *r->vals;
    arena_resize(r->arena, r->vals, used, used);    /* return the rest */
    val_set_head(r->vals + 1, NULL);
    return true;
}
