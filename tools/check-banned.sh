#!/bin/sh
# check-banned.sh - the library calls no banned function
#
# Banned are functions that are unsafe or have hidden state; ctype.h (it depends
# on the locale) and setjmp.h; functions that print, end the process or sleep.
# The check searches the source without comments and strings, then the symbols
# of the archives and of the shared library, so macros cannot hide a call.  The
# program in src/cli may print and exit, the one in scenario/ may only print;
# the program's memory in src/term/mem.c may end the process.
#
# usage: tools/check-banned.sh [ROOT [ARCHIVES]]
set -u
export LC_ALL=C

tools=$(realpath "$(dirname "$0")")
"$tools/need" banned nm python3 || exit 1
root=${1:-.}
archives=$(realpath "${2:-$root/build/main/src}")
cd "$root" || exit 1
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

unsafe='strcpy strcat sprintf vsprintf strtok atoi atol atoll gets alloca
    rand srand localtime gmtime ctime asctime setjmp longjmp sigsetjmp
    siglongjmp _setjmp system sleep usleep nanosleep'
printing='printf vprintf fprintf vfprintf dprintf puts putchar putc fputc fputs
    perror'
ending='exit _exit _Exit quick_exit abort'
streams='stdout stderr'

# any WORD...: the words as one pattern
any() { printf '%s' "$*" | tr -s ' ' '|'; }

# Code of the library that uses a banned name; a member called "exit" is
# allowed, and so is a function whose name ends in it.
in_source() {
    # shellcheck disable=SC2086  # one word per name
    call="(^|[^[:alnum:]_.>])($(any $unsafe $printing $ending))[[:space:]]*\\("
    # shellcheck disable=SC2086
    name="(^|[^[:alnum:]_.>])($(any $streams))([^[:alnum:]_]|\$)"
    header='#[[:space:]]*include[[:space:]]*<(ctype|wctype|setjmp)\.h>'
    find src -name '*.[ch]' ! -path 'src/cli/*' ! -path src/term/mem.c \
        -exec "$tools/c-source" lines {} + |
        grep -E "$call|$name|$header" | sed 's/:[[:space:]]*/: /2'
    [ -d scenario ] || return
    # shellcheck disable=SC2086
    call="(^|[^[:alnum:]_.>])($(any $unsafe $ending))[[:space:]]*\\("
    find scenario -name '*.[ch]' -exec "$tools/c-source" lines {} + |
        grep -E "$call|$header" | sed 's/:[[:space:]]*/: /2'
}

# Undefined symbols of the build; __x_chk is x with fortification.
in_objects() {
    # shellcheck disable=SC2086
    banned="$(any $unsafe $printing $ending $streams)"
    for file in "$archives"/lib*.a "$archives"/liballm.so; do
        case $file in
        */libcli.a|*/liballm.a) continue ;;     # the program; a copy
        esac
        [ -e "$file" ] || continue
        dynamic=
        case $file in *.so) dynamic=-D ;; esac
        nm -A -u $dynamic "$file" |
            sed -E 's/@.*//; s/ __([a-z]+)_chk$/ \1/; s/ __isoc99_/ /' |
            grep -E " ($banned)\$" | grep -v 'term_mem\.c\.o:.* _exit$' |
            sed -E -e 's|^.*/([^/]+):? +[Uw] (.*)$|\1 needs \2|' \
                -e 's/: +needs/ needs/'
    done
}

{ in_source; in_objects; } >"$temp/faults"
sed 's/^/banned: /' "$temp/faults"
[ ! -s "$temp/faults" ]
