#!/bin/sh
# summary.sh - tools/run-tests adds up what tests counted and hides no failure
#
# A fake Meson writes the records that the real one would write.
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

mkdir -p "$garden/bin" "$garden/build/meson-logs"
cat >"$garden/bin/meson" <<END
#!/bin/sh
echo "\$*" >"$garden/arguments"
cp "$garden/records" "$garden/build/meson-logs/allm-tests.json" 2>/dev/null
END
chmod +x "$garden/bin/meson"
PATH=$garden/bin:$PATH

# record RESULT STATUS OUTPUT: add the record of a test
record() {
    printf '{"name": "unit / a", "result": "%s", "returncode": %s, %s}\n' \
        "$1" "$2" \
        "\"duration\": 0.1, \"command\": [\"./a\"], \"stdout\": \"$3\"" \
        >>"$garden/records"
}
again() { rm -f "$garden/records" "$garden"/build/meson-logs/*; }
summary() { "$tools/run-tests" "$garden/build" "$@"; }

again
record OK 0 'ok - x\n3 passed, 0 failed\n'
record OK 0 '1 passed, 0 failed\nmore\n2 passed, 0 failed, 4 skipped\n'
record OK 0 'no count at all\n'
record SKIP 77 ''
passes "counts are added; a test without one counts as one" summary
says "the sum" "6 passed, 0 failed"
says "the skipped" "5 skipped"
if [ "$(tail -n 1 "$garden/said")" = "6 passed, 0 failed" ]; then
    ok "the sum is the closing line"
else
    not_ok "the sum is the closing line"
fi

again
record OK 0 '3 passed, 0 failed\n'
record FAIL 1 'ok - b\nnot ok - c is not d\n1 passed, 2 failed\n'
catches "failures fail the whole" "4 passed, 2 failed" summary
says "they are shown" "not ok - c is not d"
says "and how to see them again" "again: ./a"

again
record FAIL 139 '3 passed, 0 failed\n'
catches "a crash behind the count" "3 passed, 1 failed" summary
again
record TIMEOUT -9 ''
catches "a test that hangs" "0 passed, 1 failed" summary
again
record OK 0 '3 passed, 2 failed\n'
catches "a test that forgets its exit status" "3 passed, 2 failed" summary

again
{ echo 'first line'; yes 'ok - fine' | head -n 200; echo 'not ok - here'
  echo '# why'; yes 'ok - fine' | head -n 200; } | sed 's/$/\\n/' |
    tr -d '\n' >"$garden/long"
record FAIL 1 "$(cat "$garden/long")"
catches "a failure in a long text" "not ok - here" summary
says "with its reason" "# why"
if [ "$(wc -l <"$garden/said")" -lt 40 ]; then
    ok "without the rest"
else
    not_ok "without the rest"
fi

again
: >"$garden/records"
passes "no test at all" summary --suite thread
says "is said" "no such test in"
cp "$garden/arguments" "$garden/said"
says "Meson was told the suite" "--suite thread"

finish
