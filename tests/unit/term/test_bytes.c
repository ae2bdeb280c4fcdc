/* test_bytes.c - bytes that grow, and the memory of the program */
#include "harness/check.h"
#include "term/bytes.h"
#include "term/mem.h"

#include <sys/wait.h>
#include <unistd.h>

static void adds_and_splices(void)
{
    struct bytes b = { NULL, 0, 0 };
    CHECK_TEXT(bytes_string(&b), "");
    bytes_text(&b, "hello");
    bytes_byte(&b, '!');
    bytes_format(&b, " %d of %s", 2, "many");
    CHECK_TEXT(bytes_string(&b), "hello! 2 of many");
    bytes_splice(&b, 5, 1, ", you:", 6);
    CHECK_TEXT(bytes_string(&b), "hello, you: 2 of many");
    bytes_skip(&b, 7);
    CHECK_TEXT(bytes_string(&b), "you: 2 of many");
    bytes_clear(&b);
    CHECK_TEXT(bytes_string(&b), "");
    CHECK_INT(b.len, 0);
    bytes_release(&b);
}

static void grows_to_any_size(void)
{
    struct bytes b = { NULL, 0, 0 };
    for (int i = 0; i < 100000; i++)
        bytes_byte(&b, (char)('a' + i % 26));
    CHECK_INT(b.len, 100000);
    CHECK_INT(b.ptr[99999], 'a' + 99999 % 26);
    CHECK_INT(b.ptr[100000], 0);
    bytes_release(&b);
}

static void copies_and_zeroes(void)
{
    char *copy = term_copy("abc", 2);
    CHECK_TEXT(copy, "ab");
    term_free(copy);
    copy = term_copy(NULL, 0);
    CHECK_TEXT(copy, "");
    term_free(copy);
    char *zero = term_alloc(64);
    for (int i = 0; i < 64; i++)
        CHECK_INT(zero[i], 0);
    zero = term_resize(zero, 128);
    CHECK_INT(zero[63], 0);
    term_free(zero);
    term_free(NULL);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZER = 1 }; /* it ends the process itself */
#else
enum { SANITIZER = 0 };
#endif

/* The program ends with code 1 and says why. */
static void ends_without_memory(void)
{
    int pipes[2];
    char text[64] = "";
    if (SANITIZER) {
        check_skip("the sanitizer ends the process itself");
        return;
    }
    CHECK(!pipe(pipes));
    pid_t child = fork();
    if (!child) {
        dup2(pipes[1], STDERR_FILENO);
        term_alloc((size_t)-1 / 2);
        _exit(0);
    }
    close(pipes[1]);
    int status = 0;
    CHECK(read(pipes[0], text, sizeof text - 1) > 0);
    CHECK(waitpid(child, &status, 0) == child);
    close(pipes[0]);
    CHECK_TEXT(text, "allm: out of memory\n");
    CHECK_INT(WEXITSTATUS(status), 1);
}

TESTS = { TEST(adds_and_splices), TEST_ONCE(grows_to_any_size),
          TEST(copies_and_zeroes), TEST_ONCE(ends_without_memory), TESTS_END };
