#!/bin/sh
# check-size.sh - limit the length of functions and files
#
#   function          at most 53 lines; half of them at most 10, 90 % at most
#                     20, 99 % at most 29
#   source            at most 700
#   internal header   at most 300
#   the warden        fewer than 800 lines in all
#
# Prints how long functions are (median, 90th and 99th percentile, longest).
#
# usage: tools/check-size.sh [ROOT]
set -u
export LC_ALL=C

tools=$(realpath "$(dirname "$0")")
"$tools/need" size python3 || exit 1
cd "${1:-.}" || exit 1
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

# too_long LIMIT WORD FILE...: report the files with more than LIMIT lines
too_long() {
    limit=$1 word=$2
    shift 2
    for file do
        [ -e "$file" ] || continue
        lines=$(wc -l <"$file")
        if [ "$lines" -gt "$limit" ]; then
            echo "size: $file has $lines lines; $word may have $limit"
        fi
    done
}

# The library, and the programs next to it.
folders=src
for program in scenario warden; do
    if [ -d "$program" ]; then folders="$folders $program"; fi
done

# shellcheck disable=SC2086  # one word per folder
find $folders -name '*.c' -exec "$tools/c-source" functions {} + |
    sort -k 3n >"$temp/functions"
{
    awk '$3 > 53 {
        print "size: " $4 "() in " $1 ":" $2 " has " $3 \
            " lines; a function may have 53"
    }' "$temp/functions"
    # shellcheck disable=SC2046,SC2086  # one word per file
    too_long 700 "a source" $(find $folders -name '*.c')
    # shellcheck disable=SC2046,SC2086
    too_long 300 "an internal header" $(find $folders -name '*.h')
    if [ -d warden ]; then
        cat warden/*.[ch] >"$temp/warden"
        lines=$(wc -l <"$temp/warden")
        if [ "$lines" -ge 800 ]; then
            echo "size: warden/ has $lines lines; it may have 799"
        fi
    fi
} >"$temp/faults"

awk '
    { length_of[NR] = $3 }
    function at(share) { return length_of[int((NR - 1) * share) + 1] }
    END {
        if (!NR)
            exit
        m = at(0.5); p90 = at(0.9); p99 = at(0.99)
        printf "size: %d functions, %d/%d/%d/%d lines (median/p90/p99/max)\n", \
            NR, m, p90, p99, at(1)
        if (m > 10 || p90 > 20 || p99 > 29)
            print "size: functions may have 10/20/29/53 lines" >faults
    }' faults="$temp/distribution" "$temp/functions"
cat "$temp/faults"
if [ -e "$temp/distribution" ]; then cat "$temp/distribution"; fi
[ ! -s "$temp/faults" ] && [ ! -e "$temp/distribution" ]
