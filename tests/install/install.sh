#!/bin/sh
# install.sh - the installed files are enough to build and run a program
#
# Installs the library in a temporary folder, compiles a program against it with
# pkg-config, shared and static, runs both, and checks the symbols of both
# libraries.
set -u

SOURCE_DIR=${SOURCE_DIR:-$(realpath "$(dirname "$0")/../..")}
BUILD_DIR=${BUILD_DIR:-$SOURCE_DIR/build/main}
CC=${CC:-cc}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
root=$temp/root
passed=0
failed=0
skips=0

# check WHY COMMAND...: it succeeds
check() {
    why=$1
    shift
    if "$@" >"$temp/said" 2>&1; then
        echo "ok - $why"
        passed=$((passed + 1))
    else
        echo "not ok - $why"
        sed 's/^/#   /' "$temp/said"
        failed=$((failed + 1))
    fi
}

# equal WANTED GOT
equal() {
    [ "$1" = "$2" ] || { echo "wanted: $1"; echo "got: $2"; return 1; }
}

# pkg-config still finds the other packages that a static link needs.
package() {
    PKG_CONFIG_PATH=$pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} \
        pkg-config "$@" allm
}

# shellcheck disable=SC2046,SC2086  # flags are words
compile() { # compile OUT FLAG...
    out=$1
    shift
    $CC -std=c11 "$temp/program.c" $(package --cflags) "$@" -o "$out"
}

foreign_symbols() { # foreign_symbols NM-FLAGS FILE
    # shellcheck disable=SC2086
    ! nm $1 --defined-only "$2" | awk 'NF >= 3 { print $3 }' |
        sed 's/@.*//' | grep -v '^allm_'
}

check "it installs" meson install -C "$BUILD_DIR" --no-rebuild --quiet \
    --destdir "$root"

pkgconfig=$(dirname "$(find "$root" -name allm.pc)")
lib=$(dirname "$pkgconfig")
# allm.pc names the path without DESTDIR; the program needs the real one.
sed "s|^prefix=|&$root|" "$pkgconfig/allm.pc" >"$temp/allm.pc"
cp "$temp/allm.pc" "$pkgconfig/"
header=$(find "$root" -name allm.h)
check "the header" test -s "$header"
check "the header is the one we have" cmp "$header" "$SOURCE_DIR/include/allm.h"
check "the shared library and its links" \
    test -e "$lib/liballm.so" -a -e "$lib/liballm.so.0"
soname=$(objdump -p "$lib/liballm.so" | awk '$1 == "SONAME" { print $2 }')
check "the soname" equal liballm.so.0 "$soname"
check "the static library has one object" equal 1 \
    "$(ar t "$lib/liballm.a" | wc -l | tr -d ' ')"
check "no foreign symbol in the shared library" \
    foreign_symbols -D "$lib/liballm.so"
check "no foreign symbol in the static library" \
    foreign_symbols -g "$lib/liballm.a"
check "both have the same functions" equal \
    "$(nm -D --defined-only "$lib/liballm.so" | awk '{ print $3 }' | sort)" \
    "$(nm -g --defined-only "$lib/liballm.a" | awk 'NF >= 3 { print $3 }' |
        sort)"

# A program may define names that we use internally; they must not clash.
cat >"$temp/program.c" <<'END'
#include <allm.h>
#include <stdio.h>

int arena_alloc(void), buf_add(void), yyjson_read_opts(void);
int arena_alloc(void) { return 1; }
int buf_add(void) { return 2; }
int yyjson_read_opts(void) { return 3; }

int main(void)
{
    return arena_alloc() + buf_add() + yyjson_read_opts() == 6 &&
           puts(allm_version()) < 0;
}
END
version=$(package --modversion)
# shellcheck disable=SC2046  # flags are words
check "a program with the shared library" \
    compile "$temp/shared" $(package --libs)
check "runs and says the version of the package" equal "$version" \
    "$(LD_LIBRARY_PATH=$lib:${LD_LIBRARY_PATH-} "$temp/shared")"
# shellcheck disable=SC2046
check "a program with the static library" \
    compile "$temp/static" $(package --variable=static_libs)
check "runs, too" equal "$version" "$("$temp/static")"
check "without the shared one" sh -c \
    "! objdump -p '$temp/static' | grep 'NEEDED.*allm'"
# README names only libcurl in addition to the compiler (and yyjson, if it is
# packaged, and SQLite, if it was found); another -lX might not be installed.
check "which needs nothing else that must be installed" equal "" \
    "$(package --variable=static_libs | tr ' ' '\n' | sed 1d |
        grep -vx -e -lcurl -e -lsqlite3 -e -lpq -e -lyyjson -e -pthread -e -lm)"

# The command of README, unchanged, with the paths of this install.
awk '/<!-- static link/ { here = 1 }
    here && /^[`][`][`]/ { if (on) exit; on = 1; next }
    on' "$SOURCE_DIR/README.md" >"$temp/readme.sh"
readme_link() {
    [ -s "$temp/readme.sh" ] || { echo "README has no such block"; return 1; }
    (cd "$temp" && mkdir examples &&
        cp "$SOURCE_DIR/examples/hello.c" examples &&
        PKG_CONFIG_PATH=$pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} \
            sh -e "$temp/readme.sh")
}
check "the static link of README" readme_link
check "gives a program that runs" \
    equal "$(cat "$SOURCE_DIR/examples/hello.out")" \
    "$("$temp/hello")"

# Everything that libcurl needs in a static link is named; if there is a static
# library for each, try the link.
all=$(package --static --libs)
lacks=
for word in $(pkg-config --static --libs libcurl); do
    case " $all " in *" $word "*) ;; *) lacks="$lacks $word" ;; esac
done
check "pkg-config --static names all that libcurl needs" equal "" "$lacks"
missing=
for word in $all; do
    case $word in
    -lallm) ;;
    -l*)    file=lib${word#-l}.a
            [ -e "$($CC -print-file-name="$file")" ] ||
                missing="$missing $file" ;;
    esac
done
if [ -z "$missing" ]; then
    # shellcheck disable=SC2086
    check "a program without any shared library" \
        compile "$temp/alone" -static $all
    check "runs alone" equal "$version" "$("$temp/alone")"
else
    echo "ok - a program without any shared library # SKIP no$missing"
    skips=$((skips + 1))
fi

# They find the library next to them.
program=$(find "$root" -name allm-scenario)
scenario=$SOURCE_DIR/tests/scenario/fake-generate-text.json
check "the program allm-scenario" equal "1 passed, 0 failed" \
    "$("$program" "$scenario" | tail -n 1)"

check "the program allm" equal "allm $version (liballm $version)" \
    "$("$(dirname "$program")/allm" version)"
check "its manual page and completions" equal 4 \
    "$(find "$root" -name allm.1 -o -path '*completions*/allm' \
        -o -name _allm -o -name allm.fish | wc -l | tr -d ' ')"

check "the reference as HTML" test -s \
    "$(find "$root" -path '*/doc/allm/html/index.html')"
if command -v man >/dev/null; then
    pages=$(dirname "$(find "$root" -type d -name man3)")
    check "man finds the page of a function" \
        man -M "$pages" allm_stream_next
    check "and of a type and of the whole" man -M "$pages" 3 allm_stream allm
else
    echo "ok - man finds the page of a function # SKIP no man"
    skips=$((skips + 1))
fi

DESTDIR=$root "$SOURCE_DIR/tools/uninstall" "$BUILD_DIR" >"$temp/removed"
check "uninstalling is one line" equal 1 "$(wc -l <"$temp/removed" | tr -d ' ')"
check "uninstalling leaves no file" equal "" \
    "$(find "$root" -type f -o -type l)"

[ $skips -eq 0 ] || skipped=", $skips skipped"
echo "$passed passed, $failed failed${skipped-}"
[ $failed -eq 0 ]
