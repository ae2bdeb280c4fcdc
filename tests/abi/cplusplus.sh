#!/bin/sh
# cplusplus.sh - C++17 programs can fill structs and use the library
#
# Compiles cplusplus.cc with every C++ compiler that is installed, without a
# warning, and runs it.
set -u

SOURCE_DIR=${SOURCE_DIR:-$(realpath "$(dirname "$0")/../..")}
BUILD_DIR=${BUILD_DIR:-$SOURCE_DIR/build/main}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
passed=0
failed=0
skipped=0

# sanitizer: the option with which the library was built, if any
sanitizer() {
    if nm -D "$BUILD_DIR/src/liballm.so" | grep -q __asan_init; then
        echo -fsanitize=address,undefined
    elif nm -D "$BUILD_DIR/src/liballm.so" | grep -q __tsan_init; then
        echo -fsanitize=thread
    fi
}

# shellcheck disable=SC2046  # an option, or nothing
compile() { # compile COMPILER
    "$1" -std=c++17 -Wall -Wextra -Wpedantic -Werror $(sanitizer) \
        -I"$SOURCE_DIR/include" "$SOURCE_DIR/tests/abi/cplusplus.cc" \
        -L"$BUILD_DIR/src" -lallm -Wl,-rpath,"$BUILD_DIR/src" \
        -o "$temp/program"
}

# try COMPILER: compile and run
try() {
    if ! command -v "$1" >/dev/null; then
        echo "ok - $1 # skipped: it is not installed"
        skipped=$((skipped + 1))
    elif [ "$1" != g++ ] && [ -n "$(sanitizer)" ]; then
        echo "ok - $1 # skipped: its sanitizer is not that of the library"
        skipped=$((skipped + 1))
    elif compile "$1" 2>"$temp/said" && "$temp/program" >"$temp/said" 2>&1
    then
        echo "ok - $1: $(tail -n 1 "$temp/said")"
        passed=$((passed + 1))
    else
        echo "not ok - $1"
        sed 's/^/#   /' "$temp/said"
        failed=$((failed + 1))
    fi
}

try g++
try clang++-14
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
