#!/bin/sh
# scope.sh - the compiler finds a pointer of ALLM() that leaves its block
#
# allm_base.h promises a warning and a report of the address sanitizer, both of
# GCC 12 or later; and that ALLM_INIT() is the right way.
set -u

SOURCE_DIR=${SOURCE_DIR:-$(realpath "$(dirname "$0")/../..")}
CC=${CC:-cc}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
passed=0
failed=0

skip() { # skip WHY
    echo "ok - # skipped: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

# expect WHY TEXT: it is in what was said
expect() {
    if grep -q -e "$2" "$temp/said"; then
        echo "ok - $1"
        passed=$((passed + 1))
    else
        echo "not ok - $1: \"$2\" is missing"
        sed 's/^/#   /' "$temp/said"
        failed=$((failed + 1))
    fi
}

# build OUT FLAG...: compile standard input
# shellcheck disable=SC2086  # a compiler may be several words
build() {
    out=$1
    shift
    $CC -std=c11 -x c -Wall -Wextra "$@" -I"$SOURCE_DIR/include" - \
        -o "$temp/$out" >"$temp/said" 2>&1
}

# program WHAT: turns is called with the options that WHAT creates
program() {
    cat <<END
#include <allm.h>
#include <stdio.h>
static __attribute__((noinline)) unsigned turns(const allm_call_opts *opts)
{
    return opts ? opts->max_turns : 0;
}
int main(int argc, char **argv)
{
    (void)argv;
    $1
    return 0;
}
END
}

wrong='const allm_call_opts *opts = NULL;
    if (argc) {
        opts = ALLM(call_opts, .max_turns = 7);
    }
    printf("%u turns\n", turns(opts));'
right='allm_call_opts opts = ALLM_INIT(call_opts);
    if (argc) {
        opts.max_turns = 7;
    }
    printf("%u turns\n", turns(&opts));'

major=$($CC -dumpversion | cut -d . -f 1)
$CC --version | grep -q -e GCC -e 'Free Software' || skip "$CC is not GCC"
[ "$major" -ge 12 ] || skip "GCC $major is older than 12"
program 'puts("built");' | build probe -fsanitize=address
"$temp/probe" >/dev/null 2>&1 || skip "the address sanitizer does not work"

program "$wrong" | build wrong -O2
expect "GCC warns about a pointer that leaves its block" dangling-pointer
program "$wrong" | build wrong -w -fsanitize=address
"$temp/wrong" >"$temp/said" 2>&1
expect "the address sanitizer reports its use" stack-use-after-scope
program "$right" | build right -Werror -fsanitize=address
"$temp/right" >"$temp/said" 2>&1
expect "a variable can be used until its own block ends" "7 turns"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
