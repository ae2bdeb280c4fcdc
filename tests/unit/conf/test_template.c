/* test_template.c - prompts in files: their header and their placeholders */
#include "conf/template.h"

#include "harness/check.h"

#include <stdio.h>
#include <string.h>

/* What the last notices said. */
struct heard {
    size_t fatal, warned, line;
    char text[256], unknown[64];
};

static void hear(void *ud, const struct notice *n)
{
    struct heard *h = ud;
    h->fatal += n->fatal;
    h->warned += !n->fatal;
    h->line = n->line;
    snprintf(h->text, sizeof h->text, "%s", n->text);
    snprintf(h->unknown, sizeof h->unknown, "%s", n->unknown ? n->unknown : "");
}

static bool parse(struct template_file *t, const char *text, struct heard *h)
{
    struct bytes bytes = { NULL, 0, 0 };
    *h = (struct heard){ .line = 0 };
    *t = (struct template_file){ .header = NULL };
    bytes_text(&bytes, text);
    bool fine = template_parse(t, "x.md", &bytes, hear, h);
    bytes_release(&bytes);
    return fine;
}

static void reads_headers(void)
{
    static const struct {
        const char *text, *header, *body;
    } rows[] = {
        { "plain", "{}", "plain" },
        { "", "{}", "" },
        { "---\n---\n", "{}", "" },
        { "---\n---\nbody\n\n", "{}", "body" },
        { "---\nmodel: openai:gpt-4.1\n---\nx",
          "{\"model\":\"openai:gpt-4.1\"}", "x" },
        { "---\r\nmodel:  m \t\r\n\r\n---\r\na\r\nb\r\n", "{\"model\":\"m\"}",
          "a\r\nb" },
        { "\xEF\xBB\xBF---\nsystem: Be \"brief\": now\n---\n",
          "{\"system\":\"Be \\\"brief\\\": now\"}", "" },
        { "---\nsystem: \"a\\nb\"\n---\n", "{\"system\":\"a\\nb\"}", "" },
        { "---\nsystem: \"a\" is a letter\n---\n",
          "{\"system\":\"\\\"a\\\" is a letter\"}", "" },
        { "---\nsystem: 5\n---\n", "{\"system\":\"5\"}", "" },
        { "---\ntools: a, b ,,c\n---\n", "{\"tools\":[\"a\",\"b\",\"c\"]}",
          "" },
        { "---\ntools: [\"a\"]\nattach: x.png\n---\n",
          "{\"tools\":[\"a\"],\"attach\":[\"x.png\"]}", "" },
        { "---\noptions: {\"temperature\": 0}\n---\n",
          "{\"options\":{\"temperature\":0}}", "" },
        { "---\nextract: true\n---\n", "{\"extract\":\"first\"}", "" },
        { "---\nextract: last\n---\n", "{\"extract\":\"last\"}", "" },
        { "---\nextract: false\n---\n", "{\"extract\":\"none\"}", "" },
        { "---\nschema: name, age int\n---\n", "{\"schema\":\"name, age int\"}",
          "" },
        { "---\nschema: {\"type\":\"object\"}\n---\n",
          "{\"schema\":{\"type\":\"object\"}}", "" },
        { "---\nparams: {\"a\":{\"default\":1}}\n---\n",
          "{\"params\":{\"a\":{\"default\":1}}}", "" },
        { "--- x\nbody", "{}", "--- x\nbody" },
        { "----\nbody", "{}", "----\nbody" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct template_file t;
        struct heard h;
        check_row(rows[i].text);
        CHECK(parse(&t, rows[i].text, &h));
        allm_text *header = allm_json_write(t.header, 0);
        CHECK_TEXT(allm_text_bytes(header, NULL), rows[i].header);
        CHECK_TEXT(bytes_string(&t.body), rows[i].body);
        CHECK(h.fatal + h.warned == 0);
        allm_text_free(header);
        template_release(&t);
    }
}

static void says_what_is_wrong(void)
{
    static const struct {
        const char *text;
        size_t line;
        const char *says;
    } rows[] = {
        { "---\nmodel: m\n", 1, "no end" },
        { "---", 1, "no end" },
        { "---\n\nmodel\n---\n", 3, "key: value" },
        { "---\n: x\n---\n", 2, "key: value" },
        { "---\nmodel: a\nmodel: b\n---\n", 3, "twice" },
        { "---\noptions: warm\n---\n", 2, "options: expected a JSON object" },
        { "---\noptions: {\"a\":\n---\n", 2, "in one line" },
        { "---\noptions:\n---\n", 2, "options: expected" },
        { "---\nschema: {bad\n---\n", 2, "schema: expected" },
        { "---\nschema:\n---\n", 2, "schema: expected" },
        { "---\ntools: [1]\n---\n", 2, "tools: expected a list" },
        { "---\ntools: [\"a\"\n---\n", 2, "tools: expected a list" },
        { "---\nextract: maybe\n---\n", 2, "extract: expected first" },
        { "---\nextract: 1\n---\n", 2, "extract: expected first" },
        { "---\nparams: {\"a\": \"x\"}\n---\n", 2, "params: expected" },
        { "---\nparams: []\n---\n", 2, "params: expected" },
        { "caf\xE9", 0, "UTF-8" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct template_file t;
        struct heard h;
        check_row(rows[i].text);
        CHECK(!parse(&t, rows[i].text, &h));
        CHECK_INT(h.fatal, 1);
        CHECK_INT(h.line, rows[i].line);
        CHECK(strstr(h.text, rows[i].says));
        template_release(&t);
    }
}

static void warns_of_unknown_keys(void)
{
    struct template_file t;
    struct heard h;
    CHECK(parse(&t, "---\nmodle: m\nsystem: s\n---\nx", &h));
    CHECK_INT(h.warned, 1);
    CHECK_INT(h.line, 2);
    CHECK_TEXT(h.unknown, "modle");
    CHECK_TEXT(template_text(&t, "system"), "s");
    CHECK(!template_text(&t, "model"));
    template_release(&t);
}

/* A header that is cut anywhere, or has any byte changed, never crashes. */
static void survives_damage(void)
{
    static const char whole[] =
        "---\nmodel: m\noptions: {\"a\":[1]}\nparams: {\"p\":{}}\n---\n"
        "$p ${p} $$ $";
    for (size_t i = 0; i < sizeof whole - 1; i++)
        for (int c = 0; c < 256; c += 17) {
            char text[sizeof whole];
            struct template_file t;
            struct heard h;
            struct bytes out = { NULL, 0, 0 };
            const struct template_values none = { NULL, NULL, 0 };
            memcpy(text, whole, sizeof whole);
            text[i] = (char)c;
            if (parse(&t, text, &h))
                template_fill(&t, &none, &out);
            else
                CHECK(h.fatal > 0);
            bytes_release(&out);
            template_release(&t);
        }
}

static void fills_placeholders(void)
{
    static const struct {
        const char *body, *want;
        bool whole;
    } rows[] = {
        { "", "", true },
        { "Hi $name!", "Hi Bob!", true },
        { "${name}s", "Bobs", true },
        { "$input$input", "ININ", true },
        { "$$name $$$name", "$name $Bob", true },
        { "cost $5, $", "cost $5, $", true },
        { "$", "$", true },
        { "${", "${", true },
        { "${}", "${}", true },
        { "${name", "${name", true },
        { "${name:-x}", "${name:-x}", true },
        { "${ name }", "${ name }", true },
        { "$dollar", "$name ${name} $$", true },
        { "$n $t $l", "42 true [1,\"a\"]", true },
        { "$given $preset", "mine theirs", true },
        { "$empty.", ".", true },
        { "$name_", "name_", false },
        { "$a $b ${a}", "a, b", false },
        { "$b $name $ab $a", "b, ab, a", false },
    };
    static const char values[] =
        "{\"name\":\"Bob\",\"dollar\":\"$name ${name} $$\",\"n\":42,\"t\":true,"
        "\"l\":[1,\"a\"],\"given\":\"mine\",\"empty\":\"\"}";
    allm_json *params = allm_json_parse(values, ALLM_NUL_ENDED, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct template_file t;
        struct heard h;
        struct bytes text = { NULL, 0, 0 }, out = { NULL, 0, 0 };
        const struct template_values v = { params, "IN", 2 };
        check_row(rows[i].body);
        bytes_format(&text,
                     "---\nparams: {\"given\":{\"default\":\"x\"},\"preset\":"
                     "{\"default\":\"theirs\"}}\n---\n%s",
                     rows[i].body);
        CHECK(parse(&t, bytes_string(&text), &h));
        bytes_text(&out, "> ");
        CHECK(template_fill(&t, &v, &out) == rows[i].whole);
        CHECK_TEXT(bytes_string(&out) + 2, rows[i].want);
        bytes_release(&out);
        bytes_release(&text);
        template_release(&t);
    }
    allm_json_free(params);
}

static void input_is_a_parameter(void)
{
    struct template_file t;
    struct heard h;
    struct bytes out = { NULL, 0, 0 };
    const struct template_values none = { NULL, NULL, 0 },
                                 empty = { NULL, "",
                                                                     0 };
    CHECK(parse(&t, "a $input b", &h));
    CHECK(template_uses(&t, "input") && !template_uses(&t, "put"));
    CHECK(!template_fill(&t, &none, &out));
    CHECK_TEXT(bytes_string(&out), "input");
    bytes_clear(&out);
    CHECK(template_fill(&t, &empty, &out));
    CHECK_TEXT(bytes_string(&out), "a  b");
    template_release(&t);
    CHECK(parse(&t, "$$input $inputs", &h));
    CHECK(!template_uses(&t, "input"));
    template_release(&t);
    bytes_release(&out);
}

static void describes_parameters(void)
{
    struct template_file t;
    struct heard h;
    struct bytes out = { NULL, 0, 0 };
    CHECK(parse(&t,
                "---\nsystem: You are $who.\nparams: {\"to\":{\"default\":"
                "\"French\",\"description\":\"the language\"}}\n---\n"
                "$to $tone $input $tone",
                &h));
    template_describe(&t, &out);
    CHECK_TEXT(bytes_string(&out),
               "  to               the language (default: French)\n"
               "  tone\n"
               "  input            the piped text, or else the arguments\n"
               "  who\n");
    const struct template_values none = { NULL, NULL, 0 };
    bytes_clear(&out);
    CHECK(!template_fill_system(&t, &none, &out));
    CHECK_TEXT(bytes_string(&out), "who");
    template_release(&t);
    bytes_release(&out);
}

static void reads_what_it_writes(void)
{
    static const struct {
        const char *header, *body;
    } rows[] = {
        { "{}", "x" },
        { "{}", "---\nrule" },
        { "{\"model\":\"openai:gpt-4.1\",\"system\":\"Be brief.\"}", "a $b" },
        { "{\"system\":\"two\\nlines\"}", "" },
        { "{\"system\":\" space\"}", "b" },
        { "{\"system\":\"\\\"quoted\\\"\"}", "b" },
        { "{\"system\":\"{x}\"}", "b" },
        { "{\"system\":\"\"}", "b" },
        { "{\"options\":{\"a\":1},\"attach\":[\"x\"],\"extract\":\"all\"}",
          "a\nb" },
        { "{\"schema\":{\"type\":\"object\"},\"params\":{\"a\":{}}}", "$a" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct template_file t;
        struct heard h;
        struct bytes text = { NULL, 0, 0 };
        check_row(rows[i].header);
        allm_json *header = allm_json_parse(rows[i].header, ALLM_NUL_ENDED,
                                            NULL);
        template_write(header, rows[i].body, &text);
        CHECK(parse(&t, bytes_string(&text), &h));
        CHECK(allm_json_equal(t.header, header));
        CHECK_TEXT(bytes_string(&t.body), rows[i].body);
        template_release(&t);
        allm_json_free(header);
        bytes_release(&text);
    }
}

static void names_are_no_paths(void)
{
    static const struct {
        const char *word;
        bool name;
    } rows[] = {
        { "review", true }, { "a.b", true },        { "", false },
        { ".", false },     { "..", false },        { ".x", false },
        { "a/b", false },   { "mcp:server", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].word);
        CHECK(template_is_name(rows[i].word) == rows[i].name);
    }
}

TESTS = {
    TEST(reads_headers),
    TEST(says_what_is_wrong),
    TEST(warns_of_unknown_keys),
    TEST_ONCE(survives_damage),
    TEST(fills_placeholders),
    TEST(input_is_a_parameter),
    TEST(describes_parameters),
    TEST(reads_what_it_writes),
    TEST(names_are_no_paths),
    TESTS_END,
};
