/*
 * test_markdown.c - Markdown on a terminal: what is shown, and that it does not
 * depend on how the text is split
 */
#include "allm.h"
#include "harness/answers.h"
#include "harness/check.h"
#include "term/bytes.h"
#include "term/markdown.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The output for a text that arrives in pieces of at most `piece` bytes. */
static void render_pieces(const char *text, size_t len, size_t piece,
                          size_t columns, enum markdown_look look,
                          struct bytes *out)
{
    struct markdown *m = markdown_new(columns, look);
    bytes_clear(out);
    for (size_t at = 0; at < len; at += piece)
        markdown_feed(m, text + at, len - at < piece ? len - at : piece, out);
    markdown_end(m, out);
    markdown_free(m);
}

/* ----------------------------------------------------------- the look --- */

static const struct {
    const char *why, *text, *plain, *color;
} looks[] = {
    { "a heading", "# One\n## *Two* ##", "# One\n## *Two*\n",
      "\033[0;1;4mOne\033[0m\n\033[0;1;3mTwo\033[0m\n" },
    { "words are wrapped", "one two three four five six",
      "one two three\nfour five six\n", "one two three\nfour five six\n" },
    { "styles end with the line", "**one two three four**",
      "**one two three\nfour**\n",
      "\033[0;1mone two three\033[0m\n\033[0;1mfour\033[0m\n" },
    { "a long word is broken", "0123456789abcdefghij",
      "0123456789abcde\nfghij\n", "0123456789abcde\nfghij\n" },
    { "wide characters",
      "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
      "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac",
      "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
      "\xe6\x97\xa5\n\xe6\x9c\xac\n",
      "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
      "\xe6\x97\xa5\n\xe6\x9c\xac\n" },
    { "letters of several code points",
      "0123456789 \xe0\xa4\xa8\xe0\xa4\xbf\xe0\xa4\xa8\xe0\xa4\xbf"
      "\xe0\xa4\xa8",
      "0123456789\n\xe0\xa4\xa8\xe0\xa4\xbf\xe0\xa4\xa8\xe0\xa4\xbf"
      "\xe0\xa4\xa8\n", NULL },
    { "code is not wrapped", "```c\nint one_two_three = 4;\n```",
      "```c\nint one_two_three = 4;\n```\n",
      "\033[0;2mc\033[0m\n\033[0;36mint one_two_three = 4;\033[0m\n" },
    { "a list", "1. a\n1. b\n   - c\n\n   d", "1. a\n2. b\n   - c\n\n   d\n",
      "1. a\n2. b\n   \xe2\x80\xa2 c\n\n   d\n" },
    { "a task", "- [ ] a\n- [x] b", "- [ ] a\n- [x] b\n",
      "\xe2\x80\xa2 [ ] a\n\xe2\x80\xa2 [x] b\n" },
    { "a quote", "> one two three four", "> one two three\n> four\n",
      "\033[0;2m\xe2\x94\x82 \033[0mone two three\n"
      "\033[0;2m\xe2\x94\x82 \033[0mfour\n" },
    { "a table", "|a|b|\n|-|-:|\n|cc|1|\n", "a  | b\n---+--\ncc | 1\n", NULL },
    { "a table below a line of text", "t\n|a|b|\n|-|-|\n|1|2|\n",
      "t\na | b\n--+--\n1 | 2\n", NULL },
    { "a line of text that is no table", "t\n|a|b|\nc\n|d\n",
      "t |a|b| c |d\n", NULL },
    { "a quote that goes on lazily", "> |a|b|\nc\n", "> |a|b| c\n", NULL },
    { "a table that is shrunk", "|a|b|\n|-|-|\n|one two three|x|\n",
      "a           | b\n------------+--\none two     | x\nthree       |\n",
      NULL },
    { "references by name", "&Dcaron;&ngE;&fjlig; &amp;amp; &no; &copy",
      "\xc4\x8e\xe2\x89\xa7\xcc\xb8" "fj &amp; &no;\n&copy\n",
      NULL },
    { "the longest name", "&CounterClockwiseContourIntegral;",
      "\xe2\x88\xb3\n", NULL },
    { "escaped in an address", "[](http://\\&gt;)",
      "(http://&gt;)\n", NULL },
    { "a link", "[a](http://b) [c](x) <http://d>", "a (http://b) c\nhttp://d\n",
      "\033[0;4ma\033[0m (http://b) \033[0;4mc\033[0m\n\033[0;4mhttp://d\033[0m"
      "\n" },
    { "a link that would run code", "[a](javascript:x)", "a\n",
      "\033[0;4ma\033[0m\n" },
    { "addresses of links", "[a][1] b\n[1]: x\n[2]:\ny\n[3] z\n[]: w",
      "[a][1] b\n[1]: x\n[2]: y [3] z\n[]: w\n", NULL },
    { "an image", "![a *b*](c)", "[image: a *b*]\n",
      "[image: a \033[0;3mb\033[0m]\n" },
    { "control characters", "\033[31m \x9b\n\n`\a`\n",
      "\\u001b[31m \\x9b\n\n`\\u0007`\n", NULL },
    { "removed from an address", "[a](http://b\033\x9b&#27;&#155;&#10;&#13;c)",
      "a (http://bc)\n", NULL },
    { "a carriage return by reference", "a&#13;b", "a\\u000db\n",
      "a\\u000db\n" },
    { "a line end by reference", "a&#10;b\n```c&#10;d\n```",
      "a b\n```cd\n```\n", "a b\n\033[0;2mcd\033[0m\n" },
    { "by reference", "&#27;[31m &#x202e;", "\\u001b[31m\n\\u202e\n", NULL },
    { "what is never closed", "*a **b `c [d", "*a **b `c [d\n",
      "*a **b `c [d\n" },
    { "CRLF", "a\r\nb\r\n\r\nc\r\n", "a b\n\nc\n", "a b\n\nc\n" },
    { "a style before a letter of several bytes", "**\xc3\x9c**x\n\n*\xe2\x82"
      "\xac*", "**\xc3\x9c**x\n\n*\xe2\x82\xac*\n",
      "\033[0;1m\xc3\x9c\033[0mx\n\n\033[0;3m\xe2\x82\xac\033[0m\n" },
    { "an empty item does not end a paragraph", "a\n+      \nb", "a +\nb\n",
      "a +\nb\n" },
    { "an item that begins with code", "-      a", "-      a\n", NULL },
    { "a backslash before a space", "a\\ \nb\\  \nc", "a\\ b\\\nc\n", NULL },
    { "a backslash in a table", "|a|\n|-|\n|\\\n", "a\n-\n\\\n", NULL },
    { "an underline is no row of a table", "|a|\n-\n\n|b|\n- - -\n",
      "|a|\n---\n\n|b|\n---\n", NULL },
    { "an underlined backslash", "1. \n\\\n---\n", "1. \n\\\n---\n", NULL },
    { "an underline of nothing", "- a\n- b\n\n&#32;\n===\n",
      "- a\n- b\n\n===\n", NULL },
    { "a long word in an item", "a\n\n- 0123456789abcdef",
      "a\n\n- 0123456789abc\n  def\n", NULL },
    { "no text", "", "", "" },
    { "blank lines", "\n\na\n\n\n\nb\n\n", "a\n\nb\n", "a\n\nb\n" },
};

/* Replace the sequences of links by braces; drop those of styles. */
static void show_links(const char *out, struct bytes *shown)
{
    bytes_clear(shown);
    while (*out) {
        bool link = !strncmp(out, "\033]8;;", 5);
        size_t n = link ? strcspn(out + 5, "\033") + 7 : strcspn(out, "m") + 1;
        if (link)
            bytes_format(shown, "{%.*s}", (int)n - 7, out + 5);
        else if (*out != '\033')
            bytes_byte(shown, *out);
        out += *out == '\033' ? n : 1;
    }
}

static void shows_blocks(void)
{
    struct bytes out = { NULL, 0, 0 };
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        size_t len = strlen(looks[i].text);
        check_row(looks[i].why);
        render_pieces(looks[i].text, len, len + 1, 15, MARKDOWN_PLAIN, &out);
        if (looks[i].plain)
            CHECK_TEXT(bytes_string(&out), looks[i].plain);
        CHECK(!strchr(bytes_string(&out), '\033'));
        render_pieces(looks[i].text, len, len + 1, 15, MARKDOWN_COLOR, &out);
        if (looks[i].color)
            CHECK_TEXT(bytes_string(&out), looks[i].color);
    }
    bytes_release(&out);
}

/* Links that the terminal opens.  {U} begins one, {} ends it. */
static void shows_links(void)
{
    static const struct {
        const char *why, *text, *shown;
    } rows[] = {
        { "a link", "[a b](http://b) c", "{http://b}a b{} c\n" },
        { "its end is the end of the line", "[one two three four](http://b)",
          "{http://b}one two three{}\n{http://b}four{}\n" },
        { "a style in it", "[a *b* c](https://b)", "{https://b}a b c{}\n" },
        { "side by side", "[a](http://b)[c](http://d) [e](http://f)",
          "{http://b}a{http://d}c{} {http://f}e{}\n" },
        { "the same in a table", "|a|b|\n|-|-|\n|[x](http://m)|y|\n",
          "a \xe2\x94\x82 b\n\xe2\x94\x80\xe2\x94\x80\xe2\x94\xbc\xe2\x94\x80"
          "\xe2\x94\x80\n{http://m}x{} \xe2\x94\x82 y\n" },
        { "in pointed brackets", "<http://a><HTTPS://b> <c@d.e> <xx:y>",
          "{http://a}http://a{HTTPS://b}HTTPS:/{}\n{HTTPS://b}/b{} "
          "{mailto:c@d.e}c@d.e{} xx:y\n" },
        { "an image in a link", "[![a](b)](mailto:c)",
          "{mailto:c}[image: a]{}\n" },
        { "one that is not opened", "[a](javascript:b) [c](d) [e](http://)",
          "a c e\n" },
        { "control characters", "[a](http://b\033]8;;\a&#27;\\c\xff)",
          "{http://b]8;;%5Cc}a{}\n" },
        { "other characters", "[a](<http://b c\xc3\xa4;d>)",
          "{http://b%20c%C3%A4;d}a{}\n" },
        { "what is never closed", "[a](http://b", "[a](http://b\n" },
    };
    struct bytes out = { NULL, 0, 0 }, shown = { NULL, 0, 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].text);
        check_row(rows[i].why);
        for (size_t piece = 1; piece <= len; piece++) {
            render_pieces(rows[i].text, len, piece, 15, MARKDOWN_LINKS, &out);
            show_links(bytes_string(&out), &shown);
            CHECK_TEXT(bytes_string(&shown), rows[i].shown);
        }
    }
    bytes_release(&out);
    bytes_release(&shown);
}

/* What is written after each piece. */
static void writes_early(void)
{
    static const char *const rows[][2] = {
        { "He", "" },        { "llo", "" },      { " wor", "Hello" },
        { "ld *is", " world" }, { " it", "" },   { "*, ", " *is it*," },
        { "`a", "" },        { "` b ", " `a` b" }, { "c\n", " c" },
        { "\n", "\n" },      { "```\n", "\n```\n" }, { "x", "x" },
        { "y\n", "y\n" },    { "``", "" },       { "`\n", "```\n" },
        { "|a|\n", "" },     { "|-|\n", "" },    { "|b|\n", "" },
        { "\n", "a\n-\nb\n" },
    };
    struct markdown *m = markdown_new(80, MARKDOWN_PLAIN);
    struct bytes out = { NULL, 0, 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i][0]);
        bytes_clear(&out);
        markdown_feed(m, rows[i][0], strlen(rows[i][0]), &out);
        CHECK_TEXT(bytes_string(&out), rows[i][1]);
    }
    markdown_free(m);
    bytes_release(&out);
}

/* A model's tokens begin with a blank.  A word is written at most one of them
 * late, and code without delay. */
static void is_one_token_late(void)
{
    static const char text[] = "The quick brown fox, a \"friend\", jumps over "
                               "the 3 lazy dogs (or not)";
    struct markdown *m = markdown_new(80, MARKDOWN_COLOR);
    struct bytes out = { NULL, 0, 0 };
    size_t before = 0; /* where the last token began */
    for (size_t at = 0; text[at];) {
        size_t n = 1 + strcspn(text + at + 1, " ");
        markdown_feed(m, text + at, n, &out);
        CHECK_WHY(out.len >= before + (before > 0), "late by two tokens");
        CHECK(!memcmp(out.ptr ? out.ptr : "", text, out.len));
        at += n;
        before = at - n + 1;
    }
    bytes_clear(&out);
    markdown_feed(m, "\n\n```\n", 6, &out);
    bytes_clear(&out);
    markdown_feed(m, "x = 1", 5, &out);
    CHECK(strstr(bytes_string(&out), "x = 1") != NULL);
    markdown_free(m);
    bytes_release(&out);
}

static void wraps_at_a_new_width(void)
{
    struct markdown *m = markdown_new(80, MARKDOWN_PLAIN);
    struct bytes out = { NULL, 0, 0 };
    markdown_feed(m, "one two three ", 14, &out);
    markdown_resize(m, 10);
    markdown_feed(m, "four five six seven\n", 20, &out);
    markdown_end(m, &out);
    CHECK_TEXT(bytes_string(&out), "one two three\nfour five\nsix seven\n");
    markdown_free(m);
    bytes_release(&out);
}

/* ------------------------------------------------------------- splits --- */

/* Every line of coloured output ends without a style or a link, and there is no
 * other escape sequence or control character. */
static bool styles_end(const char *out)
{
    bool on = false, link = false;
    for (; *out; out++) {
        if (!strncmp(out, "\033]8;;", 5)) {
            size_t n = strcspn(out + 5, "\033\n");
            link = n > 0;
            out += 5 + n;
            if (strncmp(out, "\033\\", 2) != 0)
                return false;
        } else if (*out == '\033') {
            on = strncmp(out, "\033[0m", 4) != 0;
            size_t n = strspn(out + 1, "[0;123469");
            if (n < 2 || out[1 + n] != 'm')
                return false;
        } else if ((unsigned char)*out < ' ' && !strchr("\n\t", *out)) {
            return false;
        }
        if (*out == '\n' && (on || link))
            return false;
    }
    return true;
}

/* Feed the text up to each of the places, in ascending order. */
static void render_cuts(const char *text, size_t len, const size_t *cuts,
                        size_t count, struct bytes *out)
{
    struct markdown *m = markdown_new(40, MARKDOWN_LINKS);
    size_t at = 0;
    bytes_clear(out);
    for (size_t i = 0; i < count; i++) {
        markdown_feed(m, text + at, cuts[i] - at, out);
        at = cuts[i];
    }
    markdown_feed(m, text + at, len - at, out);
    markdown_end(m, out);
    markdown_free(m);
}

/* Places at which a text is cut, each after the one before. */
static size_t choose_cuts(struct random r, size_t len, size_t *cuts,
                          size_t most)
{
    size_t count = 0, step = 1 + (size_t)random_below(r, len < 60 ? len : 60);
    for (size_t at = 0; count < most;) {
        at += 1 + (size_t)random_below(r, step);
        if (at >= len)
            break;
        cuts[count++] = at;
    }
    return count;
}

/* At each place up to `most`, in pieces of each size up to `most`, and `times`
 * at random places. */
static void check_splits(const char *text, size_t len, size_t most,
                         size_t times, struct random r)
{
    static size_t cuts[10000];
    struct bytes whole = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    render_cuts(text, len, cuts, 0, &whole);
    CHECK(styles_end(bytes_string(&whole)));
    for (size_t at = 1; at < len && at <= most; at += check_stride()) {
        render_cuts(text, len, &at, 1, &out);
        CHECK_TEXT(bytes_string(&out), bytes_string(&whole));
        render_pieces(text, len, at, 40, MARKDOWN_LINKS, &out);
        CHECK_TEXT(bytes_string(&out), bytes_string(&whole));
    }
    for (size_t i = 0; i < times; i++) {
        size_t n = choose_cuts(r, len, cuts, sizeof cuts / sizeof *cuts);
        render_cuts(text, len, cuts, n, &out);
        CHECK_TEXT(bytes_string(&out), bytes_string(&whole));
    }
    bytes_release(&whole);
    bytes_release(&out);
}

static char *load_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    if (file) {
        bytes = calloc(1, 1 << 20);
        *len = fread(bytes, 1, (1 << 20) - 1, file);
        fclose(file);
    }
    return bytes;
}

static void splits_of_the_examples(void)
{
    size_t len = 0, text_len;
    struct random r = check_random();
    char *bytes = load_file("/usr/share/gocode/src/github.com/yuin/goldmark/"
                            "_test/spec.json",
                            &len);
    if (!bytes) {
        check_skip("the package golang-github-yuin-goldmark-dev is missing");
        return;
    }
    allm_json *examples = allm_json_parse(bytes, len, NULL);
    for (const allm_json *e = NULL; (e = allm_json_next(examples, e));) {
        const char *text = allm_json_text(allm_json_get(e, "markdown"),
                                          &text_len);
        check_row(text);
        check_splits(text, text_len, 400, 8, r);
    }
    allm_json_free(examples);
    free(bytes);
}

/* 200 answers, each split in 40 ways at random: with the 652 examples these are
 * more than 10,000. */
static void splits_of_answers(void)
{
    static char text[ANSWER_SIZE];
    struct random r = check_random();
    for (size_t i = 0; i < ANSWERS; i += check_stride()) {
        size_t len = answer_write(i, text);
        check_row(text);
        check_splits(text, len, 400, 40, r);
    }
}

/* The pages of this project, in parts that are as long as an answer. */
static void splits_of_pages(void)
{
    char path[4096];
    const char *root = getenv("SOURCE_DIR");
    struct random r = check_random();
    snprintf(path, sizeof path, "%s/docs", root ? root : ".");
    DIR *dir = opendir(path);
    CHECK(dir != NULL);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t len = 0;
        snprintf(path, sizeof path, "%s/docs/%s", root ? root : ".", e->d_name);
        char *text = strstr(e->d_name, ".md") ? load_file(path, &len) : NULL;
        check_row(e->d_name);
        for (size_t at = 0; text && at < len; at += 3000)
            check_splits(text + at, len - at < 3000 ? len - at : 3000, 8, 8, r);
        free(text);
    }
    if (dir)
        closedir(dir);
}

/* Pieces of Markdown and of escape sequences, in any order. */
static void splits_of_random_texts(void)
{
    static const char *const words[] = {
        "*",
        "**",
        "_",
        "`",
        "```",
        "~~",
        "[",
        "](",
        ")",
        "![",
        "<",
        ">",
        "&",
        "&amp;",
        "\\",
        "#",
        "# ",
        "- ",
        "1. ",
        "> ",
        "|",
        "|-|",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        "    ",
        "  \n",
        "word ",
        "a",
        "\xe6\x97\xa5",
        "\xcc\x81",
        "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
        "\033[1m",
        "\xff",
        "\r",
        "http://x.y",
        "---",
        "===",
        "<div>",
        "<!--",
        "-->",
        " ",
        ":",
        "\xe2\x80",
    };
    struct random r = check_random();
    struct bytes text = { NULL, 0, 0 };
    for (size_t i = 0; i < 4000 / check_stride(); i++) {
        bytes_clear(&text);
        for (uint64_t n = random_below(r, 60) + 1; n; n--)
            bytes_text(&text,
                       words[random_below(r, sizeof words / sizeof *words)]);
        check_row(text.ptr);
        struct bytes whole = { NULL, 0, 0 }, out = { NULL, 0, 0 };
        size_t width = 1 + random_below(r, 30);
        enum markdown_look look = i % 2 ? MARKDOWN_COLOR : MARKDOWN_LINKS;
        render_pieces(text.ptr, text.len, text.len, width, look, &whole);
        render_pieces(text.ptr, text.len, 1 + random_below(r, 7), width, look,
                      &out);
        CHECK_TEXT(bytes_string(&out), bytes_string(&whole));
        CHECK(styles_end(bytes_string(&out)));
        bytes_release(&whole);
        bytes_release(&out);
    }
    bytes_release(&text);
}

/* ---------------------------------------------------------- bad input --- */

static double seconds_for(const char *before, const char *piece, size_t times)
{
    struct bytes text = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    bytes_text(&text, before);
    while (times--)
        bytes_text(&text, piece);
    clock_t began = clock();
    render_pieces(text.ptr, text.len, 4096, 80, MARKDOWN_LINKS, &out);
    double took = (double)(clock() - began) / CLOCKS_PER_SEC;
    bytes_release(&text);
    bytes_release(&out);
    return took;
}

/* Twice the text takes about twice the time, whatever it is. */
static void takes_linear_time(void)
{
    static const struct {
        const char *before, *piece;
    } rows[] = {
        { "", "> " },      { "", "*" },         { "", "*a " },
        { "", "**a *" },   { "_", "*a* " },     { "", "[" },
        { "", "[a](" },    { "[", "[] " },      { "", "![" },
        { "", "`a ``" },   { "", "<a " },       { "", "<a b='" },
        { "", "&#" },      { "", "&a" },        { "", "\\" },
        { "", "- " },      { "", "1. " },       { "", "* * " },
        { "", "|a" },      { "|a|\n|-|\n", "|b" }, { "|a|\n|-|\n", "|b|\n" },
        { "", "|a|\n|-|\n" }, { "", "word" },   { "", " " },
        { "x", " " },      { "", "\t" },        { "", "\n" },
        { "", "> a\n" },   { "", "```" },       { "", "```\n" },
        { "```\n", "x" },  { "", "=" },         { "a\n", "=" },
        { "", "# #" },     { "", "<!--" },      { "", "<div>\n" },
        { "", "\033[1m" }, { "", "\xe6\x97\xa5" }, { "a", "\xcc\x81" },
        { "", "\xe2\x80\x8d" }, { "", "a**b" },  { "", "_a__b_" },
        { "", "]" },       { "", "[a](b)" },    { "", "> > \n" },
        { "", "- a\n  " }, { "", "~~a" },       { "", "](<" },
        { "a\n", "[a]:\n" }, { "a\n", "[\\]\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *before = rows[i].before, *piece = rows[i].piece;
        size_t times = 250000 / strlen(piece) / check_stride();
        check_row(piece);
        double once = seconds_for(before, piece, times);
        double four = seconds_for(before, piece, 4 * times);
        CHECK_WHY(four < 8 * once + 0.2, "not linear");
    }
}

/* A table of 10,000 columns; and rows that go on after 64 KiB. */
static void shows_wide_tables_as_lines(void)
{
    struct bytes text = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < 10000; i++)
            bytes_text(&text, row == 1 ? "|-" : "|a");
        bytes_text(&text, "|\n");
    }
    render_pieces(text.ptr, text.len, text.len, 80, MARKDOWN_PLAIN, &out);
    CHECK_TEXT(bytes_string(&out), bytes_string(&text));
    bytes_clear(&text);
    bytes_text(&text, "|a|\n|-|\n");
    for (int i = 0; i < 20000; i++)
        bytes_text(&text, "|bbb|\n");
    render_pieces(text.ptr, text.len, 1000, 80, MARKDOWN_PLAIN, &out);
    CHECK_TEXT(bytes_string(&out), bytes_string(&text));
    bytes_release(&text);
    bytes_release(&out);
}

TESTS = { TEST(shows_blocks),
          TEST(shows_links),
          TEST(writes_early),
          TEST(is_one_token_late),
          TEST(wraps_at_a_new_width),
          TEST_ONCE(splits_of_the_examples),
          TEST_ONCE(splits_of_answers),
          TEST_ONCE(splits_of_pages),
          TEST_ONCE(splits_of_random_texts),
          TEST_ONCE(takes_linear_time),
          TEST_ONCE(shows_wide_tables_as_lines),
          TESTS_END };
