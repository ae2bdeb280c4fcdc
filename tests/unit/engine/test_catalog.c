/* test_catalog.c - what models can do and cost */
#include "engine/catalog.h"

#include "harness/noun.h"

#include <stdio.h>

static allm_catalog *catalog_of(const char *document)
{
    allm_json *json = noun_json(document);
    allm_catalog *c = json ? allm_catalog_new(json) : NULL;
    allm_json_free(json);
    return c;
}

/* --------------------------------------------------------------- finding --- */

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

/* A reference that is lent may be copied into a root, as any struct. */
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
        { "an empty id", "{'models': [{'id': ''}]}", "not empty" },
        { "a NUL in an id", "{'models': [{'id': 'a\\u0000'}]}", "not empty" },
        { "an empty provider", "{'models': [{'id': 'a', 'provider': ''}]}",
          "/models/0/provider of" },
        { "aliases", "{'models': [{'id': 'a', 'aliases': 'b'}]}",
          "/models/0/aliases of the catalog must be a list of texts" },
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

/* ----------------------------------------------- the one that is shipped --- */

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
        CHECK(allm_catalog_find(c, m->id) == m);
        if (m->pricing)
            CHECK(allm_json_number(allm_json_get(m->pricing, "input")) > 0 &&
                  allm_json_number(allm_json_get(m->pricing, "output")) > 0);
    }
    CHECK(n >= 30);
    const allm_model_ref *mini = allm_catalog_find(c, "openai:gpt-4o-mini");
    CHECK_VALUE(GET(mini, pricing), "{'input':0.15,'output':0.6}");
    CHECK(allm_catalog_find(c, "google:gemini-2.5-flash") != NULL);
    CHECK(!allm_catalog_find(c, "openai:gpt-of-tomorrow"));
    allm_catalog_free(c);
}

/* ------------------------------------------------------------ pre-flight --- */

/* A request as JSON is shorter to write than as structs. */
static const allm_request *request_of(allm_codec **codec, const char *json)
{
    allm_json *v = noun_json(json);
    allm_text *text = v ? allm_json_write(v, 0) : NULL;
    *codec = allm_codec_decode(allm_text_bytes(text, NULL), ALLM_NUL_ENDED,
                               "Request", NULL);
    allm_text_free(text);
    allm_json_free(v);
    return allm_codec_value(*codec, ALLM_TYPE_REQUEST);
}

#define SAY "'messages':[{'role':'user','content':'hi'}]"
#define SHOW \
    "'messages':[{'role':'system','content':'x'},{'role':'user','content':[" \
    "{'type':'text','text':'what is this?'},{'type':'image','image':" \
    "{'source':{'type':'url','value':'http://x/y.png'}}}]}]"
#define TOOL "'tools':[{'name':'echo','description':'x','schema':{}}]"
#define SCHEMA "'response_format':{'type':'json_schema','name':'n','schema':{}}"
#define OBJECT "'response_format':{'type':'json_object'}"
#define NOTHING \
    "{'tools':{'enabled':false},'json_native':false,'vision':false}"

static const struct {
    const char *why, *capabilities, *request, *errors;  /* NULL: no objection */
} flights[] = {
    { "nothing is known", NULL, "{" SHOW "," TOOL "," SCHEMA "}", NULL },
    { "nothing is said", "{}", "{" SHOW "," TOOL "," SCHEMA "}", NULL },
    { "nothing is needed", NOTHING, "{" SAY "}", NULL },
    { "tools", "{'tools':{'enabled':false},'json_native':true}",
      "{" SAY "," TOOL "}", "[[['tools'],'tools_disabled']]" },
    { "tools are there", "{'tools':{'enabled':true}}", "{" SAY "," TOOL "}",
      NULL },
    { "tools, not said", "{'tools':{}}", "{" SAY "," TOOL "}", NULL },
    { "null says nothing", "{'tools':{'enabled':null},'vision':null}",
      "{" SHOW "," TOOL "}", NULL },
    { "a schema", "{'json_native':false}", "{" SAY "," SCHEMA "}",
      "[[['response_format'],'json_native_disabled']]" },
    { "json_object is exempt", "{'json_native':false}",
      "{" SAY "," OBJECT "}", NULL },
    { "an image", "{'vision':false}", "{" SHOW "}",
      "[[['vision'],'vision_disabled']]" },
    { "an image it can see", "{'vision':true}", "{" SHOW "}", NULL },
    { "all of them, in this order", NOTHING,
      "{" SHOW "," TOOL "," SCHEMA "}",
      "[[['tools'],'tools_disabled'],"
      "[['response_format'],'json_native_disabled'],"
      "[['vision'],'vision_disabled']]" },
};

static void a_model_may_object(void)
{
    for (size_t i = 0; i < sizeof flights / sizeof *flights; i++) {
        struct arena a;
        allm_codec *codec;
        check_row(flights[i].why);
        allm_json *can = flights[i].capabilities
                             ? noun_json(flights[i].capabilities)
                             : NULL;
        const allm_request *r = request_of(&codec, flights[i].request);
        CHECK(r != NULL);
        arena_init(&a, mem_default());
        allm_model_ref m = { .size = sizeof m, .id = "m", .capabilities = can };
        const allm_error *e = r ? catalog_preflight(&m, r, &a) : NULL;
        if (flights[i].errors)
            CHECK_ERROR(e, ALLM_ERR_VALIDATION, "unsupported_capability",
                        "the model m cannot do");
        else
            CHECK_WELL(e);
        if (e && e->kind == ALLM_ERR_VALIDATION)
            CHECK_VALUE(e->errors, flights[i].errors);
        arena_release(&a);
        allm_codec_free(codec);
        allm_json_free(can);
    }
}

static void without_a_reference_all_is_well(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    allm_request r = { .size = sizeof r };
    allm_image_request i = { .size = sizeof i };
    CHECK_WELL(catalog_preflight(NULL, &r, &a));
    CHECK_WELL(catalog_preflight_image(NULL, &i, &a));
    arena_release(&a);
}

/* The examples of the page, by the catalog that is shipped. */
static void known_models_fly(void)
{
    struct arena a;
    allm_codec *codec;
    allm_catalog *c = allm_catalog_new(NULL);
    const allm_request *r = request_of(&codec, "{" SHOW "," SCHEMA "}");
    arena_init(&a, mem_default());
    if (r) {
        CHECK_WELL(catalog_preflight(
            allm_catalog_find(c, "openai:gpt-4.1-mini"), r, &a));
        const allm_error *e = catalog_preflight(
            allm_catalog_find(c, "gpt-3.5-turbo@openai"), r, &a);
        CHECK_VALUE(GET(e, errors),
                    "[[['response_format'],'json_native_disabled'],"
                    "[['vision'],'vision_disabled']]");
    }
    allm_image_request image = { .size = sizeof image };
    const allm_model_ref *painter = allm_catalog_find(c, "openai:gpt-image-1");
    CHECK_WELL(catalog_preflight_image(painter, &image, &a));
    image.operation = ALLM_IMAGE_OP_VARIATION;
    if (painter)
        CHECK_ERROR(catalog_preflight_image(painter, &image, &a),
                    ALLM_ERR_VALIDATION, "unsupported_capability",
                    "gpt-image-1");
    arena_release(&a);
    allm_codec_free(codec);
    allm_catalog_free(c);
}

static void a_painter_may_object(void)
{
    static const struct {
        const char *why, *capabilities;
        allm_image_operation operation;
        const char *errors;
    } rows[] = {
        { "nothing is said", "{}", ALLM_IMAGE_OP_EDIT, NULL },
        { "no images", "{'images_enabled':false}", ALLM_IMAGE_OP_GENERATE,
          "[[['images_enabled'],'images_disabled']]" },
        { "both",
          "{'images_enabled':false,'supported_image_operations':[]}",
          ALLM_IMAGE_OP_GENERATE,
          "[[['images_enabled'],'images_disabled'],"
          "[['operation'],'unsupported_image_operation']]" },
        { "it is in the list",
          "{'supported_image_operations':['generate','edit']}",
          ALLM_IMAGE_OP_EDIT, NULL },
        { "it is not",
          "{'images_enabled':true,"
          "'supported_image_operations':['generate','edit']}",
          ALLM_IMAGE_OP_VARIATION,
          "[[['operation'],'unsupported_image_operation']]" },
        { "no list", "{'supported_image_operations':'generate'}",
          ALLM_IMAGE_OP_EDIT, NULL },
        { "no operation", "{'supported_image_operations':['generate']}",
          (allm_image_operation)9,
          "[[['operation'],'unsupported_image_operation']]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        allm_json *can = noun_json(rows[i].capabilities);
        allm_model_ref m = { .size = sizeof m, .id = "m", .capabilities = can };
        allm_image_request r = { .size = sizeof r,
                                 .operation = rows[i].operation };
        const allm_error *e = catalog_preflight_image(&m, &r, &a);
        CHECK_VALUE(GET(e, errors), rows[i].errors);
        arena_release(&a);
        allm_json_free(can);
    }
}

/* ----------------------------------------------------------------- costs --- */

#define SET(x) { (x), true }
#define UNSET  { 0, false }

static const struct {
    const char *why, *pricing;
    allm_int in, out;
    allm_num before[3], after[3];       /* input, output, total */
} bills[] = {
    { "both", "{'input':0.15,'output':0.6}", SET(1000), SET(500),
      { UNSET, UNSET, UNSET }, { SET(1.5e-4), SET(3.0e-4), SET(4.5e-4) } },
    { "integers", "{'input':3,'output':15}", SET(1000000), SET(100000),
      { UNSET, UNSET, UNSET }, { SET(3), SET(1.5), SET(4.5) } },
    { "in 17 digits", "{'input':0.14999999999999999,"
      "'output':0.59999999999999998}", SET(1000), SET(500),
      { UNSET, UNSET, UNSET }, { SET(1.5e-4), SET(3.0e-4), SET(4.5e-4) } },
    { "nothing used", "{'input':3,'output':15}", SET(0), SET(0),
      { UNSET, UNSET, UNSET }, { SET(0), SET(0), SET(0) } },
    { "input alone: no total", "{'input':0.15,'output':0.6}", SET(1000),
      UNSET, { UNSET, UNSET, UNSET }, { SET(1.5e-4), UNSET, UNSET } },
    { "output alone", "{'input':0.15,'output':0.6}", UNSET, SET(500),
      { UNSET, UNSET, UNSET }, { UNSET, SET(3.0e-4), UNSET } },
    { "one price", "{'input':0.15}", SET(1000), SET(500),
      { UNSET, UNSET, UNSET }, { SET(1.5e-4), UNSET, UNSET } },
    { "a price that is none", "{'input':'free','output':null}", SET(1000),
      SET(500), { UNSET, UNSET, UNSET }, { UNSET, UNSET, UNSET } },
    { "a cost is kept", "{'input':0.15,'output':0.6}", SET(1000), SET(500),
      { SET(7), UNSET, UNSET }, { SET(7), SET(3.0e-4), SET(7 + 3.0e-4) } },
    { "a total is kept", "{'input':0.15,'output':0.6}", SET(1000), SET(500),
      { UNSET, UNSET, SET(9) }, { SET(1.5e-4), SET(3.0e-4), SET(9) } },
    { "a cost of 0 is kept", "{'input':0.15,'output':0.6}", SET(1000),
      SET(500), { SET(0), SET(0), UNSET }, { SET(0), SET(0), SET(0) } },
    { "no price list", "[0.15, 0.6]", SET(1000), SET(500),
      { SET(1), SET(2), UNSET }, { SET(1), SET(2), UNSET } },
    { "no prices", "null", SET(1000), SET(500), { SET(1), SET(2), UNSET },
      { SET(1), SET(2), UNSET } },
};

static void check_cost(allm_num got, allm_num want)
{
    CHECK_INT(got.set, want.set);
    if (want.set)
        CHECK(got.value == want.value);     /* exactly */
}

static void costs_are_exact_and_never_overwritten(void)
{
    for (size_t i = 0; i < sizeof bills / sizeof *bills; i++) {
        check_row(bills[i].why);
        allm_json *pricing = noun_json(bills[i].pricing);
        allm_model_ref m = { .size = sizeof m, .pricing = pricing };
        allm_usage u = { .size = sizeof u,
                         .input_tokens = bills[i].in,
                         .output_tokens = bills[i].out,
                         .input_cost = bills[i].before[0],
                         .output_cost = bills[i].before[1],
                         .total_cost = bills[i].before[2] };
        if (pricing)
            catalog_costs(&u, &m);
        check_cost(u.input_cost, bills[i].after[0]);
        check_cost(u.output_cost, bills[i].after[1]);
        check_cost(u.total_cost, bills[i].after[2]);
        allm_json_free(pricing);
    }
    allm_usage u = { .size = sizeof u, .input_tokens = SET(5) };
    catalog_costs(&u, NULL);
    CHECK(!u.input_cost.set);
}

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
    TEST(the_shipped_catalog_is_well),
    TEST(a_model_may_object),
    TEST(without_a_reference_all_is_well),
    TEST(known_models_fly),
    TEST(a_painter_may_object),
    TEST(costs_are_exact_and_never_overwritten),
    TESTS_END
};
