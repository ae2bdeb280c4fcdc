#!/bin/sh
# node.sh - Node cannot call a C library without an addon
#
# docs/hub-in-your-loop.md says so; this checks it with the installed Node.
set -u

if ! command -v node >/dev/null; then
    echo "ok - # skipped: there is no node"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
exec node - "${BUILD_DIR:-build/main}/src/liballm.so" <<'END'
const path = require("path").resolve(process.argv[2]);
const count = { passed: 0, failed: 0, skipped: 0 };

function check(why, good) {
    count[good ? "passed" : "failed"]++;
    console.log((good ? "ok - " : "not ok - ") + why);
}

/* The code of the error, or "" when there was none. */
function refusal(attempt) {
    try { attempt(); } catch (e) { return e.code || e.message; }
    return "";
}

check("a library that is no addon is not loaded",
      refusal(() => process.dlopen({ exports: {} }, path)) ===
      "ERR_DLOPEN_FAILED");
if (require("module").builtinModules.some((m) => /(^|:)ffi$/.test(m))) {
    count.skipped++;
    console.log("ok - # skipped: this Node has a module ffi");
} else {
    check("there is no module node:ffi",
          refusal(() => require("node:ffi")) === "ERR_UNKNOWN_BUILTIN_MODULE");
}
console.log(`${count.passed} passed, ${count.failed} failed, ` +
            `${count.skipped} skipped`);
process.exitCode = count.failed ? 1 : 0;
END
