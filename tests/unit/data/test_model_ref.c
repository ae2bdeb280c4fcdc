/* test_model_ref.c - a model by provider and name, and its spellings */
#include "data/model_ref.h"

#include "harness/noun.h"

static void has_defaults(void)
{
    allm_model_ref *r = allm_model_ref_new(
        ALLM(model_ref, .provider = "openai", .id = "gpt-4.1-mini"));
    CHECK_WELL(allm_model_ref_error(r));
    CHECK_TEXT(GET(r, provider), "openai");
    CHECK_TEXT(GET(r, id), "gpt-4.1-mini");
    CHECK_JSON(allm_model_ref_json(r, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.ModelRef','data':{'provider':'openai',"
               "'id':'gpt-4.1-mini','capabilities':null,'limits':null,"
               "'pricing':null,'metadata':{}}}");
    allm_model_ref_free(r);
    r = allm_model_ref_new(NULL);       /* nothing is needed */
    CHECK_WELL(allm_model_ref_error(r));
    allm_model_ref_free(r);
}

static void keeps_every_field(void)
{
    allm_json *can = noun_json("{'tools':{'enabled':false}}");
    allm_json *limits = noun_json("{'context':8}");
    allm_json *price = noun_json("{'input':0.15,'output':0.6}");
    allm_json *metadata = noun_json("{'m':1}"), *kept = noun_json("{'k':2}");
    allm_model_ref *r = allm_model_ref_new(
        ALLM(model_ref, .provider = "p", .id = "i", .capabilities = can,
             .limits = limits, .pricing = price, .metadata = metadata,
             .kept = kept));
    allm_json_free(can);
    allm_json_free(limits);
    allm_json_free(price);
    allm_json_free(metadata);
    allm_json_free(kept);
    CHECK_JSON(allm_model_ref_json(r, ALLM_FORM_PLAIN),
               "{'provider':'p','id':'i',"
               "'capabilities':{'tools':{'enabled':false}},"
               "'limits':{'context':8},"
               "'pricing':{'input':0.15,'output':0.6},"
               "'metadata':{'m':1},'k':2}");
    allm_model_ref_free(r);
}

static void reads_spellings_apart(void)
{
    static const struct {
        const char *spelling, *provider, *id;
    } rows[] = {
        { "gpt-4.1-mini", NULL, "gpt-4.1-mini" },
        { "openai:gpt-4.1-mini", "openai", "gpt-4.1-mini" },
        { "gpt-4.1-mini@openai", "openai", "gpt-4.1-mini" },
        { "ollama:llama3:8b", "ollama", "llama3:8b" },
        { "openrouter:meta/llama-3:free", "openrouter", "meta/llama-3:free" },
        { "claude@2024@vertex", "vertex", "claude@2024" },
        { "vertex:claude@2024", "vertex", "claude@2024" },
        { "a:b", "a", "b" },
        { "a@b", "b", "a" },
        { ":", NULL, ":" },
        { ":b", NULL, ":b" },
        { "a:", NULL, "a:" },
        { "@", NULL, "@" },
        { "@b", NULL, "@b" },
        { "a@", NULL, "a@" },
        { ":b@c", "c", ":b" },
        { " ", NULL, " " },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].spelling);
        allm_model_ref *r = allm_model_ref_from_text(rows[i].spelling);
        CHECK_WELL(allm_model_ref_error(r));
        CHECK_TEXT(GET(r, provider), rows[i].provider);
        CHECK_TEXT(GET(r, id), rows[i].id);
        if (r)                      /* whole or not at all */
            CHECK_ALWAYS(r->id && !r->provider == !rows[i].provider);
        CHECK(!GET(r, metadata) && !GET(r, pricing));
        allm_model_ref_free(r);
    }
}

static void no_name_is_misuse(void)
{
    static const char *const none[] = { NULL, "" };
    for (size_t i = 0; i < 2; i++) {
        allm_model_ref *r = allm_model_ref_from_text(none[i]);
        CHECK_MISUSE(allm_model_ref_error(r), "missing_field",
                     "allm_model_ref_from_text: the model's name is missing");
        CHECK(!GET(r, id));
        allm_model_ref_free(r);
    }
    allm_model_ref *r = allm_model_ref_new(&(allm_model_ref){ .id = "x" });
    CHECK_MISUSE(allm_model_ref_error(r), "struct_size", "allm_model_ref");
    allm_model_ref_free(r);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_model_ref_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_model_ref_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_model_ref_free(NULL);
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(reads_spellings_apart),
    TEST(no_name_is_misuse),
    TEST(nothing_is_accepted),
    TESTS_END
};
