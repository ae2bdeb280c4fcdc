#!/bin/sh
# check-words.sh - check the plain text of every file
#
#   a note of something to do has a name: TODO(name)
#   no path that exists on one machine only
#   no white space at the end of a line, no tab in C, a final newline
#   at most 80 columns in C, scripts and pages, except in rows of tables
#
# usage: tools/check-words.sh [ROOT]
#
# It does not read recorded bytes (fuzz/corpus, tests/fixture, tests/data).
set -u
export LC_ALL=C

tools=$(realpath "$(dirname "$0")")
cd "${1:-.}" || exit 1
if [ -e .git ]; then "$tools/need" words git || exit 1; fi
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

# Text files that are, or may become, part of the repository.
list_files() {
    if [ -e .git ]; then
        git ls-files --cached --others --exclude-standard
    else
        find . -type f | sed 's|^\./||' | grep -v '^subprojects/yyjson'
    fi | grep -vE '^(build|fuzz/corpus|tests/fixture|tests/data)/' |
        while read -r file; do
            if [ -s "$file" ]; then echo "$file"; fi
        done | tr '\n' '\0' | xargs -0 grep -lI '' | sort
}

# find_words WHAT PATTERN [FILE-PATTERN]: a fault for each line that has it
find_words() {
    grep -E "${3:-.}" "$temp/files" | tr '\n' '\0' |
        xargs -0 -r grep -nHE -e "$2" | sed "s/^/words: $1: /"
}

# Rows of Markdown tables may be longer, and so may a single long word, such as
# an address.
find_long_lines() {
    {
        grep -E '\.([ch]|md|sh|py)$' "$temp/files"
        tr '\n' '\0' <"$temp/files" |
            xargs -0 -r awk 'FNR == 1 { if (/^#!/) print FILENAME; nextfile }'
    } | sort -u | tr '\n' '\0' |
        LC_ALL=C.UTF-8 xargs -0 -r grep -nHE '^[^|].{80,}' |
        grep -vE '^[^:]*:[0-9]+: *[^ ]+$' |
        sed 's/^/words: more than 80 columns: /'
}

# The patterns are written so that this file does not match them.
edge='(^|[^[:alnum:]_])'
nameless="$edge(TO[D]O([^(]|\$)|TO[D]O\\(\\)|FIX[M]E|X[X]X([^X]|\$))"

# The folder that contains this tree, unless its name is a common one.
machine_paths() {
    echo '(^|[^[:alnum:]_.])/(hom[e]|roo[t]|User[s])/[[:alnum:]_.]'
    here=$(dirname "$(pwd -P)")
    case $here in
    /|/tmp|/tmp/*|/var/*|/home|/root|/Users) ;;
    *) echo "(^|[^[:alnum:]_.])$here/" ;;
    esac
}

list_files >"$temp/files"
{
    find_words "a note without a name" "$nameless"
    for path in $(machine_paths); do
        find_words "a path of one machine" "$path"
    done
    find_words "white space at the end" '[[:space:]]$'
    find_words "a tab" "$(printf '\t')" '\.[ch]$'
    find_long_lines
    while read -r file; do
        if [ -n "$(tail -c 1 "$file")" ]; then
            echo "words: no newline at the end: $file"
        fi
    done <"$temp/files"
} >"$temp/faults"
cat "$temp/faults"
[ ! -s "$temp/faults" ]
