/*
 * test_catalog.c - the abilities and prices of models
 *
 * tag: thread
 */
#include "engine/catalog.h"

#include "base/file.h"
#include "harness/noun.h"
#include "provider/registry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static allm_catalog *catalog_of(const char *document)
{
    allm_json *json = noun_json(document);
    allm_catalog *c = json ? allm_catalog_new(json) : NULL;
    allm_json_free(json);
    return c;
}

/* -------------------------------------------------------------- finding --- */

static const char few[] =
    "{'models': ["
    "{'provider': 'one', 'id': 'a', 'aliases': ['a-1', 'other:x']},"
    "{'provider': 'two', 'id': 'a'},"
    "{'provider': 'two', 'id': 'b', 'aliases': ['a', 'latest']},"
    "{'id': 'bare'},"
    "{'provider': 'ollama', 'id': 'llama3:8b'},"
    "{'provider': 'one', 'id': 'two:b'}]}";

static void models_are_found_by_any_spelling(void)
{
    static const struct {
        const char *why, *spelling, *provider, *id;
    } rows[] = {
        { "bare: the first that has it", "a", "one", "a" },
        { "with its provider", "two:a", "two", "a" },
        { "with its provider behind it", "a@two", "two", "a" },
        { "another id", "b", "two", "b" },
        { "an alias", "a-1", "one", "a" },
        { "an alias with the provider", "one:a-1", "one", "a" },
        { "an alias with the provider behind", "a-1@one", "one", "a" },
        { "an alias in full", "other:x", "one", "a" },
        { "an id is before an alias", "two:a", "two", "a" },
        { "no provider", "bare", NULL, "bare" },
        { "a colon in an id", "llama3:8b", "ollama", "llama3:8b" },
        { "a colon in an id, whole", "ollama:llama3:8b", "ollama",
          "llama3:8b" },
        { "a colon in an id, from behind", "llama3:8b@ollama", "ollama",
          "llama3:8b" },
        { "the clearer reading", "two:b", "two", "b" },
        { "an alias of another provider", "one:latest", NULL, NULL },
        { "unknown", "c", NULL, NULL },
        { "unknown provider", "three:a", NULL, NULL },
        { "only a provider", "two", NULL, NULL },
        { "half of it", "two:", NULL, NULL },
        { "half of it, behind", "@two", NULL, NULL },
        { "no provider has no name", ":bare", NULL, NULL },
        { "case counts", "A", NULL, NULL },
        { "nothing", "", NULL, NULL },
        { "nothing at all", NULL, NULL, NULL },
    };
    allm_catalog *c = catalog_of(few);
    CHECK_WELL(allm_catalog_error(c));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        const allm_model_ref *m = allm_catalog_find(c, rows[i].spelling);
        CHECK_TEXT(GET(m, provider), rows[i].provider);
        CHECK_TEXT(GET(m, id), rows[i].id);
    }
    allm_catalog_free(c);
}

static void models_are_counted_off(void)
{
    allm_catalog *c = catalog_of(few);
    CHECK_TEXT(GET(allm_catalog_at(c, 0), id), "a");
    CHECK_TEXT(GET(allm_catalog_at(c, 5), id), "two:b");
    CHECK(!allm_catalog_at(c, 6));
    CHECK(!allm_catalog_at(c, SIZE_MAX));
    allm_catalog_free(c);
}

static void a_reference_has_what_the_document_says(void)
{
    allm_catalog *c = catalog_of(
        "{'updated': 'today', 'models': [{'provider': 'p', 'id': 'm',"
        " 'capabilities': {'tools': {'enabled': true}},"
        " 'limits': {'context': 8192}, 'pricing': {'input': 0.5},"
        " 'metadata': {'name': 'M'}, 'aliases': null, 'more': 1}]}");
    const allm_model_ref *m = allm_catalog_find(c, "m");
    CHECK_VALUE(GET(m, capabilities), "{'tools':{'enabled':true}}");
    CHECK_VALUE(GET(m, limits), "{'context':8192}");
    CHECK_VALUE(GET(m, pricing), "{'input':0.5}");
    CHECK_VALUE(GET(m, metadata), "{'name':'M'}");
    allm_catalog_free(c);
}

/* A borrowed reference may be copied, like any struct. */
static void a_reference_can_be_copied(void)
{
    allm_catalog *c = catalog_of(few);
    const allm_model_ref *lent = allm_catalog_find(c, "one:a");
    allm_model_ref *mine = lent ? allm_model_ref_new(lent) : NULL;
    allm_catalog_free(c);
    CHECK_JSON(allm_model_ref_json(mine, ALLM_FORM_PLAIN),
               "{'provider':'one','id':'a','capabilities':null,"
               "'limits':null,'pricing':null,'metadata':{}}");
    allm_model_ref_free(mine);
}

/* ----------------------------------------------------------------- life --- */

static void a_catalog_is_counted(void)
{
    allm_catalog *c = catalog_of(few);
    allm_catalog *again = allm_catalog_keep(c);
    CHECK_ALWAYS(again == c);
    allm_catalog_free(c);
    CHECK_TEXT(GET(allm_catalog_find(again, "b"), id), "b");
    allm_catalog_free(again);
}

static void no_catalog_is_out_of_memory(void)
{
    CHECK_INT(allm_catalog_error(NULL)->kind, ALLM_ERR_NOMEM);
    CHECK(!allm_catalog_find(NULL, "a"));
    CHECK(!allm_catalog_at(NULL, 0));
    CHECK(!allm_catalog_keep(NULL));
    allm_catalog_free(NULL);
}

static void bad_documents_are_refused(void)
{
    static const struct {
        const char *why, *document, *words;
    } rows[] = {
        { "a text", "'x'", "/models of the catalog must be a list" },
        { "no models", "{}", "/models of the catalog must be a list" },
        { "models are no list", "{'models': {}}", "/models of" },
        { "a model is no object", "{'models': [{'id': 'a'}, 7]}",
          "/models/1 of the catalog must be an object" },
        { "no id", "{'models': [{'provider': 'p'}]}",
          "/models/0/id of the catalog must be the name" },
        { "an id that is no text", "{'models': [{'id': 5}]}",
          "/models/0/id of" },
        { "an empty id", "{'models': [{'id': ''}]}", "non-empty" },
        { "a NUL in an id", "{'models': [{'id': 'a\\u0000'}]}", "non-empty" },
        { "an empty provider", "{'models': [{'id': 'a', 'provider': ''}]}",
          "/models/0/provider of" },
        { "aliases", "{'models': [{'id': 'a', 'aliases': 'b'}]}",
          "/models/0/aliases of the catalog must be a list of strings" },
        { "an alias", "{'models': [{'id': 'a', 'aliases': ['b', 1]}]}",
          "/models/0/aliases" },
        { "capabilities", "{'models': [{'id': 'a', 'capabilities': []}]}",
          "/models/0/capabilities of the catalog must be an object" },
        { "limits", "{'models': [{'id': 'a', 'limits': 1}]}", "limits" },
        { "pricing", "{'models': [{'id': 'a', 'pricing': 1}]}", "pricing" },
        { "metadata", "{'models': [{'id': 'a', 'metadata': 'x'}]}",
          "metadata" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_catalog *c = catalog_of(rows[i].document);
        CHECK_ERROR(allm_catalog_error(c), ALLM_ERR_VALIDATION,
                    "invalid_catalog", rows[i].words);
        CHECK(!allm_catalog_find(c, "a"));
        CHECK(!allm_catalog_at(c, 0));
        allm_catalog_free(c);
    }
}

static void a_document_that_is_no_json_tells_why(void)
{
    allm_json *broken = allm_json_parse("{\"models\": [", 12, NULL);
    allm_catalog *c = broken ? allm_catalog_new(broken) : NULL;
    const allm_error *why = allm_json_error(broken);
    CHECK_TEXT(GET(allm_catalog_error(c), message), GET(why, message));
    CHECK(!allm_catalog_find(c, "a"));
    allm_catalog_free(c);
    allm_json_free(broken);
}

/* ---------------------------------------------- the one that is shipped --- */

static void the_shipped_catalog_is_well(void)
{
    allm_catalog *c = allm_catalog_new(NULL);
    CHECK_WELL(allm_catalog_error(c));
    size_t n = 0;
    for (; allm_catalog_at(c, n); n++) {
        const allm_model_ref *m = allm_catalog_at(c, n);
        char spelling[200];
        check_row(m->id);
        CHECK(m->provider != NULL);
        snprintf(spelling, sizeof spelling, "%s:%s", m->provider, m->id);
        CHECK(allm_catalog_find(c, spelling) == m);
        snprintf(spelling, sizeof spelling, "%s@%s", m->id, m->provider);
        CHECK(allm_catalog_find(c, spelling) == m);
        const allm_model_ref *bare = allm_catalog_find(c, m->id);
        CHECK_TEXT(GET(bare, id), m->id);
        CHECK(allm_json_text(allm_json_get(m->metadata, "mode"), NULL) != NULL);
    }
    CHECK(n >= 1000);
    const allm_model_ref *mini = allm_catalog_find(c, "openai:gpt-4o-mini");
    CHECK_VALUE(GET(mini, pricing),
                "{'input':0.15,'output':0.6,'cached':0.075}");
    CHECK_TEXT(GET(allm_catalog_find(c, "google:gemini-2.5-flash"), provider),
               "gemini");
    CHECK(!allm_catalog_find(c, "openai:gpt-of-tomorrow"));
    allm_catalog_free(c);
}

/* The document from which the tables are made; NULL: there is no memory. */
static allm_json *document(void)
{
    struct arena a;
    char path[4096];
    struct slice text = { NULL, 0 };
    const char *source = getenv("SOURCE_DIR");
    snprintf(path, sizeof path, "%s/data/catalog.json", source ? source : ".");
    arena_init(&a, mem_default());
    CHECK_INT(file_read(&a, path, 4 << 20, &text), 0);
    allm_json *v = allm_json_parse(text.ptr, text.len, NULL);
    arena_release(&a);
    return v;
}

/* The tables have the content of the document, in the same order. */
static void the_tables_are_the_document(void)
{
    allm_json *d = document();
    allm_catalog *shipped = allm_catalog_new(NULL);
    allm_catalog *read = d ? allm_catalog_new(d) : NULL;
    CHECK_WELL(allm_catalog_error(read));
    const allm_json *list = allm_json_get(d, "models");
    size_t n = 0;
    for (const allm_json *m = NULL; (m = allm_json_next(list, m)); n++) {
        const allm_model_ref *mine = allm_catalog_at(shipped, n);
        const allm_model_ref *theirs = allm_catalog_at(read, n);
        check_row(GET(theirs, id));
        CHECK_TEXT(GET(mine, provider), GET(theirs, provider));
        CHECK_TEXT(GET(mine, id), GET(theirs, id));
        CHECK(allm_json_equal(GET(mine, capabilities),
                              GET(theirs, capabilities)) ==
              (GET(theirs, capabilities) != NULL));
        CHECK(allm_json_equal(GET(mine, limits), GET(theirs, limits)) ==
              (GET(theirs, limits) != NULL));
        CHECK(allm_json_equal(GET(mine, pricing), GET(theirs, pricing)) ==
              (GET(theirs, pricing) != NULL));
        CHECK(allm_json_equal(GET(mine, metadata), GET(theirs, metadata)) ==
              (GET(theirs, metadata) != NULL));
        const allm_json *aliases = allm_json_get(m, "aliases");
        for (const allm_json *a = NULL; (a = allm_json_next(aliases, a));) {
            const char *name = allm_json_text(a, NULL);
            CHECK_TEXT(GET(allm_catalog_find(shipped, name), id),
                       GET(allm_catalog_find(read, name), id));
        }
    }
    CHECK(!allm_catalog_at(shipped, n));
    allm_json *mine = allm_catalog_summary(shipped);
    allm_json *theirs = allm_catalog_summary(read);
    CHECK(mine && allm_json_equal(mine, theirs));
    allm_json_free(mine);
    allm_json_free(theirs);
    allm_catalog_free(read);
    allm_catalog_free(shipped);
    allm_json_free(d);
}

static void a_document_can_lie_over_the_shipped_one(void)
{
    allm_json *d = noun_json(
        "{'models': [{'provider': 'openai', 'id': 'gpt-4o-mini',"
        "'pricing': {'input': 9}}, {'provider': 'mine', 'id': 'own'}]}");
    allm_catalog *c = d ? allm_catalog_over(d) : NULL;
    allm_json *about = allm_catalog_summary(c);
    const allm_model_ref *other = NULL;
    CHECK_VALUE(GET(allm_catalog_find(c, "openai:gpt-4o-mini"), pricing),
                "{'input':9}");
    CHECK_TEXT(GET(allm_catalog_find(c, "own"), provider), "mine");
    if (c && catalog_find(c, "google:gemini-2.5-flash", &other))
        CHECK_TEXT(GET(other, provider), "gemini");
    CHECK_TEXT(GET(allm_catalog_at(c, 1), id), "own");
    const allm_model_ref *third = allm_catalog_at(c, 2);
    CHECK_TEXT(GET(third, provider), "openai");
    CHECK(allm_json_text(allm_json_get(about, "updated"), NULL) != NULL);
    allm_json_free(about);
    allm_catalog_free(c);
    allm_json_free(d);
}

/* Every provider in the catalog has an adapter. */
static void every_provider_has_an_adapter(void)
{
    allm_catalog *c = allm_catalog_new(NULL);
    allm_json *about = allm_catalog_summary(c);
    const allm_json *list = allm_json_get(about, "providers");
    size_t count = 0;
    for (const allm_json *p = NULL; (p = allm_json_next(list, p));) {
        const char *name = allm_json_text(allm_json_get(p, "name"), NULL);
        int64_t first = 0;
        check_row(name);
        const struct registry_row *row = registry_find(slice_of(name));
        CHECK(row && row->adapter->encode);
        allm_json_int64(allm_json_get(p, "first"), &first);
        const allm_model_ref *m = allm_catalog_at(c, (size_t)first);
        CHECK_TEXT(GET(m, provider), name);
        CHECK_TEXT(allm_json_text(allm_json_get(GET(m, metadata), "mode"),
                                  NULL),
                   "chat");
        count++;
    }
    CHECK(count > 20);
    allm_json_free(about);
    allm_catalog_free(c);
}

/* The whole table would need a megabyte. */
static void a_row_is_read_when_it_is_looked_up(void)
{
    allm_catalog *c = allm_catalog_new(NULL);
    const allm_model_ref *m = NULL;
    bool memory = catalog_find(c, "openai:gpt-4o-mini", &m);
    if (c && memory) {
        CHECK_TEXT(GET(m, id), "gpt-4o-mini");
        CHECK(allm_catalog_find(c, "gpt-4o-mini") == m);
        CHECK(allm_catalog_find(c, "gpt-4o-mini@openai") == m);
    }
    allm_catalog_free(c);
}

static void *read_all(void *catalog)
{
    const allm_model_ref *last = NULL, *m;
    for (size_t i = 0; (m = allm_catalog_at(catalog, i)); i++)
        last = m;
    return (void *)(uintptr_t)last;
}

static void threads_read_the_same_rows(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    void *last[THREADS] = { NULL };
    allm_catalog *c = allm_catalog_new(NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, read_all, c), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(thread[i], &last[i]), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(last[i] && last[i] == last[0]);
    allm_catalog_free(c);
}

static void a_summary_tells_the_day_and_the_providers(void)
{
    allm_catalog *c = catalog_of(
        "{'updated': '2026-01-02', 'source': 'me', 'models': ["
        "{'provider': 'b', 'id': '1'}, {'id': '2'}, {'provider': 'a',"
        "'id': '3'}, {'provider': 'b', 'id': '4'}]}");
    allm_json *about = allm_catalog_summary(c);
    CHECK_VALUE(about,
                "{'updated':'2026-01-02','source':'me','count':4,'providers':["
                "{'name':'b','first':0,'count':2},"
                "{'name':'a','first':2,'count':1}]}");
    allm_json_free(about);
    allm_catalog_free(c);
    about = allm_catalog_summary(NULL);
    CHECK_VALUE(about, "{'updated':null,'source':null,'count':0,"
                       "'providers':[]}");
    allm_json_free(about);
}

static void a_provider_may_have_the_models_of_another(void)
{
    allm_catalog *c = catalog_of(
        "{'same': {'two': 'one'}, 'models': [{'provider': 'one', 'id': 'a',"
        "'aliases': ['x']}]}");
    CHECK_TEXT(GET(allm_catalog_find(c, "two:a"), provider), "one");
    CHECK_TEXT(GET(allm_catalog_find(c, "a@two"), provider), "one");
    CHECK_TEXT(GET(allm_catalog_find(c, "two:x"), provider), "one");
    CHECK(!allm_catalog_find(c, "three:a"));
    allm_catalog_free(c);
}

/* ------------------------------------------------------------ selecting --- */

static void models_are_selected_by_what_they_can(void)
{
    size_t at = 99;
    allm_json *doc = noun_json(
        "{'models':[{'provider':'a','id':'x','capabilities':{'tools':"
        "{'enabled':false}}},{'provider':'a','id':'y','capabilities':"
        "{'tools':{'enabled':true},'vision':true}},{'provider':'b','id':'z',"
        "'capabilities':{'tools':true}}]}");
    allm_json *tools = noun_json("['tools']"),
              *all = noun_json("['tools','vision','flying']");
    allm_catalog *c = allm_catalog_new(doc);
    if (doc && tools && all && c && !allm_catalog_error(c)) {
        CHECK_TEXT(GET(allm_catalog_select(c, tools, 0, &at), id), "y");
        CHECK_INT(at, 1);
        const allm_model_ref *next = allm_catalog_select(c, tools, 2, &at);
        CHECK_TEXT(GET(next, id), "z");
        CHECK(!allm_catalog_select(c, tools, at + 1, &at));
        CHECK(!allm_catalog_select(c, all, 0, NULL));
        CHECK_TEXT(GET(allm_catalog_select(c, NULL, 0, NULL), id), "x");
    }
    CHECK_ALWAYS(!allm_catalog_select(NULL, tools, 0, NULL));
    allm_catalog_free(c);
    allm_json_free(all);
    allm_json_free(tools);
    allm_json_free(doc);
}

TESTS = {
    TEST(models_are_selected_by_what_they_can),
    TEST(models_are_found_by_any_spelling),
    TEST(models_are_counted_off),
    TEST(a_reference_has_what_the_document_says),
    TEST(a_reference_can_be_copied),
    TEST(a_catalog_is_counted),
    TEST(no_catalog_is_out_of_memory),
    TEST(bad_documents_are_refused),
    TEST(a_document_that_is_no_json_tells_why),
    TEST_ONCE(the_shipped_catalog_is_well),
    TEST_ONCE(the_tables_are_the_document),
    TEST_ONCE(every_provider_has_an_adapter),
    TEST(a_document_can_lie_over_the_shipped_one),
    TEST(a_summary_tells_the_day_and_the_providers),
    TEST(a_provider_may_have_the_models_of_another),
    TEST(a_row_is_read_when_it_is_looked_up),
    TEST_ONCE(threads_read_the_same_rows),
    TESTS_END
};
