#!/bin/sh
# exports.sh - the library exports what exports.txt and the headers promise
set -u

SOURCE_DIR=${SOURCE_DIR:-$(realpath "$(dirname "$0")/../..")}
BUILD_DIR=${BUILD_DIR:-$SOURCE_DIR/build/main}
abi=$SOURCE_DIR/tools/abi
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
passed=0
failed=0

# same WHY FILE FILE HINT: check that two lists are equal
same() {
    if diff "$2" "$3" >"$temp/diff"; then
        echo "ok - $1"
        passed=$((passed + 1))
    else
        echo "not ok - $1 ($4)"
        grep '^[<>]' "$temp/diff" | sed 's/^/#   /'
        failed=$((failed + 1))
    fi
}

"$abi" exports "$BUILD_DIR/src/liballm.so" >"$temp/exported"
for header in "$SOURCE_DIR"/include/*.h; do
    "$abi" declared "$header"
done | sort >"$temp/declared"

same "every promised function is exported, and nothing else" \
    "$SOURCE_DIR/tests/abi/exports.txt" "$temp/exported" \
    "< promised, > exported; after a wanted change: make abi-accept"
same "every declared function is exported, and nothing else" \
    "$temp/declared" "$temp/exported" "< declared, > exported"

grep -v '^allm_' "$temp/exported" >"$temp/foreign"
: >"$temp/none"
same "only names that begin with allm_ are exported" \
    "$temp/none" "$temp/foreign" "> foreign"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
