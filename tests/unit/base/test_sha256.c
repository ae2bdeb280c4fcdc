/* test_sha256.c - the published vectors, and every way to split the input */
#include "base/sha256.h"

#include "harness/check.h"

static void hashes(void)
{
    static const struct {
        const char *text, *hex;
    } rows[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb924"
              "27ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223"
                 "b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039"
          "a33ce45964ff2167f6ecedd419db06c1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char hex[SHA256_HEX + 1];
        check_row(rows[i].text);
        sha256_hex(slice_of(rows[i].text), hex);
        CHECK_TEXT(hex, rows[i].hex);
        allm_sha256(rows[i].text, strlen(rows[i].text), hex);
        CHECK_TEXT(hex, rows[i].hex);
    }
    char hex[SHA256_HEX + 1];
    allm_sha256(NULL, 7, hex);
    CHECK_TEXT(hex, rows[0].hex);
}

static void hashes_a_million(void)
{
    char hex[SHA256_HEX + 1], piece[1000];
    struct sha256 s;
    memset(piece, 'a', sizeof piece);
    sha256_init(&s);
    for (int i = 0; i < 1000; i++)
        sha256_add(&s, (struct slice){ piece, sizeof piece });
    sha256_done_hex(&s, hex);
    CHECK_TEXT(hex, "cdc76e5c9914fb9281a1c7e284d73e67"
                    "f1809a48a497200e046d39ccc7112cd0");
}

/* The instructions of the processor and the portable code agree. */
static void both_ways_agree(void)
{
    unsigned char bytes[64 * 9];
    sha256_blocks *fast = sha256_fast();
    if (!fast)
        return;
    for (size_t run = 0; run < 100; run++)
        for (size_t count = 0; count <= 9; count++) {
            uint32_t x[8], y[8];
            for (size_t i = 0; i < sizeof bytes; i++)
                bytes[i] = (unsigned char)((i + run) * (run + 11) >> 1);
            for (size_t i = 0; i < 8; i++)
                x[i] = y[i] = sha256_constants[(run + i) % 64];
            sha256_portable(x, bytes, count);
            fast(y, bytes, count);
            CHECK(!memcmp(x, y, sizeof x));
        }
}

/* Lengths around the ends of blocks, cut anywhere. */
static void ignores_cuts(void)
{
    char bytes[200], whole[SHA256_HEX + 1], cut[SHA256_HEX + 1];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    for (size_t len = 50; len <= sizeof bytes; len += 5) {
        sha256_hex((struct slice){ bytes, len }, whole);
        for (size_t at = 0; at <= len; at++) {
            struct sha256 s;
            sha256_init(&s);
            sha256_add(&s, (struct slice){ bytes, at });
            sha256_add(&s, (struct slice){ bytes + at, len - at });
            sha256_done_hex(&s, cut);
            CHECK_TEXT(cut, whole);
        }
    }
}

TESTS = {
    TEST(hashes),
    TEST_ONCE(hashes_a_million),
    TEST_ONCE(both_ways_agree),
    TEST_ONCE(ignores_cuts),
    TESTS_END
};
