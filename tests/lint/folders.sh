#!/bin/sh
# folders.sh - the build rejects a file in a folder that LAYERS does not name
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

# The real tree.  Folders that tools/list-files searches are copies, because it
# does not follow links; all else is a link.
tree=$garden/real
mkdir -p "$tree/tests"
for path in "$SOURCE_DIR"/*; do
    case ${path##*/} in
    build|tests) ;;
    include|man|scenario|src|tools) cp -r "$path" "$tree" ;;
    *) ln -s "$path" "$tree" ;;
    esac
done
for path in "$SOURCE_DIR"/tests/*; do
    case ${path##*/} in
    unit)   cp -r "$path" "$tree/tests" ;;
    *)      ln -s "$path" "$tree/tests" ;;
    esac
done
cd "$tree" || exit 1

configure() { meson setup --wipe build . || meson setup build .; }

echo 'int x_new(void) { return 1; }' | plant src/base/x/new.c
catches "a folder of a layer" \
    "src/base/x/new.c is in a folder that src/LAYERS does not name" configure
rm -r src/base/x
echo 'int x_new(void) { return 1; }' | plant src/layer/new.c
catches "a layer" \
    "src/layer/new.c is in a folder that src/LAYERS does not name" configure
rm -r src/layer
echo 'int x_new(void) { return 1; }' | plant tests/unit/base/x/y/test_new.c
catches "a test that is too deep" \
    "tests/unit/base/x/y/test_new.c is not in tests/unit/LAYER/" configure
rm -r tests/unit/base/x
passes "the tree without them" configure

finish
