#!/bin/sh
# check-layers.sh - check that src/ is layered as src/LAYERS says
#
#   0  a file is src/LAYER/FILE or, where LAYERS names the folder,
#      src/LAYER/FOLDER/FILE; a folder may use what its layer may use and the
#      files of its layer, but not the folders next to it
#   1  an #include names a permitted layer and its file
#   2  a linked symbol comes from a permitted layer, whether a header declares
#      it or not; it belongs to the layer that defines it, whatever its name;
#      of the library, cli and conf may use only allm_*
#   3  headers and sources form no cycle, not even inside one layer
#   4  allm_FILE_verb or allm_LAYER_FILE_verb is defined in src/LAYER/FILE.c
#   5  every header compiles on its own
#   6  a header that src/RESTRICTED names is included only by the files and
#      layers listed there, and by each of them; only json calls functions of
#      yyjson, only net those of libcurl, only base and the program's
#      term/mem.c malloc and the like
#
# usage: tools/check-layers.sh [ROOT [ARCHIVES]]
#
# ARCHIVES is the folder with libLAYER.a for each layer.  The defaults are . and
# ROOT/build/main/src.  CC is the compiler, CFLAGS finds headers of libraries.
set -u
export LC_ALL=C

"$(dirname "$0")/need" layers nm tsort "${CC:-cc}" || exit 1
root=${1:-.}
archives=$(realpath "${2:-$root/build/main/src}")
cd "$root" || exit 1
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
law=src/LAYERS
failed=0

# report TITLE: print the list of faults, if it is not empty.
report() {
    if [ -s "$temp/faults" ]; then
        echo "layers: $1"
        sed 's/^/  /' "$temp/faults"
        failed=1
    fi
}

# --------------------------------------------------------------- the facts ---

# groups: "LAYER" or "LAYER/FOLDER", one per line; layers: without folders
sed 's/#.*//' "$law" | awk 'NF { print $1 }' >"$temp/groups"
grep -v / "$temp/groups" >"$temp/layers"
# permits: "USER USED", both groups.  A group that may use a layer may use its
# folders; a folder may use what its layer may use, but not its siblings.
sed 's/#.*//' "$law" | awk '
    function layer_of(group) { sub(/\/.*/, "", group); return group }
    function permit(user, layer,    i) {
        print user, layer
        for (i = 1; i <= folders; i++)
            if (layer_of(folder[i]) == layer && (folder[i] == user ||
                    user == layer || layer_of(user) != layer))
                print user, folder[i]
    }
    NF && $1 ~ /\// { folder[++folders] = $1 }
    NF && $1 !~ /\// { line[++lines] = $0 }
    END {
        for (n = 1; n <= lines; n++) {
            count = split(line[n], word)
            for (i = 1; i <= count; i++) {
                permit(word[1], word[i])
                for (f = 1; f <= folders; f++)
                    if (layer_of(folder[f]) == word[1])
                        permit(folder[f], word[i])
            }
        }
    }' >"$temp/permits"

# files: sources and headers without "src/"
(cd src && find . -name '*.[ch]' | sed 's|^\./||' | sort) >"$temp/files"

# includes: "FILE HOW TARGET", HOW being " or <
(cd src && xargs grep -HoE \
    '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]+' \
    /dev/null <"$temp/files") |
    sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*(["<])/ \1 /' \
    >"$temp/includes"

# symbols: "GROUP FILE TYPE SYMBOL", from the objects of each layer's archive.
# Meson names the object of a/b/c.c a_b_c.c.o; the list of files shows where the
# slashes were.
while read -r layer; do
    [ -e "$archives/lib$layer.a" ] || continue
    nm -A -g "$archives/lib$layer.a" | awk -v layer="$layer" '
        FILENAME ~ /files$/ {
            object = $1
            sub(/\.c$/, "", object)
            group = file = object
            sub(/\/[^\/]*$/, "", group)
            sub(/.*\//, "", file)
            gsub(/\//, "_", object)
            place[object] = group " " file
            next
        }
        {
            object = $1
            sub(/:[0-9a-f]*$/, "", object)
            sub(/.*[:\/]/, "", object)
            sub(/(\.c)?\.o$/, "", object)
            at = (object in place) ? place[object] : layer " " object
            print at, $(NF - 1), $NF
        }' "$temp/files" -
done <"$temp/layers" >"$temp/symbols"

# ------------------------------------------------------------------- rules ---

check_folders() {
    sed -n 's|/[^/]*$||p' "$temp/files" | sort -u |
        grep -vxFf "$temp/groups" | sed 's/$/ is not named in LAYERS/' \
        >"$temp/faults"
    grep -vE '^[^/]+/([^/]+/)?[^/]+$' "$temp/files" |
        sed 's/$/ is not in src\/LAYER\/ or src\/LAYER\/FOLDER\//' \
        >>"$temp/faults"
    report "a folder without a place in the order"
}

check_archives() {
    grep '\.c$' "$temp/files" | sed 's|/.*||' | sort -u |
        while read -r layer; do
            [ -e "$archives/lib$layer.a" ] || echo "lib$layer.a"
        done >"$temp/faults"
    report "not built, so its symbols cannot be judged"
}

check_includes() {
    awk '
        FILENAME ~ /permits$/ { may[$1, $2] = 1; next }
        FILENAME ~ /files$/   { known[$1] = 1; next }
        {
            layer = $1; sub(/\/[^\/]*$/, "", layer)
            to = $3; sub(/\/[^\/]*$/, "", to)
            if ($3 ~ /^allm(_[a-z]+)?\.h$/)
                to = "api"
            else if ($2 == "<" && !($3 in known))
                next
            else if (!($3 in known)) {
                print $1 " includes \"" $3 "\", which is not a src/LAYER/FILE.h"
                next
            }
            if (!((layer, to) in may))
                print $1 " includes " $3 ": " layer " may not use " to
        }' "$temp/permits" "$temp/files" "$temp/includes" >"$temp/faults"
    report "forbidden include"
}

check_symbols() {
    awk '
        FILENAME ~ /permits$/ { may[$1, $2] = 1; next }
        pass == 1 && $3 ~ /[A-TV-Z]/ { home[$4] = $1; next }
        pass == 2 && $3 ~ /[Uw]/ && $4 in home {
            to = home[$4]
            if ($1 ~ /^(cli|conf)$/ && $4 ~ /^allm_/)
                to = "api"
            if (!(($1, to) in may))
                print $1 "/" $2 ".c uses " $4 " of " home[$4] ": " \
                    $1 " may not use " to
        }' "$temp/permits" pass=1 "$temp/symbols" pass=2 "$temp/symbols" \
        >"$temp/faults"
    report "forbidden call"
}

# A source and its header count as one node.
check_cycles() {
    awk '$3 ~ /\// {
        from = $1; sub(/\.[ch]$/, "", from)
        to = $3; sub(/\.[ch]$/, "", to)
        if (from != to)
            print from, to
    }' "$temp/includes" | tsort 2>&1 >/dev/null |
        sed 's/^tsort: //; s/^-: //' >"$temp/faults"
    report "include cycle"
}

check_names() {
    awk '
        function fits(name, noun) {
            return name == noun || index(name, noun "_") == 1
        }
        FILENAME ~ /files$/ {
            if ($1 ~ /\.c$/) {
                path = $1; sub(/\.c$/, "", path)
                parts = split(path, part, "/")
                short[path] = "allm_" part[parts]
                long[path] = "allm_" part[parts - 1] "_" part[parts]
            }
            next
        }
        $3 ~ /[A-TV-Z]/ && $4 ~ /^allm_/ {
            here = $1 "/" $2
            if (fits($4, short[here]) || fits($4, long[here]))
                next
            where = ""
            for (path in short)
                if (fits($4, short[path]) || fits($4, long[path]))
                    where = where " " path ".c"
            print $4 " is in " here ".c, but " \
                (where ? "belongs in" where : "no file has its noun")
        }' "$temp/files" "$temp/symbols" >"$temp/faults"
    report "misplaced public function"
}

check_headers_alone() {
    # shellcheck disable=SC2016  # the inner shell expands these
    (cd src && grep '\.h$' "$temp/files"
     cd ../include 2>/dev/null && ls -- *.h) |
        CC=${CC:-cc} CFLAGS=${CFLAGS-} xargs -n 1 -P 2 sh -c '
            echo "#include \"$1\"" |
            $CC -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror \
                -Iinclude -Isrc $CFLAGS -fsyntax-only -x c - 2>/dev/null ||
            echo "$1"' sh | sort >"$temp/faults"
    report "header does not compile alone"
}

# restricted: "HEADER USER", a user being a layer or a file without its ending
check_restricted() {
    sed 's/#.*//' src/RESTRICTED |
        awk '{ for (i = 2; i <= NF; i++) print $1, $i }' >"$temp/restricted"
    awk '
        FILENAME ~ /restricted$/ { may[$1, $2] = 1; listed[$1] = 1; next }
        $3 in listed {
            file = $1; sub(/\.[ch]$/, "", file)
            layer = $1; sub(/\/.*/, "", layer)
            own = $3; sub(/\/.*/, "", own)
            used[$3, file] = used[$3, layer] = 1
            if (layer != own && !(($3, file) in may) && !(($3, layer) in may))
                print $1 " includes " $3 ", and src/RESTRICTED does not list it"
        }
        END {
            for (pair in may)
                if (!(pair in used)) {
                    split(pair, word, SUBSEP)
                    print word[2] " does not include " word[1] \
                        ", but src/RESTRICTED lists it"
                }
        }' "$temp/restricted" "$temp/includes" >"$temp/faults"
    report "restricted header"
}

check_private() {
    awk '
        $3 != "U" { next }
        { layer = $1; sub(/\/.*/, "", layer) }
        $4 ~ /^curl_/ && layer != "net" {
            print $1 "/" $2 ".c uses " $4 ", which only net may" }
        $4 ~ /^yyjson_/ && layer != "json" {
            print $1 "/" $2 ".c uses " $4 ", which only json may" }
        BEGIN {
            memory = "^(malloc|calloc|realloc|reallocarray|free|strdup" \
                "|strndup|aligned_alloc|posix_memalign)$"
        }
        $4 ~ memory && layer != "base" && $1 "/" $2 != "term/mem" {
            print $1 "/" $2 ".c uses " $4 ", which only base may" }' \
        "$temp/symbols" >"$temp/faults"
    report "forbidden outside its layer"
}

check_folders
check_archives
check_includes
check_symbols
check_cycles
check_names
check_headers_alone
check_restricted
check_private
exit $failed
