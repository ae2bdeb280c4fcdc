#!/bin/sh
# keys.sh - no test prints a key, and no log of the last run contains one
#
# This runs all tests whose source contains a key, with keys in the environment
# as well, then searches their output and the build's logs for each of these
# keys.  Only a request may contain a key.
set -u

SOURCE_DIR=${SOURCE_DIR:-$(realpath "$(dirname "$0")/../..")}
BUILD_DIR=${BUILD_DIR:-$SOURCE_DIR/build/main}
export SOURCE_DIR BUILD_DIR
export ALLM_TORTURE=light
export OPENAI_API_KEY=sk-environment-4711 ANTHROPIC_API_KEY=sk-environment-4712
# Programs with sanitizers print the same, only later.
if [ "$(basename "$BUILD_DIR")" != main ]; then exit 77; fi
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
passed=0
failed=0

# check WHY COMMAND...
check() {
    why=$1
    shift
    if "$@" >"$temp/said"; then
        echo "ok - $why"
        passed=$((passed + 1))
    else
        echo "not ok - $why"
        sed 's/^/#   /' "$temp/said"
        failed=$((failed + 1))
    fi
}

# clean FILE...: none of them contains a key; print the names of those that do,
# but not their content
clean() { ! grep -lF -f "$temp/keys" "$@"; }

# At least eight characters: shorter ones are prefixes of keys, or words.
grep -rhoE 'sk-[A-Za-z0-9-]{5,}' "$SOURCE_DIR/tests/unit" \
    "$SOURCE_DIR/tests/harness" |
    sort -u >"$temp/keys"
echo "sk-environment-47" >>"$temp/keys"

cd "$SOURCE_DIR/tests/unit" || exit 1
mkdir "$temp/out"
for source in $(grep -rlE 'sk-[A-Za-z0-9-]{5,}' . | sort) \
    $(find . -name 'test_*.c' |
        grep -E 'call_|keys|plan|feed|record|http|fault'); do
    name=$(echo "$source" | sed 's,^\./,,; s,/test_,_,; s,\.c$,,')
    program=$BUILD_DIR/tests/test_$name
    out=$temp/out/$name
    if [ -e "$out" ] || [ ! -x "$program" ]; then continue; fi
    (cd "$temp" && "$program") >"$out" 2>&1
done

check "the keys of the tests are known" grep -q sk-fault-0123456789 "$temp/keys"
check "programs were run" grep -q "passed" "$temp/out/run_call_http"
echo "key sk-test-0123456789" >"$temp/planted"
check "a key that is printed is found" \
    sh -c "grep -qF -f '$temp/keys' '$temp/planted'"
for out in "$temp"/out/*; do
    check "$(basename "$out") prints no key" clean "$out"
done
for log in "$BUILD_DIR"/meson-logs/*.txt "$BUILD_DIR"/meson-logs/*.json; do
    if [ -e "$log" ]; then
        check "no key in $(basename "$log")" clean "$log"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
