#!/bin/sh
# size.sh - check-size.sh catches what is too long, and only that
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

check() { "$tools/check-size.sh" .; }

# lines N: that many lines of code
lines() { yes '    n++;' | head -n "$1"; }

# define NAME N: a function of N lines in all
define() {
    printf 'int %s(int n)\n{\n' "$1"
    lines $(($2 - 4))
    printf '    return n;\n}\n'
}

fresh
passes "a clean tree" check
says "it counts" "size: 4 functions, 4/4/4 lines (median/p90/p99)"

fresh
define long_one 100 >>src/base/mem.c
passes "a function of 100 lines" check

fresh
define too_long 101 >>src/base/mem.c
catches "a function of 101 lines" "too_long() in src/base/mem.c" check
says "it tells the limit" "has 101 lines; a function may have 100"

fresh
define brace 102 | sed 's/)$/) {/; /^{/d' >>src/base/mem.c
catches "one with its brace in the wrong place" "brace() in src/base/mem.c" \
    check

fresh
define head 99 | sed 's/^int head(int n)$/int head(\n    int n,\n    int m)/' \
    >>src/base/mem.c
catches "one whose head has several lines" "head() in src/base/mem.c" check

fresh
{ echo 'static const int table[] = {'; yes '    1,' | head -n 150; echo '};'; } \
    >>src/base/mem.c
passes "a long table is no function" check

fresh
yes '/* x */' | head -n 800 >src/base/long.c
passes "a source of 800 lines" check
echo '/* x */' >>src/base/long.c
catches "a source of 801 lines" \
    "src/base/long.c has 801 lines; a source may have 800" check

fresh
yes '/* x */' | head -n 300 >src/base/long.h
passes "a header of 300 lines" check
echo '/* x */' >>src/base/long.h
catches "a header of 301 lines" \
    "src/base/long.h has 301 lines; an internal header may have 300" check

fresh
mkdir scenario
{ define too_long 101; lines 700; } >scenario/main.c
catches "the program is looked at, too" "too_long() in scenario/main.c" check
says "the length of its files" \
    "scenario/main.c has 801 lines; a source may have 800"

fresh
for n in 1 2 3 4 5; do define "f$n" 80; done >src/base/many.c
passes "many long functions are no failure" check
says "but a warning" "warning: more than the 12/35/70 we aim at"

finish
