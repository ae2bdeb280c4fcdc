#!/bin/sh
# listing.sh - new files are found, and Meson configures again
#
# Meson and Ninja are replaced by commands that only log their use.
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

# A tree with the real tools; everything else is tiny.
tree=$garden/listed
mkdir -p "$tree/tools" "$tree/src/base" "$tree/include" \
    "$tree/tests/unit/base" \
    "$tree/tests/lint" "$tree/subprojects/packagefiles/yyjson" "$garden/bin"
cp "$tools/build" "$tools/list-files" "$tree/tools/"
printf '#!/bin/sh\nexit 0\n' >"$tree/tools/bootstrap"
chmod +x "$tree/tools/bootstrap"
cat >"$garden/bin/meson" <<'END'
#!/bin/sh
mkdir -p "$2"
touch "$2/build.ninja"
END
printf '#!/bin/sh\nexit 0\n' >"$garden/bin/ninja"
chmod +x "$garden/bin/meson" "$garden/bin/ninja"
PATH=$garden/bin:$PATH
cd "$tree" || exit 1
touch include/allm.h src/base/mem.c src/base/mem.h tests/lint/a.sh meson.build \
    meson_options.txt src/meson.build \
    subprojects/packagefiles/yyjson/meson.build
echo '/* a test */' >tests/unit/base/test_mem.c

list() { tools/list-files; }
# lists WHY WANTED: the whole list, its lines joined by spaces
lists() {
    list >"$garden/said"
    if [ "$(tr '\n' ' ' <"$garden/said")" = "$2 " ]; then
        ok "$1"
    else
        not_ok "$1"
    fi
}

files="include/allm.h src/base/mem.c tests/lint/a.sh tests/unit/base/test_mem.c"
lists "sources, tests and public headers" "$files"
mkdir -p scenario tests/scenario
touch scenario/main.c scenario/match.h tests/scenario/a.json
lists "scenarios and what runs them" \
    "include/allm.h scenario/main.c ${files#* } tests/scenario/a.json"
rm -r scenario tests/scenario
echo '/* tag: thread */' >>tests/unit/base/test_mem.c
lists "a tagged test is listed as such, too" \
    "$files thread tests/unit/base/test_mem.c"
echo '/* tag: clock */' >>tests/unit/base/test_mem.c
lists "a test may have two tags" \
    "$files thread tests/unit/base/test_mem.c clock tests/unit/base/test_mem.c"
{ yes '/* */' | head -n 30; echo '/* tag: thread */'; } \
    >tests/unit/base/test_mem.c
lists "a tag counts in the first thirty lines only" "$files"

# built WHY WORDS: tools/build prints these words; without words: nothing
built() {
    tools/build main >"$garden/said" 2>&1
    if [ "$(cat "$garden/said")" = "$2" ]; then ok "$1"; else not_ok "$1"; fi
}

built "the first build configures" "configuring build/main"
built "the second one does not" ""
touch src/base/new.c
built "a new source is noticed" "configuring build/main"
built "once" ""
rm src/base/new.c
built "so is a lost one" "configuring build/main"
echo '/* tag: thread */' >tests/unit/base/test_mem.c
built "and a new tag" "configuring build/main"
echo '# x' >>src/meson.build
built "and a changed build file" "configuring build/main"
echo '/* x */' >>src/base/mem.h
built "but not the text of a header" ""

# shellcheck disable=SC2016  # the stub expands them
printf '#!/bin/sh\necho "[$NINJA_STATUS]$*"\n' >"$garden/bin/ninja"
built "a pipe gets no progress" ""
# progress TARGETS: the output on a terminal
progress() {
    TERM=xterm TARGETS=$1 python3 -c '
import pty, sys
sys.exit(pty.spawn(["tools/build", "main"]))'
}
shows_progress() { progress "allm" | grep -F "[building: %f of %t ]" ; }
passes "a terminal shows progress" shows_progress
says "of the targets alone" "build/main allm"

printf '#!/bin/sh\necho "a.c:1: error"; exit 1\n' >"$garden/bin/ninja"
catches "a failed build fails" "a.c:1: error" tools/build main
catches "an unknown kind of build" "unknown kind of build: fast" \
    tools/build fast

finish
