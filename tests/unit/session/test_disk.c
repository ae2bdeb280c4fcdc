/* test_disk.c - sessions in files */
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/turns.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/allm-sess-XXXXXX";
static char path[64], lock[80];

static void begin(void)
{
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    CHECK_ALWAYS(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/session", folder);
    snprintf(lock, sizeof lock, "%s/session.lock", folder);
}

/* Nothing but the file may be left. */
static void end(void)
{
    unlink(path);
    CHECK_ALWAYS(rmdir(folder) == 0);
}

static void put(const char *bytes, size_t len)
{
    FILE *f = fopen(path, "w");
    CHECK_ALWAYS(f && fwrite(bytes, 1, len, f) == len);
    if (f)
        fclose(f);
}

static size_t get(char *bytes, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(bytes, 1, size, f) : 0;
    if (f)
        fclose(f);
    return n;
}

static allm_session *some(void)
{
    allm_codec *c = noun_read(
        "Session",
        "{'id': 's\xc3\xa9', 'status': 'awaiting_tools', 'pending_tool_calls':"
        " [{'id': 'c0', 'name': 'a', 'arguments': {'x': 1}}], 'metadata': "
        "{'mine': [1, null]}, 'later': 5, 'thread': {'messages': [{'role': "
        "'user', 'content': 'hi'}]}}");
    allm_session *s =
        allm_session_from_record(allm_codec_value(c, ALLM_TYPE_SESSION));
    allm_codec_free(c);
    return s;
}

static void form(const allm_session *s, char *out, size_t size)
{
    allm_text *t = allm_session_record_json(allm_session_fields(s),
                                            ALLM_FORM_TAGGED);
    const char *bytes = allm_text_bytes(t, NULL);
    snprintf(out, size, "%s", bytes ? bytes : "");
    allm_text_free(t);
}

static void what_is_saved_is_loaded(void)
{
    char one[4096], two[4096];
    struct stat info;
    begin();
    put("{}", 2);
    chmod(path, 0644);
    allm_session *s = some();
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    CHECK_WELL(allm_session_error(s));
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    allm_session *t = allm_session_load(path, 0);
    CHECK_WELL(allm_session_error(t));
    form(s, one, sizeof one);
    form(t, two, sizeof two);
    CHECK_TEXT(two, one);
    CHECK(strstr(two, "\"later\":5"));
    allm_session_free(s);
    allm_session_free(t);
    end();
}

static void a_file_that_is_not_there(void)
{
    begin();
    allm_session *s = allm_session_load(path, 0);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "session_not_found",
                path);
    CHECK(allm_session_append_user(s, "x") < 0);
    allm_session_free(s);
    s = allm_session_load(path, ALLM_SESSION_CREATE);
    CHECK_WELL(allm_session_error(s));
    CHECK_INT(allm_session_append_user(s, "x"), ALLM_OK);
    CHECK_INT(allm_session_save(s, "/nonexistent/folder/x"), ALLM_ERR_STORE);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "unwritable_session",
                "there is no such file or folder");
    CHECK_INT(allm_session_save(s, folder), ALLM_ERR_STORE);
    CHECK_INT(allm_session_save(s, ""), ALLM_ERR_MISUSE);
    CHECK_INT(allm_session_save(s, NULL), ALLM_ERR_MISUSE);
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    allm_session_free(s);
    s = allm_session_load(NULL, 0);
    CHECK_MISUSE(allm_session_error(s), "missing_path", NULL);
    allm_session_free(s);
    s = allm_session_load(folder, 0);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "unreadable_session",
                "it is a folder");
    allm_session_free(s);
    CHECK_ALWAYS(allm_session_save(NULL, path) == ALLM_ERR_NOMEM);
    end();
    char stray[80];
    snprintf(stray, sizeof stray, "%s.lock", folder);
    CHECK_ALWAYS(access(stray, F_OK) != 0);
}

/* ------------------------------------------------------------ too large --- */

/* What could not be loaded again is not written; the old file stays. */
static void a_session_that_is_too_large_is_not_saved(void)
{
    enum { MUCH = 256 * 1024 * 1024 };
    begin();
    allm_session *s = some();
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    char *text = malloc(MUCH + 1);
    CHECK_ALWAYS(text != NULL);
    if (text) {
        memset(text, 'a', MUCH);
        text[MUCH] = '\0';
        CHECK_INT(allm_session_append_user(s, text), ALLM_OK);
        CHECK_INT(allm_session_save(s, path), ALLM_ERR_STORE);
        CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "session_too_large",
                    "begin a new session");
        text[MUCH - 4096] = '\0';
    }
    allm_session_free(s);
    s = allm_session_load(path, 0);
    CHECK_WELL(allm_session_error(s));
    CHECK_INT(allm_session_append_user(s, text), ALLM_OK);
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    allm_session_free(s);
    free(text);
    s = allm_session_load(path, 0);
    CHECK_WELL(allm_session_error(s));
    allm_session_free(s);
    end();
}

/* --------------------------------------------------------------- killed --- */

/* A process that saves without end. */
static pid_t start_saving(void)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    allm_session *s = some();
    for (int i = 0; i < 200; i++)
        allm_session_append_user(s, "some text that makes the file longer");
    while (allm_session_save(s, path) == ALLM_OK)
        ;
    _exit(1);
}

static void what_killed_saves_left_goes_with_the_next(void)
{
    struct random r = check_random();
    begin();
    for (int i = 0; i < 25; i++) {
        int status = 0;
        pid_t child = start_saving();
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 + (long)random_below(
                                                              r, 4000000) },
                  NULL);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        CHECK_ALWAYS(WIFSIGNALED(status));
    }
    allm_session *s = some();
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    allm_session_free(s);
    end();                      /* which finds no other file */
}

/* --------------------------------------------------------------- damage --- */

static void foreign_files_are_refused_and_stay(void)
{
    static const struct {
        const char *why, *text, *reason;
    } rows[] = {
        { "empty", "", "damaged_session" },
        { "a word", "hello", "damaged_session" },
        { "bytes", "\x7f" "ELF\x01\xff", "damaged_session" },
        { "JSON without a tag", "{\"a\": 1}", "damaged_session" },
        { "a list", "[]", "damaged_session" },
        { "another thing of ours",
          "{\"__type__\": \"ALLM.Message\", \"data\": {\"role\": \"user\", "
          "\"content\": \"x\"}}",
          "not_a_session" },
        { "a thing of somebody else",
          "{\"__type__\": \"Other.Thing\", \"data\": {}}", "not_a_session" },
        { "a status of another version",
          "{\"__type__\": \"ALLM.Session\", \"data\": {\"status\": "
          "\"dreaming\"}}",
          "damaged_session" },
        { "a thread that is none",
          "{\"__type__\": \"ALLM.Session\", \"data\": {\"thread\": 5}}",
          "damaged_session" },
        { "an error without one",
          "{\"__type__\": \"ALLM.Session\", \"data\": {\"status\": "
          "\"error\"}}",
          "damaged_session" },
        { "something behind it",
          "{\"__type__\": \"ALLM.Session\", \"data\": {}} {}",
          "damaged_session" },
    };
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char after[512];
        check_row(rows[i].why);
        put(rows[i].text, strlen(rows[i].text));
        allm_session *s = allm_session_load(path, ALLM_SESSION_LOCK |
                                                      ALLM_SESSION_CREATE);
        CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, rows[i].reason,
                    path);
        CHECK(allm_session_save(s, path) < 0);
        allm_session_free(s);
        size_t n = get(after, sizeof after);
        CHECK_ALWAYS(n == strlen(rows[i].text) &&
                     !memcmp(after, rows[i].text, n));
    }
    end();
}

/* Cut off anywhere it is refused; with any byte changed it is refused or
 * loaded, and stays as it is. */
static void damage_anywhere(void)
{
    static char good[4096], bad[4096], after[4096];
    begin();
    allm_session *s = some();
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    size_t n = get(good, sizeof good);
    for (size_t i = 0; i < n; i++) {
        put(good, i);
        allm_session *t = allm_session_load(path, 0);
        CHECK_ERROR(allm_session_error(t), ALLM_ERR_STORE, "damaged_session",
                    NULL);
        allm_session_free(t);
    }
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(bad, good, n);
            bad[i] = (char)(bad[i] ^ (1 << bit));
            put(bad, n);
            allm_session *t = allm_session_load(path, 0);
            CHECK(t);
            allm_session_free(t);
            CHECK(get(after, sizeof after) == n && !memcmp(after, bad, n));
        }
    allm_session_free(s);
    end();
}

/* ---------------------------------------------------------- two writers --- */

static void the_second_writer_is_refused(void)
{
    begin();
    allm_session *s = some();
    allm_session_save(s, path);
    allm_session *a = allm_session_load(path, ALLM_SESSION_LOCK);
    CHECK_WELL(allm_session_error(a));
    if (!allm_session_error(a)) {
        allm_session *b = allm_session_load(path, ALLM_SESSION_LOCK);
        CHECK_ERROR(allm_session_error(b), ALLM_ERR_STORE, "session_locked",
                    "in use");
        allm_session_free(b);
        CHECK_INT(allm_session_save(s, path), ALLM_ERR_STORE);
        CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "session_locked",
                    path);
        b = allm_session_load(path, 0);     /* reading is free */
        CHECK_WELL(allm_session_error(b));
        allm_session_free(b);
        CHECK_INT(allm_session_append_user(a, "more"), ALLM_OK);
        CHECK_INT(allm_session_save(a, path), ALLM_OK);
        CHECK_INT(allm_session_save(a, path), ALLM_OK);
    }
    allm_session_free(a);
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    allm_session_free(s);
    CHECK_ALWAYS(access(lock, F_OK) != 0);
    end();
}

static void two_cannot_create_the_same(void)
{
    begin();
    uint32_t flags = ALLM_SESSION_LOCK | ALLM_SESSION_CREATE;
    allm_session *a = allm_session_load(path, flags);
    if (a && !allm_session_error(a)) {
        allm_session *b = allm_session_load(path, flags);
        CHECK_ERROR(allm_session_error(b), ALLM_ERR_STORE, "session_locked",
                    NULL);
        allm_session_free(b);
    }
    CHECK_INT(allm_session_save(a, path), ALLM_OK);
    allm_session_free(a);
    end();
}

/* What could not be used again is not written over what can. */
static void a_broken_session_is_not_saved(void)
{
    char before[4096], after[4096];
    begin();
    allm_session *s = some();
    allm_session_save(s, path);
    size_t n = get(before, sizeof before);
    allm_session *bad =
        allm_session_new(ALLM(session_record, .status = ALLM_SESSION_ERROR));
    CHECK_INT(allm_session_save(bad, path), ALLM_ERR_STORE);
    CHECK_ERROR(allm_session_error(bad), ALLM_ERR_STORE, "damaged_session",
                path);
    CHECK_ALWAYS(get(after, sizeof after) == n && !memcmp(after, before, n));
    allm_session_free(bad);
    allm_session_free(s);
    end();
}

/* ---------------------------------------------------------- other names --- */

/* A link stays one, and its file has one lock by whatever name. */
static void a_link_is_followed(void)
{
    char link[80], plain[80];
    struct stat info;
    begin();
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(plain, sizeof plain, "%s/./session", folder);
    CHECK_ALWAYS(symlink("session", link) == 0);
    allm_session *s = some();
    CHECK_INT(allm_session_save(s, link), ALLM_OK);
    CHECK_ALWAYS(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(lstat(path, &info) == 0 && S_ISREG(info.st_mode));
    allm_session *a = allm_session_load(link, ALLM_SESSION_LOCK);
    CHECK_WELL(allm_session_error(a));
    if (a && !allm_session_error(a)) {
        CHECK_INT(allm_session_save(s, path), ALLM_ERR_STORE);
        CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "session_locked",
                    "in use");
        CHECK_INT(allm_session_save(a, path), ALLM_OK);
        CHECK_INT(allm_session_save(a, plain), ALLM_OK);
    }
    allm_session_free(a);
    allm_session_free(s);
    CHECK_ALWAYS(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    unlink(link);
    end();
}

/* A symbolic link to itself is an error. */
static void a_link_may_be_a_loop(void)
{
    begin();
    CHECK_ALWAYS(symlink("session", path) == 0);
    allm_session *s = some();
    CHECK_INT(allm_session_save(s, path), ALLM_ERR_STORE);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "unwritable_session",
                "its symbolic links form a loop");
    allm_session_free(s);
    s = allm_session_load(path, ALLM_SESSION_CREATE);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "unreadable_session",
                "its symbolic links form a loop");
    allm_session_free(s);
    end();
}

/* A pipe is rejected without blocking, and a device is not replaced. */
static void what_is_no_file_is_refused(void)
{
    struct stat info;
    begin();
    CHECK_ALWAYS(mkfifo(path, 0600) == 0);
    allm_session *s = allm_session_load(path, ALLM_SESSION_CREATE);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "unreadable_session",
                "not a regular file");
    allm_session_free(s);
    s = some();
    CHECK_INT(allm_session_save(s, path), ALLM_ERR_STORE);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_STORE, "unwritable_session",
                "not a regular file");
    allm_session_free(s);
    CHECK_ALWAYS(lstat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    end();
}

TESTS = {
    TEST(what_is_saved_is_loaded),
    TEST(a_file_that_is_not_there),
    TEST_ONCE(a_session_that_is_too_large_is_not_saved),
    TEST_ONCE(what_killed_saves_left_goes_with_the_next),
    TEST(foreign_files_are_refused_and_stay),
    TEST_ONCE(damage_anywhere),
    TEST(the_second_writer_is_refused),
    TEST(two_cannot_create_the_same),
    TEST(a_broken_session_is_not_saved),
    TEST(a_link_is_followed),
    TEST(a_link_may_be_a_loop),
    TEST(what_is_no_file_is_refused),
    TESTS_END,
};
