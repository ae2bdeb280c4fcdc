/* test_dotenv.c - NAME=value lines, as keys.md describes them */
#include "engine/dotenv.h"

#include "base/buf.h"

#include "harness/check.h"

/* All assignments of a text as "NAME[value] NAME[value] ". */
static void read_all(struct buf *out, struct slice text)
{
    struct slice name, value;
    while (dotenv_next(&text, &name, &value)) {
        buf_add(out, name);
        buf_byte(out, '[');
        buf_add(out, value);
        buf_text(out, "] ");
    }
}

static const struct {
    const char *why, *text, *want;
} rows[] = {
    { "an assignment", "A=b", "A[b] " },
    { "several lines", "A=1\nB=2\nC=3\n", "A[1] B[2] C[3] " },
    { "lines may end in CRLF", "A=1\r\nB=2\r\n", "A[1] B[2] " },
    { "both kinds of line ends", "A=1\nB=2\r\nC=3", "A[1] B[2] C[3] " },
    { "a lone CR ends no line", "A=1\rB=2", "A[1\rB=2] " },
    { "nothing", "", "" },
    { "blank lines", "\n\n  \n\t\r\nA=1\n\n", "A[1] " },
    { "a comment", "# A=1\nB=2", "B[2] " },
    { "a comment behind white space", "   # A=1\nB=2", "B[2] " },
    { "no comment behind a value", "A=1 # one", "A[1 # one] " },
    { "export is dropped", "export A=1", "A[1] " },
    { "export, more spaces", "export    A=1", "A[1] " },
    { "only one export is dropped", "export export A=1", "" },
    { "export needs a space", "exportA=1", "exportA[1] " },
    { "export with a tab is a name with one", "export\tA=1", "" },
    { "a variable called export", "export=1", "export[1] " },
    { "white space around the line", "  A=1  ", "A[1] " },
    { "white space around the sign", "A = 1", "A[1] " },
    { "white space inside a value", "A=1 2", "A[1 2] " },
    { "only the first sign parts", "A=b=c==", "A[b=c==] " },
    { "an empty value", "A=", "A[] " },
    { "double quotes are dropped", "A=\"b\"", "A[b] " },
    { "one pair of them", "A=\"\"b\"\"", "A[\"b\"] " },
    { "quotes keep white space", "A=\" b \"", "A[ b ] " },
    { "white space around quotes", "A= \"b\" ", "A[b] " },
    { "empty quotes", "A=\"\"", "A[] " },
    { "a lone quote stays", "A=\"", "A[\"] " },
    { "a quote that is not closed stays", "A=\"b", "A[\"b] " },
    { "a quote that was not opened stays", "A=b\"", "A[b\"] " },
    { "single quotes stay", "A='b'", "A['b'] " },
    { "no escapes", "A=\"b\\nc\"", "A[b\\nc] " },
    { "no variables", "A=$HOME/${X}", "A[$HOME/${X}] " },
    { "no values of several lines", "A=\"b\nc\"\nB=2", "A[\"b] B[2] " },
    { "no sign", "A\nB=2", "B[2] " },
    { "no name", "=1\nB=2", "B[2] " },
    { "a name may not begin with a digit", "1A=1\nB=2", "B[2] " },
    { "a name has no dash", "A-B=1\nB=2", "B[2] " },
    { "a name has no space", "A B=1\nB=2", "B[2] " },
    { "a name has no other letters", "\xC3\x84=1\nB=2", "B[2] " },
    { "names", "_=1\na_9=2\nA9Z=3", "_[1] a_9[2] A9Z[3] " },
    { "a byte order mark is dropped", "\xEF\xBB\xBF" "A=1\nB=2",
      "A[1] B[2] " },
    { "before export and comments, too",
      "\xEF\xBB\xBF# B=1\n\xEF\xBB\xBF" "export A=1", "A[1] " },
    { "inside a line it spoils the name", "A\xEF\xBB\xBF=1\nB=2", "B[2] " },
    { "half of one is no mark", "\xEF\xBB" "A=1\nB=2", "B[2] " },
    { "bytes that are no UTF-8 pass", "A=\xFF\xFE", "A[\xFF\xFE] " },
    { "later ones stand behind", "A=1\nA=2", "A[1] A[2] " },
};

static void reads_as_the_page_says(void)
{
    struct arena a;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf out;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        buf_init(&out, &a, 10000);
        read_all(&out, slice_of(rows[i].text));
        CHECK_SLICE(buf_slice(&out), slice_of(rows[i].want));
        arena_release(&a);
    }
}

static void a_nul_is_a_byte_like_others(void)
{
    struct slice text = SLICE("A=1\0002\nB=3"), name, value;
    CHECK(dotenv_next(&text, &name, &value));
    CHECK_SLICE(value, SLICE("1\0002"));
    CHECK(dotenv_next(&text, &name, &value));
    CHECK_SLICE(name, SLICE("B"));
}

static void the_last_assignment_counts(void)
{
    static const struct {
        const char *why, *text, *name, *want;       /* NULL: none */
    } finds[] = {
        { "the only one", "A=1\nB=2", "A", "1" },
        { "the later one", "A=1\nB=2\nA=3", "A", "3" },
        { "even if it is empty", "A=1\nA=", "A", "" },
        { "a line that is none does not count", "A=1\nA\n#A=2", "A", "1" },
        { "none", "A=1", "B", NULL },
        { "names are told apart by case", "a=1", "A", NULL },
        { "a longer name", "AB=1", "A", NULL },
        { "xai does not look at XAI_TOKEN", "XAI_TOKEN=1", "XAI_API_KEY",
          NULL },
        { "nothing", "", "A", NULL },
    };
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++) {
        struct slice value = { NULL, 0 };
        check_row(finds[i].why);
        bool found = dotenv_find(slice_of(finds[i].text),
                                 slice_of(finds[i].name), &value);
        CHECK_INT(found, finds[i].want != NULL);
        CHECK_SLICE(value, slice_of(finds[i].want));
    }
}

/* Whatever the bytes are, values are pieces of the text, and it ends. */
static void any_bytes_are_read(void)
{
    static const char alphabet[] = "A=\"\r\n #export _1";
    struct random r = check_random();
    for (int i = 0; i < 20000; i++) {
        char text[40];
        size_t n = random_below(r, sizeof text);
        for (size_t k = 0; k < n; k++)
            text[k] = alphabet[random_below(r, sizeof alphabet)];
        struct slice rest = { text, n }, name, value;
        while (dotenv_next(&rest, &name, &value)) {
            CHECK(name.len > 0 && name.ptr >= text);
            CHECK(value.ptr >= text && value.ptr + value.len <= text + n);
        }
        CHECK_INT(rest.len, 0);
    }
}

TESTS = {
    TEST(reads_as_the_page_says),
    TEST(a_nul_is_a_byte_like_others),
    TEST(the_last_assignment_counts),
    TEST_ONCE(any_bytes_are_read),
    TESTS_END
};
