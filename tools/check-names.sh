#!/bin/sh
# check-names.sh - a one-word function name is unique in src/
#
# A backtrace should read as a story; "begin, step, pull" means nothing if many
# files have such functions.  Two functions in src/ may have the same name only
# if it has at least two words ("frame_decode").
#
# usage: tools/check-names.sh [ROOT]
set -u
export LC_ALL=C

tools=$(realpath "$(dirname "$0")")
"$tools/need" names python3 || exit 1
cd "${1:-.}" || exit 1

# "PATH LINE LENGTH NAME" for each function
find src -name '*.[ch]' -exec "$tools/c-source" functions {} + | sort |
    awk '
        $4 ~ /_/ { next }
        $4 in first && first[$4] != $1 {
            print "names: " $4 "() in " $1 ":" $2 " has the name of one in " \
                first[$4] "; say what it does to what: verb_object"
            failed = 1
        }
        !($4 in first) { first[$4] = $1 }
        END { exit failed }'
