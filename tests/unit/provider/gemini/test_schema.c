/* test_schema.c - what becomes of a JSON Schema, and what is lost */
#include "provider/gemini/schema.h"

#include "base/buf.h"
#include "harness/check.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

/* The adapted schema and the losses, with ' for ". */
static void adapt(const char *schema, bool ordered, struct arena *a,
                  struct buf *out)
{
    struct buf text;
    struct build losses;
    struct json_limits limits;
    const allm_error *error = NULL;
    buf_init(&text, a, 1 << 20);
    for (const char *p = schema; *p; p++)
        buf_byte(&text, *p == '\'' ? '"' : *p);
    json_limits_from(&limits, NULL);
    const allm_json *v = json_parse(a, buf_slice(&text), limits, &error);
    build_init(&losses, a);
    build_array(&losses);
    const allm_json *adapted = gemini_schema_adapt(
        a, v, ordered, (struct gemini_schema_losses){ &losses, NULL });
    build_end(&losses);
    const allm_json *list = build_done(&losses);
    CHECK(v && adapted && list);
    if (!v || !adapted || !list)
        return;
    json_write(out, adapted, 0);
    for (const allm_json *l = NULL; (l = allm_json_next(list, l));) {
        buf_byte(out, ' ');
        buf_add(out, json_slice(allm_json_get(l, "path")));
        buf_byte(out, ':');
        buf_add(out, json_slice(allm_json_get(l, "keyword")));
    }
    for (size_t i = 0; i < out->len; i++)
        if (out->ptr[i] == '"')
            out->ptr[i] = '\'';
}

static const struct {
    const char *why, *schema, *adapted;
} rows[] = {
    { "a type is written large", "{'type':'string'}", "{'type':'STRING'}" },
    { "or is so already", "{'type':'OBJECT'}", "{'type':'OBJECT'}" },
    { "anything", "{}", "{}" },
    { "anything, in short", "true", "{}" },
    { "nothing cannot be said", "false", "{} :false" },
    { "null beside a type", "{'type':['string','null']}",
      "{'nullable':true,'type':'STRING'}" },
    { "several types are choices, each with what is about it",
      "{'type':['string','number'],'minLength':1,'minimum':2}",
      "{'anyOf':[{'type':'STRING','minLength':1},"
      "{'type':'NUMBER','minimum':2}]}" },
    { "remarks go without a word",
      "{'type':'string','$schema':'s','$id':'i','$comment':'c',"
      "'default':'d','examples':['e'],'x-own':1,'title':'t'}",
      "{'title':'t','type':'STRING'}" },
    { "no other properties: they never come",
      "{'type':'object','additionalProperties':false}", "{'type':'OBJECT'}" },
    { "others of a kind cannot be said",
      "{'type':'object','additionalProperties':{'type':'string'}}",
      "{'type':'OBJECT'} :additionalProperties" },
    { "a constant is an enum of one", "{'const':'a'}",
      "{'type':'STRING','enum':['a']}" },
    { "a number among the values", "{'enum':['a',1]}",
      "{'type':'STRING'} :enum" },
    { "null among the values", "{'enum':['a',null]}",
      "{'nullable':true,'type':'STRING','enum':['a']}" },
    { "limits of whole numbers move by one",
      "{'type':'integer','exclusiveMinimum':0,'exclusiveMaximum':9}",
      "{'type':'INTEGER','minimum':1,'maximum':8}" },
    { "those of others do not",
      "{'type':'number','exclusiveMaximum':9}",
      "{'type':'NUMBER','maximum':9} :exclusiveMaximum" },
    { "a limit at the end of all numbers",
      "{'type':'integer','exclusiveMaximum':-9223372036854775808}",
      "{'type':'INTEGER','maximum':-9223372036854775808} :exclusiveMaximum" },
    { "formats that are known",
      "{'type':'string','format':'date-time'}",
      "{'type':'STRING','format':'date-time'}" },
    { "and one that is not", "{'type':'string','format':'uuid'}",
      "{'type':'STRING'} :format" },
    { "one of several is any of them",
      "{'oneOf':[{'type':'string'},{'type':'integer'}]}",
      "{'anyOf':[{'type':'STRING'},{'type':'INTEGER'}]} :oneOf" },
    { "a loss in one of several",
      "{'anyOf':[{'type':'string'},{'type':'integer','not':{}}]}",
      "{'anyOf':[{'type':'STRING'},{'type':'INTEGER'}]} /anyOf/1:not" },
    { "what holds for all choices stands in each",
      "{'type':'object','description':'d','required':['a'],'properties':{'a':"
      "{}},'anyOf':[{'properties':{'b':{}},'required':['b']},{}]}",
      "{'description':'d','anyOf':[{'type':'OBJECT','properties':{'a':{},'b':"
      "{}},'required':['a','b']},{'type':'OBJECT','properties':{'a':{}},"
      "'required':['a']}]}" },
    { "a choice with null is no choice",
      "{'anyOf':[{'type':'string'},{'type':'null'}]}",
      "{'nullable':true,'type':'STRING'}" },
    { "all of one is that one", "{'allOf':[{'type':'string'}]}",
      "{'type':'STRING'}" },
    { "a reference is put in place",
      "{'$ref':'#/$defs/a~1b','$defs':{'a/b':{'type':'string'}}}",
      "{'type':'STRING'}" },
    { "one that leads nowhere", "{'$ref':'#/$defs/a','type':'object'}",
      "{'type':'OBJECT'} :$ref" },
    { "one that leads round",
      "{'type':'object','properties':{'x':{'$ref':'#'}}}",
      "{'type':'OBJECT','properties':{'x':{'type':'OBJECT'}}}"
      " /properties/x:$ref" },
    { "a list needs its elements", "{'type':'array'}",
      "{'type':'ARRAY','items':{}}" },
    { "a tuple",
      "{'type':'array','prefixItems':[{'type':'string'},{'type':'number'}]}",
      "{'type':'ARRAY','items':{'anyOf':[{'type':'STRING'},"
      "{'type':'NUMBER'}]}} :prefixItems" },
    { "a demand for what is not there",
      "{'type':'object','properties':{'a':{}},'required':['a','b']}",
      "{'type':'OBJECT','properties':{'a':{}},'required':['a']} :required" },
    { "names of properties are no keywords",
      "{'type':'object','properties':{'not':{'type':'string'},'$ref':"
      "{'not':{}}}}",
      "{'type':'OBJECT','properties':{'not':{'type':'STRING'},'$ref':{}}}"
      " /properties/$ref:not" },
};

static void tells_what_is_left(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf out;
        arena_init(&a, mem_default());
        buf_init(&out, &a, 1 << 20);
        check_row(rows[i].why);
        adapt(rows[i].schema, false, &a, &out);
        CHECK_SLICE(buf_slice(&out), slice_of(rows[i].adapted));
        arena_release(&a);
    }
}

static void keeps_the_order_if_requested(void)
{
    struct arena a;
    struct buf out;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 1 << 20);
    adapt("{'type':'object','properties':{'b':{},'a':{}}}", true, &a, &out);
    CHECK_SLICE(buf_slice(&out),
                SLICE("{'type':'OBJECT','properties':{'b':{},'a':{}},"
                      "'propertyOrdering':['b','a']}"));
    arena_release(&a);
}

/* Every level refers to the next one twice: 2^40 without a limit. */
static void does_not_grow_without_end(void)
{
    struct arena a;
    struct buf schema, out;
    arena_init(&a, mem_default());
    buf_init(&schema, &a, 1 << 20);
    buf_init(&out, &a, 16 << 20);
    buf_text(&schema, "{'$ref':'#/$defs/n0','$defs':{");
    for (int i = 0; i < 40; i++)
        buf_format(&schema,
                   "'n%d':{'type':'object','properties':{'a':{'$ref':"
                   "'#/$defs/n%d'},'b':{'$ref':'#/$defs/n%d'}}},",
                   i, i + 1, i + 1);
    buf_text(&schema, "'n40':{}}}");
    adapt(schema.ptr, false, &a, &out);
    CHECK(!out.broken && strstr(out.ptr, ":depth"));
    arena_release(&a);
}

TESTS = {
    TEST(tells_what_is_left),
    TEST(keeps_the_order_if_requested),
    TEST_ONCE(does_not_grow_without_end),
    TESTS_END,
};
