#!/bin/sh
# check-header.sh - the public headers fit other languages and a stable ABI
#
#   no inline, variadic function, union, bit-field, long, time_t or FILE
#   no struct by value in parameters and results
#   every function is ALLM_API and declared once
#   every struct and every enum has a typedef
#   every header compiles alone as C11 and as C++17, without a warning
#   at most 350 lines per header
#
# usage: tools/check-header.sh [ROOT]      (CC and CXX are the compilers)
set -u
export LC_ALL=C

tools=$(realpath "$(dirname "$0")")
cd "${1:-.}" || exit 1
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

# The first C++ compiler that is installed, or the name of a missing one.
find_cxx() {
    for cxx in ${CXX-} g++ clang++ clang++-14 c++; do
        if command -v "$cxx" >/dev/null; then break; fi
    done
    echo "$cxx"
}

export CC="${CC:-cc}"
cxx=$(find_cxx)
"$tools/need" header python3 "$CC" "$cxx" || exit 1
warnings='-Wall -Wextra -Wpedantic -Werror'

# Code without directives: macros are not checked.
code_lines() {
    "$tools/c-source" lines "$1" | awk '{
        code = $0
        sub(/^[^:]*:[0-9]*:/, "", code)
        if (!continued && code !~ /^[ ]*#/)
            print
        continued = (continued || code ~ /^[ ]*#/) && code ~ /\\$/
    }'
}

# deny WHAT PATTERN: report each line of code that matches
deny() { grep -E -e "$2" "$temp/code" | sed "s/^/$1: /"; }

check_length() {
    lines=$(wc -l <"$1")
    if [ "$lines" -gt 350 ]; then
        echo "$1 has $lines lines; a public header may have 350"
    fi
}

check_lines() {
    code_lines "$1" >"$temp/code"
    word_end='([^[:alnum:]_]|$)'
    deny "inline function" "(^|[^[:alnum:]_])(inline|__inline)$word_end"
    deny "variadic function" '\.\.\.'
    deny "union" "(^|[^[:alnum:]_])union$word_end"
    deny "bit-field" \
        '[[:alnum:]_][[:space:]]*:[[:space:]]*[0-9]+[[:space:]]*[;,]'
    deny "long (its size differs)" "(^|[^[:alnum:]_])long$word_end"
    deny "time_t (its size differs)" "(^|[^[:alnum:]_])time_t$word_end"
    deny "FILE (belongs to one libc)" "(^|[^[:alnum:]_])FILE$word_end"
}

check_facts() {
    "$tools/c-header" "$1" >"$temp/facts" || echo "$1: cannot be parsed"
    awk -v header="$1" '
        $1 == "by-value" {
            print "struct by value: " header ": " $3 " in " $2 }
        $1 == "private" {
            print "function without ALLM_API: " header ": " $2 }
        $1 == "function" && seen[$2]++ == 1 {
            print "declared twice: " header ": " $2 }
        ($1 == "function" || $1 == "private") && $2 !~ /^allm_/ {
            print "name without allm_: " header ": " $2 }' "$temp/facts"
    awk '$1 == "struct" || $1 == "enum" { print $1, $2 }' "$temp/facts" |
        while read -r kind name; do
            grep -qE "^(typedef $kind|\\}).*[ *]${name}[ ;]" "$1" ||
                echo "$kind without a typedef: $1: $name"
        done
}

# compile STANDARD LANGUAGE COMPILER: the header alone
compile() {
    name=$(basename "$header")
    # shellcheck disable=SC2086  # a compiler may be several words
    echo "#include <$name>" |
        $3 -x "$2" -std="$1" $warnings -Iinclude \
            -fsyntax-only - 2>"$temp/errors" ||
        { echo "$header is not valid $1:"; sed 's/^/  /' "$temp/errors"; }
}

for header in include/*.h; do
    check_length "$header"
    check_lines "$header"
    check_facts "$header"
    compile c11 c "$CC"
    compile c++17 c++ "$cxx"
done >"$temp/faults"
sed 's/^/header: /' "$temp/faults"
[ ! -s "$temp/faults" ]
