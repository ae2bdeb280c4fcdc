#!/bin/sh
# bench.sh - bench-check finds a planted regression and a planted growth
#
# Small programs stand for the workloads; callgrind counts them for real.
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

if ! command -v valgrind >/dev/null; then
    skip "instructions are counted" "valgrind is not here"
    finish
fi

# program NAME WORK: it runs WORK, an expression of n, at three sizes
program() {
    cat >"$garden/$1.c" <<END
#include <stdio.h>
void workload_run(unsigned long n);
__attribute__((noinline)) void workload_run(unsigned long n)
{
    for (volatile unsigned long i = 0; i < ($2); i++)
        ;
}
int main(void)
{
    for (unsigned long n = 1; n <= 100; n *= 10) {
        workload_run(n);
        printf("loop %lu\n", n);
    }
    return 0;
}
END
    $CC -O1 "$garden/$1.c" -o "$garden/$1" || exit 1
}

export BENCH_CHECK_COUNTS="$garden/counts.json"

check() { BENCH_CHECK_PROGRAM=$garden/$1 "$tools/bench-check" check .; }
accept() { BENCH_CHECK_PROGRAM=$garden/$1 "$tools/bench-check" accept . "$2"; }

program before 'n * 1000'
program slightly 'n * 1020'
program regression 'n * 1050'
program square 'n * n * 1000'
cd "$garden" || exit 1

passes "an unknown combination" check before
says "it is named" "no accepted counts for unknown compiler"
says "the growth is printed" "exponent 1.00"
catches "growth in an unknown combination" \
    "loop grows with exponent 2.0" check square
catches "an acceptance without a reason" "a reason is missing" accept before ""
passes "an acceptance with a reason" accept before "the first numbers"
passes "the accepted program" check before
passes "2 % more" check slightly
catches "a regression of 5 %" "loop at size 100: " check regression
says "it says how much" "% above the accepted"
says "it says how to accept" 'make bench-accept REASON='
passes "the regression is accepted" accept regression "it does more"
passes "then it passes" check regression
passes "the reason is kept" grep -q "it does more" counts.json

finish
