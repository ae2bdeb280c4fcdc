/* test_address.c - the formats of a host name */
#include "provider/ollama/address.h"

#include "harness/check.h"

static void every_form_is_understood(void)
{
#define LOCAL "http://127.0.0.1:11434/api/chat"
    static const struct {
        const char *base, *address;     /* NULL: none */
    } rows[] = {
        { "http://127.0.0.1:11434", LOCAL },
        { "127.0.0.1", LOCAL },
        { "127.0.0.1:11434", LOCAL },
        { ":11434", LOCAL },
        { "0.0.0.0", LOCAL },
        { "0.0.0.0:11434", LOCAL },
        { "http://0.0.0.0:11434", LOCAL },
        { "localhost", "http://localhost:11434/api/chat" },
        { "gpu7:8080", "http://gpu7:8080/api/chat" },
        { "gpu7/", "http://gpu7:11434/api/chat" },
        { "gpu7/ollama", "http://gpu7:11434/ollama/api/chat" },
        { "http://gpu7", "http://gpu7/api/chat" },
        { "https://gpu7", "https://gpu7/api/chat" },
        { "https://gpu7/x/", "https://gpu7/x/api/chat" },
        { "https://gpu7:8443/x", "https://gpu7:8443/x/api/chat" },
        { "https://gpu7/api", "https://gpu7/api/chat" },
        { "https://gpu7/api/chat", "https://gpu7/api/chat" },
        { "http://u:p@gpu7:80", "http://u:p@gpu7:80/api/chat" },
        { "::1", "http://[::1]:11434/api/chat" },
        { "[::1]", "http://[::1]:11434/api/chat" },
        { "[::1]:80", "http://[::1]:80/api/chat" },
        { "http://[fe80::1]:80", "http://[fe80::1]:80/api/chat" },
        { "::", "http://[::1]:11434/api/chat" },
        { "[::]:80", "http://[::1]:80/api/chat" },
        { " \"gpu7:80\" ", "http://gpu7:80/api/chat" },
        { "'gpu7'", "http://gpu7:11434/api/chat" },
        { "[::1", "http://[::1:11434/api/chat" },
        { "https://gpu7/x?a=1&b=/", "https://gpu7/x/api/chat?a=1&b=/" },
        { "gpu7:80?a=1:2", "http://gpu7:80/api/chat?a=1:2" },
        { "gpu7/?a", "http://gpu7:11434/api/chat?a" },
        { "?a", NULL },
        { "", NULL },
        { " ", NULL },
        { "/", NULL },
        { "http://", NULL },
        { "http:", NULL },
        { "https:///x", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf out;
        arena_init(&a, mem_default());
        buf_init(&out, &a, 4096);
        check_row(rows[i].base);
        CHECK_ALWAYS(ollama_address_add(&out, slice_of(rows[i].base), "chat") ==
                     (rows[i].address != NULL));
        if (rows[i].address)
            CHECK_SLICE(buf_slice(&out), slice_of(rows[i].address));
        arena_release(&a);
    }
    CHECK_ALWAYS(!ollama_address_add(NULL, (struct slice){ NULL, 0 }, "chat"));
}

TESTS = { TEST(every_form_is_understood), TESTS_END };
