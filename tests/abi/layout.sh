#!/bin/sh
# layout.sh - structs and constants have the layout that layout.txt promises
set -u

SOURCE_DIR=${SOURCE_DIR:-$(realpath "$(dirname "$0")/../..")}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

if [ "$(getconf LONG_BIT)" != 64 ]; then
    echo "ok - layouts # skipped: they are promised for 64-bit machines"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

"$SOURCE_DIR/tools/abi" layout "$SOURCE_DIR"/include/*.h >"$temp/layout" ||
    echo "the headers cannot be laid out" >"$temp/layout"
if diff "$SOURCE_DIR/tests/abi/layout.txt" "$temp/layout" >"$temp/diff"; then
    echo "ok - $(wc -l <"$temp/layout") offsets, sizes and values"
    echo "1 passed, 0 failed"
else
    echo "not ok - < promised, > found; after a wanted change: make abi-accept"
    grep '^[<>]' "$temp/diff" | sed 's/^/#   /'
    echo "0 passed, 1 failed"
    exit 1
fi
