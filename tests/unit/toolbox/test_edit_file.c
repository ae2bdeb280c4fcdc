/*
 * test_edit_file.c - the built-in tools that write files
 *
 * tag: thread
 */
#include "harness/box.h"
#include "harness/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct row {
    const char *why, *tool, *args;
    const char *want;           /* a part of the answer */
    const char *file;           /* afterwards; NULL: there is none */
};

/* In a new folder; so there is no more to see after a failed allocation. */
static void check_edit(const struct row *row, const char *before)
{
    struct box b;
    if (!check_whole())
        return;
    check_row(row->why);
    box_open(&b, "code");
    if (before)
        external_file("f", before);
    const char *got = box_call(&b, row->tool, row->args);
    CHECK_WHY(strstr(got, row->want) != NULL, got);
    CHECK_TEXT(box_file(&b, "f"), row->file);
    box_close(&b);
}

static void writes_files(void)
{
    static const struct row rows[] = {
        { "a new file", "write_file", "{'path': 'f', 'content': 'a\\nb\\n'}",
          "created f, 2 lines", "a\nb\n" },
        { "no LF at the end", "write_file", "{'path': 'f', 'content': 'a\\nb'}",
          "created f, 2 lines", "a\nb" },
        { "nothing", "write_file", "{'path': 'f', 'content': ''}",
          "created f, 0 lines", "" },
        { "append to a new file", "append_to_file",
          "{'path': 'f', 'content': 'abc'}", "f has 3 bytes now", "abc" },
        { "no content", "write_file", "{'path': 'f'}", "invalid_arguments",
          NULL },
        { "outside", "write_file", "{'path': '../f', 'content': 'x'}",
          "outside_root", NULL },
        { "outside, appended", "append_to_file",
          "{'path': '/f', 'content': 'x'}", "outside_root", NULL },
        { "a folder", "write_file", "{'path': '.', 'content': 'x'}",
          "is a folder", NULL },
        { "a name that ends with a slash", "write_file",
          "{'path': 'f/', 'content': 'x'}", "is a folder", NULL },
    };
    static const struct row old[] = {
        { "an old file", "write_file", "{'path': 'f', 'content': 'x\\n'}",
          "replaced f, 1 line\n", "x\n" },
        { "append", "append_to_file", "{'path': './f', 'content': 'abc'}",
          "./f has 7 bytes now", "old\nabc" },
        { "below a file", "write_file", "{'path': 'f/g', 'content': 'x'}",
          "error", "old\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_edit(&rows[i], NULL);
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        check_edit(&old[i], "old\n");
}

static void creates_folders_and_keeps_modes(void)
{
    struct box b;
    struct stat st;
    char path[256];
    box_open(&b, "code");
    const char *got = box_call(&b, "write_file",
                               "{'path': 'a/b/c.txt', 'content': 'x'}");
    CHECK_WHY(strstr(got, "created a/b/c.txt") != NULL, got);
    CHECK_TEXT(box_file(&b, "a/b/c.txt"), "x");
    snprintf(path, sizeof path, "%s/a/b/c.txt", b.root);
    if (check_whole())
        CHECK(!chmod(path, 06751));
    box_call(&b, "write_file", "{'path': 'a/b/c.txt', 'content': 'y'}");
    if (!stat(path, &st))
        CHECK_INT(st.st_mode & 07777, 0751);
    got = box_call(&b, "write_file", "{'path': 'a/../../x/y', 'content': ''}");
    CHECK_WHY(strstr(got, "outside_root") != NULL, got);
    box_close(&b);
}

static void follows_links_in_the_root_only(void)
{
    struct box b;
    char path[256];
    box_open(&b, "code");
    external_file("f", "old");
    snprintf(path, sizeof path, "%s/in", b.root);
    CHECK_ALWAYS(!symlink("f", path));
    snprintf(path, sizeof path, "%s/out", b.root);
    CHECK_ALWAYS(!symlink("/tmp/allm-test-outside", path));
    snprintf(path, sizeof path, "%s/up", b.root);
    CHECK_ALWAYS(!symlink("..", path));
    box_call(&b, "write_file", "{'path': 'in', 'content': 'new'}");
    CHECK_TEXT(box_file(&b, "f"), "new");
    box_call(&b, "append_to_file", "{'path': 'in', 'content': '!'}");
    CHECK_TEXT(box_file(&b, "f"), "new!");
    const char *got = box_call(&b, "write_file",
                               "{'path': 'out', 'content': 'x'}");
    CHECK_WHY(strstr(got, "outside_root") != NULL, got);
    got = box_call(&b, "write_file",
                   "{'path': 'up/allm-test-outside', 'content': 'x'}");
    CHECK_WHY(strstr(got, "outside_root") != NULL, got);
    CHECK_ALWAYS(access("/tmp/allm-test-outside", F_OK) != 0);
    box_close(&b);
}

static void edits_files(void)
{
    static const struct row rows[] = {
        { "one match", "edit_file",
          "{'path': 'f', 'old_text': 'two', 'new_text': '2'}",
          "@@ line 2 @@\n one\n-two\n+2\n three\n", "one\n2\nthree\none\n" },
        { "several lines", "edit_file",
          "{'path': 'f', 'old_text': 'two\\nthree\\n', 'new_text': ''}",
          "-two\n-three\n", "one\none\n" },
        { "two matches", "edit_file",
          "{'path': 'f', 'old_text': 'one', 'new_text': '1'}",
          "2 times, in the lines 1, 4", "one\ntwo\nthree\none\n" },
        { "all", "edit_file",
          "{'path': 'f', 'old_text': 'one', 'new_text': '1', 'all': true}",
          "@@ line 4 @@\n 1\n two\n three\n-one\n+1\n", "1\ntwo\nthree\n1\n" },
        { "none", "edit_file",
          "{'path': 'f', 'old_text': 'thre e', 'new_text': 'x'}",
          "resemble it most:\\n     3\\tthree\\n", "one\ntwo\nthree\none\n" },
        { "nothing like it", "edit_file",
          "{'path': 'f', 'old_text': '9876', 'new_text': 'x'}",
          "is not in f; read the file first", "one\ntwo\nthree\none\n" },
        { "an empty text", "edit_file",
          "{'path': 'f', 'old_text': '', 'new_text': 'x'}",
          "old_text is empty", "one\ntwo\nthree\none\n" },
        { "the same", "edit_file",
          "{'path': 'f', 'old_text': 'two', 'new_text': 'two'}",
          "are the same", "one\ntwo\nthree\none\n" },
        { "no such file", "edit_file",
          "{'path': 'g', 'old_text': 'a', 'new_text': 'b'}",
          "write_file creates files", "one\ntwo\nthree\none\n" },
        { "several edits", "multi_edit",
          "{'path': 'f', 'edits': [{'old_text': 'two', 'new_text': 'x'}, "
          "{'old_text': 'x\\n', 'new_text': ''}]}",
          "@@ line 2 @@", "one\nthree\none\n" },
        { "one of them fails", "multi_edit",
          "{'path': 'f', 'edits': [{'old_text': 'two', 'new_text': 'x'}, "
          "{'old_text': 'two', 'new_text': 'y'}]}",
          "edit 2 of 2: old_text is not in f", "one\ntwo\nthree\none\n" },
        { "one of them is not unique", "multi_edit",
          "{'path': 'f', 'edits': [{'old_text': 'one', 'new_text': 'x'}]}",
          "edit 1 of 1: old_text is in f 2 times, in the lines 1, 4",
          "one\ntwo\nthree\none\n" },
        { "no edits", "multi_edit", "{'path': 'f', 'edits': []}",
          "invalid_arguments", "one\ntwo\nthree\none\n" },
        { "a wrong edit", "multi_edit", "{'path': 'f', 'edits': [{'a': 1}]}",
          "invalid_arguments", "one\ntwo\nthree\none\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_edit(&rows[i], "one\ntwo\nthree\none\n");
    static const struct row crlf = {
        "CR LF", "edit_file",
        "{'path': 'f', 'old_text': 'a\\nb', 'new_text': 'x'}",
        "whose lines end with CR LF", "a\r\nb\r\n",
    };
    check_edit(&crlf, "a\r\nb\r\n");
}

/* Calls of one turn run at once; no edit is lost. */
static void edits_one_after_the_other(void)
{
    enum { EDITS = 8 };
    struct box b;
    allm_stream *s[EDITS];
    box_open(&b, "code");
    external_file("f", "a0 a1 a2 a3 a4 a5 a6 a7");
    for (int i = 0; i < EDITS; i++) {
        char args[100];
        snprintf(args, sizeof args,
                 "{'path': 'f', 'old_text': 'a%d', 'new_text': 'b%d'}", i, i);
        s[i] = box_start(&b, "edit_file", args);
        const allm_event *event;
        allm_stream_next(s[i], &event);
    }
    for (int i = 0; i < EDITS; i++) {
        allm_stream_wait(s[i]);
        allm_stream_free(s[i]);
    }
    CHECK_TEXT(box_file(&b, "f"), "b0 b1 b2 b3 b4 b5 b6 b7");
    box_close(&b);
}

static void says_why_it_cannot_write(void)
{
    struct box b;
    char path[256];
    if (!geteuid()) {
        check_skip("root may write everywhere");
        return;
    }
    box_open(&b, "code");
    snprintf(path, sizeof path, "%s", external_file("f", "x"));
    CHECK_ALWAYS(!chmod(path, 0400));
    const char *got = box_call(&b, "write_file",
                               "{'path': 'f', 'content': 'y'}");
    CHECK_WHY(strstr(got, "error") != NULL, got);
    CHECK_TEXT(box_file(&b, "f"), "x");
    box_close(&b);
}

TESTS = {
    TEST(writes_files),
    TEST(creates_folders_and_keeps_modes),
    TEST(follows_links_in_the_root_only),
    TEST(edits_files),
    TEST_ONCE(edits_one_after_the_other),
    TEST_ONCE(says_why_it_cannot_write),
    TESTS_END,
};
