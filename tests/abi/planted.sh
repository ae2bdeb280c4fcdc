#!/bin/sh
# planted.sh - the tests find a changed layout, a missing and an extra function
set -u

SOURCE_DIR=${SOURCE_DIR:-$(realpath "$(dirname "$0")/../..")}
abi=$SOURCE_DIR/tools/abi
CC=${CC:-cc}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
passed=0
failed=0

# expect WHY WANTED GOT: two strings are equal
expect() {
    if [ "$2" = "$3" ]; then
        echo "ok - $1"
        passed=$((passed + 1))
    else
        printf 'not ok - %s\n# wanted: %s\n# got: %s\n' "$1" "$2" "$3"
        failed=$((failed + 1))
    fi
}

mkdir "$temp/include"
cat >"$temp/include/tiny.h" <<'END'
#include <stdint.h>
#define API __attribute__((visibility("default")))
typedef enum tiny_color { TINY_RED, TINY_BLUE = 7, TINY_GREEN } tiny_color;
enum tiny_flags { TINY_A = 1 << 0, TINY_B = 1 << 3 };
typedef struct tiny { /* a comment; with a semicolon */
    uint32_t a, b[3];
    void *(*call)(int n, struct tiny *next);
    struct { int32_t x, y; } at;
    const char *const *names;
} tiny;
API int tiny_new(const tiny *from, void (*done)(void *ud), void *ud);
API void tiny_free(tiny *);
END

layout="enum tiny_color TINY_RED 0
enum tiny_color TINY_BLUE 7
enum tiny_color TINY_GREEN 8
enum tiny_flags TINY_A 1
enum tiny_flags TINY_B 8
struct tiny size 40
struct tiny.a at 0 size 4
struct tiny.b at 4 size 12
struct tiny.call at 16 size 8
struct tiny.at at 24 size 8
struct tiny.names at 32 size 8"
expect "every kind of member and constant is found" "$layout" \
    "$("$abi" layout "$temp/include/tiny.h")"
expect "every function is found" "tiny_free tiny_new" \
    "$("$abi" declared "$temp/include/tiny.h" | tr '\n' ' ' | sed 's/ $//')"

# A tree with a library, on which the tests of this folder run.
mkdir -p "$temp/tree/tests/abi" "$temp/tree/include" "$temp/tree/build/main/src"
cp -r "$SOURCE_DIR/tools" "$temp/tree/"
cat >"$temp/tree/include/allm.h" <<'END'
#define ALLM_API __attribute__((visibility("default")))
typedef struct allm_pair { int a; int b; } allm_pair;
ALLM_API int allm_one(void);
ALLM_API int allm_two(void);
END

# library NAME...: a library that exports these
library() {
    for name do echo "int $name(void) { return 1; }"; done |
        $CC -shared -fPIC -x c - -o "$temp/tree/build/main/src/liballm.so"
}

# verdict TEST: run a test of this folder on that tree; print its count
verdict() {
    env SOURCE_DIR="$temp/tree" BUILD_DIR="$temp/tree/build/main" \
        sh "$SOURCE_DIR/tests/abi/$1.sh" >"$temp/said"
    tail -n 1 "$temp/said"
}

library allm_one allm_two
"$temp/tree/tools/abi" accept "$temp/tree/build/main" >/dev/null
expect "what was accepted is right" "3 passed, 0 failed" "$(verdict exports)"
expect "layouts, too" "1 passed, 0 failed" "$(verdict layout)"

library allm_one
expect "a lost function" "1 passed, 2 failed" "$(verdict exports)"
library allm_one allm_two allm_stray
expect "a stray function" "1 passed, 2 failed" "$(verdict exports)"
library allm_one allm_two yyjson_read
expect "a foreign function" "0 passed, 3 failed" "$(verdict exports)"

header=$temp/tree/include/allm.h
sed 's/int a; int b;/int b; int a;/' "$header" >"$temp/new"
cp "$temp/new" "$header"
expect "members that changed places" "0 passed, 1 failed" "$(verdict layout)"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
