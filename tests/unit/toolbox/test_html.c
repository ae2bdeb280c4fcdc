/* test_html.c - the text of an HTML page */
#include "toolbox/html.h"

#include "harness/check.h"

static void check_text(const char *page, size_t len, const char *want)
{
    struct arena a;
    struct buf b;
    arena_init(&a, mem_default());
    buf_init(&b, &a, 1 << 20);
    html_text(&b, (struct slice){ page, len });
    CHECK(!b.broken);
    if (want)
        CHECK_SLICE(buf_slice(&b), slice_of(want));
    arena_release(&a);
}

static void leaves_the_text(void)
{
    static const struct {
        const char *why, *page, *want;
    } rows[] = {
        { "text", "a", "a\n" },
        { "white space", " a \n b\t", "a b\n" },
        { "tags", "<b>a</b><i class=x>b</i>", "ab\n" },
        { "blocks", "<h1>A</h1><p>b<p>c", "A\n\nb\n\nc\n" },
        { "lines", "a<br>b<div>c</div>d", "a\nb\nc\nd\n" },
        { "a list", "<ul><li>a<li>b</ul>", "- a\n- b\n" },
        { "a table", "<tr><td>a</td><td>b</td></tr>", "a |b |\n" },
        { "scripts", "a<script>x<y</script>b<STYLE>c</style>d", "abd\n" },
        { "a script that does not end", "a<script>b", "a\n" },
        { "comments", "a<!-- <b> -->b", "ab\n" },
        { "a type", "<!DOCTYPE html><title>T</title>a", "T\n\na\n" },
        { "a sign in quotes", "<a href=\">\">b</a>", "b\n" },
        { "entities", "&lt;&amp;&gt;&#65;&#x42;&eacute;", "<&>AB\xC3\xA9\n" },
        { "no entities", "a&b &nosuch; &#0; &", "a&b &nosuch; &#0; &\n" },
        { "no tags", "1 < 2", "1 < 2\n" },
        { "preformatted", "<pre>a  b\n c</pre>", "a  b\n c\n" },
        { "a tag that does not end", "a<b", "a\n" },
        { "nothing", "", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        check_text(rows[i].page, strlen(rows[i].page), rows[i].want);
    }
}

/* Any piece of a page, and any bytes. */
static void accepts_anything(void)
{
    static const char page[] =
        "<!DOCTYPE x><html><script>a</script><p title='x>'>&amp;&#x10;b<!-- c "
        "--><li>d</li><pre> e</pre>&#9999999999;<td>f</td>";
    struct random r = check_random();
    for (size_t i = 0; i < sizeof page; i++)
        check_text(page, i, NULL);
    for (int i = 0; i < 2000; i++) {
        char bytes[64];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = "<>&;#/!-ab'\" \n"[random_below(r, 14)];
        check_text(bytes, sizeof bytes, NULL);
    }
}

TESTS = {
    TEST(leaves_the_text),
    TEST_ONCE(accepts_anything),
    TESTS_END,
};
