/* test_reasoning_details.c - pieces of reasoning, joined by their index */
#include "provider/openai/reasoning_details.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "json/json.h"

#include <stdio.h>

static void check_list(const char *pieces, const char *want)
{
    struct arena a;
    struct reasoning_details d = { .first = NULL };
    arena_init(&a, mem_default());
    allm_json *list = noun_json(pieces);
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        CHECK(reasoning_details_add(&d, &a, v));
    CHECK_VALUE(reasoning_details_list(&d, &a), want);
    allm_json_free(list);
    arena_release(&a);
}

static void pieces_are_joined_by_index(void)
{
    check_list("[]", NULL);
    check_list("[7]", NULL);
    check_list("[{'type':'t','index':0,'text':'a'},"
               "{'type':'t','index':1,'data':'x'},"
               "{'type':'t','index':0,'text':'b','signature':'S'},"
               "{'type':'t','index':0,'signature':null}]",
               "[{'type':'t','index':0,'signature':'S','text':'ab'},"
               "{'type':'t','index':1,'data':'x'}]");
    check_list("[{'type':'t','text':'a'},{'type':'t','text':'b'}]",
               "[{'type':'t','text':'a'},{'type':'t','text':'b'}]");
    check_list("[{'type':'t','index':0,'text':'a'},"
               "{'type':'e','index':0,'data':'d'}]",
               "[{'type':'t','index':0,'text':'a'},"
               "{'type':'e','index':0,'data':'d'}]");
}

/* As many as `most` are taken, the one behind them is not. */
static void check_limit(const char *before, const char *behind, int most)
{
    struct arena a;
    struct reasoning_details d = { .first = NULL };
    arena_init(&a, mem_default());
    for (int i = 0; i <= most; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s%d%s", before, i, behind);
        allm_json *v = noun_json(text);
        CHECK(!d.over);
        CHECK(reasoning_details_add(&d, &a, v));
        allm_json_free(v);
    }
    CHECK(d.over);
    arena_release(&a);
}

static void so_many_are_taken(void)
{
    check_row("without an index");
    check_limit("{'text':'", "'}", 65536);
    check_row("with an index");
    check_limit("{'index':", "}", 8192);
    check_row("members");
    check_limit("{'index':0,'m", "':1}", 255);        /* and the index */
}

/* Each of several calls has its own signature, all with one index. */
static void seals_are_kept_apart(void)
{
    check_list("[{'type':'e','index':0,'id':'call_1','data':'AA=='},"
               "{'type':'e','index':0,'id':'call_2','data':'BB=='}]",
               "[{'type':'e','index':0,'id':'call_1','data':'AA=='},"
               "{'type':'e','index':0,'id':'call_2','data':'BB=='}]");
    check_list("[{'type':'e','index':0,'data':'AA=='},"
               "{'type':'e','index':0,'data':'BB=='},"
               "{'type':'e','index':0,'data':'AA=='}]",
               "[{'type':'e','index':0,'data':'AA=='},"
               "{'type':'e','index':0,'data':'BB=='}]");
    check_list("[{'type':'s','index':0,'id':null,'summary':'a'},"
               "{'type':'s','index':0,'id':'rs_1','summary':'b'},"
               "{'type':'s','index':0,'id':'rs_2','summary':'c'}]",
               "[{'type':'s','index':0,'id':'rs_1','summary':'ab'},"
               "{'type':'s','index':0,'id':'rs_2','summary':'c'}]");
}

TESTS = {
    TEST(pieces_are_joined_by_index),
    TEST(seals_are_kept_apart),
    TEST_ONCE(so_many_are_taken),
    TESTS_END
};
