/* test_catalog_preflight.c - can a model do what a request needs? */
#include "engine/catalog.h"

#include "harness/noun.h"

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

TESTS = {
    TEST(a_model_may_object),
    TEST(without_a_reference_all_is_well),
    TEST(known_models_fly),
    TEST(a_painter_may_object),
    TESTS_END
};
