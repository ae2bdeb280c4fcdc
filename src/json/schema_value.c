/* schema_value.c - keywords about one value: its type, its size */
#include "base/utf8.h"
#include "json/json.h"
#include "json/schema_number.h"
#include "json/schema_rules.h"

/* -------------------------------------------------------------- types --- */

bool rule_type(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct types *t = r->parts;
    if (t->kinds & s->kinds)
        return true;
    return check_fault(k, r, s, "expected %s, got %s", check_kinds(k, t->kinds),
                       check_brief_typed(k, s->value));
}

bool rule_const(struct check *k, const struct rule *r, const struct spot *s)
{
    if (allm_json_equal(r->value, s->value))
        return true;
    return check_fault(k, r, s, "expected %s, got %s", check_brief(k, r->value),
                       check_brief_typed(k, s->value));
}

/* The index of the first option with this hash or a larger one. */
static size_t find_hash(const struct options *o, uint64_t hash)
{
    size_t low = 0, high = o->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->list[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool rule_enum(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct options *o = r->parts;
    bool possible = o->kinds & s->kinds;
    uint64_t hash = possible ? value_hash(s->value) : 0;
    size_t i = possible ? find_hash(o, hash) : o->count;
    for (; i < o->count && o->list[i].hash == hash; i++)
        if (allm_json_equal(o->list[i].value, s->value))
            return true;
    return check_fault(k, r, s, "expected one of %s, got %s",
                       check_brief(k, r->value),
                       check_brief_typed(k, s->value));
}

/* ------------------------------------------------------------ numbers --- */

bool rule_multiple_of(struct check *k, const struct rule *r,
                      const struct spot *s)
{
    return decimal_divides(r->value, s->value) ||
           check_fault(k, r, s, "expected a multiple of %s, got %s",
                       check_brief(k, r->value), check_brief(k, s->value));
}

static bool fault_of_size(struct check *k, const struct rule *r,
                          const struct spot *s, const char *how)
{
    return check_fault(k, r, s, "expected %s %s, got %s", how,
                       check_brief(k, r->value), check_brief(k, s->value));
}

bool rule_minimum(struct check *k, const struct rule *r, const struct spot *s)
{
    return decimal_compare(s->value, r->value) >= 0 ||
           fault_of_size(k, r, s, "at least");
}

bool rule_maximum(struct check *k, const struct rule *r, const struct spot *s)
{
    return decimal_compare(s->value, r->value) <= 0 ||
           fault_of_size(k, r, s, "at most");
}

bool rule_exclusive_minimum(struct check *k, const struct rule *r,
                            const struct spot *s)
{
    return decimal_compare(s->value, r->value) > 0 ||
           fault_of_size(k, r, s, "more than");
}

bool rule_exclusive_maximum(struct check *k, const struct rule *r,
                            const struct spot *s)
{
    return decimal_compare(s->value, r->value) < 0 ||
           fault_of_size(k, r, s, "less than");
}

/* -------------------------------------------------------------- texts --- */

static bool fault_of_length(struct check *k, const struct rule *r,
                            const struct spot *s, const char *how)
{
    const struct limit *limit = r->parts;
    struct slice text = json_slice(s->value);
    size_t n = limit->count;
    return check_fault(k, r, s, "expected %s %zu %s, got %zu: %s", how, n,
                       word_for(n, "character", "characters"), utf8_count(text),
                       check_brief_text(k, text));
}

bool rule_min_length(struct check *k, const struct rule *r,
                     const struct spot *s)
{
    const struct limit *limit = r->parts;
    return utf8_count(json_slice(s->value)) >= limit->count ||
           fault_of_length(k, r, s, "at least");
}

bool rule_max_length(struct check *k, const struct rule *r,
                     const struct spot *s)
{
    const struct limit *limit = r->parts;
    struct slice text = json_slice(s->value);
    return text.len <= limit->count || utf8_count(text) <= limit->count ||
           fault_of_length(k, r, s, "at most");
}

bool rule_pattern(struct check *k, const struct rule *r, const struct spot *s)
{
    struct slice text = json_slice(s->value);
    return check_match(k, r->parts, text) ||
           check_fault(k, r, s, "expected a string that matches %s, got %s",
                       check_brief(k, r->value), check_brief_text(k, text));
}

/* ---------------------------------------------------- items, members --- */

static bool fault_of_count(struct check *k, const struct rule *r,
                           const struct spot *s, const char *how)
{
    const struct limit *limit = r->parts;
    size_t n = limit->count;
    return check_fault(k, r, s, "expected %s %zu %s, got %zu", how, n,
                       s->kinds & KIND_ARRAY
                           ? word_for(n, "item", "items")
                           : word_for(n, "property", "properties"),
                       allm_json_count(s->value));
}

bool rule_min_count(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct limit *limit = r->parts;
    return allm_json_count(s->value) >= limit->count ||
           fault_of_count(k, r, s, "at least");
}

bool rule_max_count(struct check *k, const struct rule *r, const struct spot *s)
{
    const struct limit *limit = r->parts;
    return allm_json_count(s->value) <= limit->count ||
           fault_of_count(k, r, s, "at most");
}
