#!/bin/sh
# missing.sh - a check fails if one of its tools is missing
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

# A PATH with a link to every command; single links are removed.
bin=$garden/bin
mkdir "$bin"
echo "$PATH" | tr : '\n' | while read -r dir; do
    ln -s "$dir"/* "$bin" 2>/dev/null
done

# without "TOOL..." WORDS CHECK...: the check fails with this message
without() {
    gone=$1
    words=$2
    shift 2
    mkdir "$garden/away"
    for tool in $gone; do mv "$bin/$tool" "$garden/away" 2>/dev/null; done
    catches "$1 without ${gone%% *}" "$words" run_bare "$@"
    mv "$garden/away"/* "$bin" 2>/dev/null
    rm -r "$garden/away"
}
run_bare() { (PATH=$bin && unset CXX && CC=cc "$@"); }

fresh
cp -r "$tools" tools
mkdir tests .ci
export CFLAGS=-Ifake
layers="tools/check-layers.sh . archives"
banned="tools/check-banned.sh . archives"

# shellcheck disable=SC2086  # several words each
{
    passes "all tools are installed" run_bare $layers
    without cc "layers: missing: cc" $layers
    without nm "layers: missing: nm" $layers
    without tsort "layers: missing: tsort" $layers
    without nm "banned: missing: nm" $banned
    without python3 "banned: missing: python3" $banned
}
without python3 "size: missing: python3" tools/check-size.sh
without python3 "names: missing: python3" tools/check-names.sh
without python3 "header: missing: python3" tools/check-header.sh
without cc "header: missing: cc" tools/check-header.sh
without "c++ g++ clang++ clang++-14" "header: missing: c++" \
    tools/check-header.sh
if command -v git >/dev/null; then
    git init -q .
    without git "words: missing: git" tools/check-words.sh
fi

mkdir build && mv archives build/src
without "shellcheck clang-tidy clang-tidy-14 clang-format clang-format-14" \
    "shell: missing: shellcheck" tools/lint build
says "clang-tidy is missing, too" "tidy: clang-tidy is missing"
says "clang-format is missing, too" "format: clang-format 14 is missing"

finish
