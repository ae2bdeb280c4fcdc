#!/bin/sh
# size.sh - check-size.sh finds long functions and files, and nothing else
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
says "it counts" "size: 4 functions, 4/4/4/5 lines (median/p90/p99/max)"

fresh
define long_one 53 >>src/base/mem.c
passes "a function of 53 lines" check

fresh
define too_long 54 >>src/base/mem.c
catches "a function of 54 lines" "too_long() in src/base/mem.c" check
says "the limit is named" "has 54 lines; a function may have 53"

fresh
define brace 55 | sed 's/)$/) {/; /^{/d' >>src/base/mem.c
catches "one with its brace in the wrong place" "brace() in src/base/mem.c" \
    check

fresh
define head 52 | sed 's/^int head(int n)$/int head(\n    int n,\n    int m)/' \
    >>src/base/mem.c
catches "one whose head has several lines" "head() in src/base/mem.c" check

fresh
{
    echo 'static const int table[] = {'
    yes '    1,' | head -n 150
    echo '};'
} >>src/base/mem.c
passes "a long table is not a function" check

fresh
yes '/* x */' | head -n 700 >src/base/long.c
passes "a source of 700 lines" check
echo '/* x */' >>src/base/long.c
catches "a source of 701 lines" \
    "src/base/long.c has 701 lines; a source may have 700" check

fresh
yes '/* x */' | head -n 300 >src/base/long.h
passes "a header of 300 lines" check
echo '/* x */' >>src/base/long.h
catches "a header of 301 lines" \
    "src/base/long.h has 301 lines; an internal header may have 300" check

fresh
mkdir scenario
{ define too_long 101; lines 600; } >scenario/main.c
catches "the program is checked, too" "too_long() in scenario/main.c" check
says "the length of its files" \
    "scenario/main.c has 701 lines; a source may have 700"

# shares SHORT LONG LENGTH: 100 functions, of which LONG have that many lines
shares() {
    fresh
    rm src/base/*.c src/json/*.c
    for n in $(seq "$1"); do define "short$n" 5; done >src/base/many.c
    for n in $(seq "$2"); do define "long$n" "$3"; done >src/base/more.c
}

shares 51 49 11
passes "half of the functions have more than 10 lines" check
shares 49 51 11
catches "more than half have more than 10 lines" \
    "functions may have 10/20/29/53 lines" check
shares 89 11 21
catches "more than a tenth have more than 20 lines" \
    "100 functions, 5/21/21/21 lines" check
shares 98 2 30
catches "more than a hundredth have more than 29 lines" \
    "100 functions, 5/5/30/30 lines" check

finish
