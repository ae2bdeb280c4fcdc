#!/usr/bin/env python3
"""test_blocks - every block of code on every page is run, or says why not

    c        test_docs and test_walks; here those of CONTRIBUTING and style.md
    sh       here, in a folder that looks like a clone after make; except on
             the pages that test_walks follows, and blocks below a comment
             <!-- NAME: tried by TEST -->
    json, python, diff, env   test_docs, test_walks, or here
    none     a picture or an output; it must not contain commands

A block whose page and language are not in RUN_ON fails, since no test would run
it.  "make TARGET" is not built again: make only has to know how (make -n).  A
command that says "as root" is not run; those are counted.
"""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile

from program import (BUILD, CLEAN, HOME, SOURCE, allm, equal, file, holds, main,
                     need)
from test_docs import HEAD, WALKED, compile_and_run as run_program
from test_walks import CC, SANITIZE, Echo, prepare, put_program, serve

# Language -> pattern of the pages on which a test runs it.
RUN_ON = {
    "": ".*",
    "c": r"docs/.*|README\.md|CONTRIBUTING\.md",
    "diff": r"docs/(tutorial|cookbook)\.md",
    "env": r"docs/keys\.md",
    "json": "docs/.*",
    "python": "docs/.*",
    "sh": ".*",
}
NOT_RUN = 2             # commands that need root, on all pages
TRIED = [               # blocks that another test runs: name, test
    ("first", "tests/story/test_manual.py"),
    ("static link", "tests/install/install.sh"),
    ("npm", "tests/story/test_servers.py"),
    ("npm confined", "tests/story/test_servers.py"),
    ("shell", "tests/story/test_tools.py"),
    ("first tool", "tests/story/test_tools.py"),
    ("decide later", "tests/story/test_tools.py"),
    ("git", "tests/story/test_tools.py"),
    ("database", "tests/story/test_tools.py"),
]
FENCE = re.compile(r"^(?:<!-- ([\w ]+): tried by ([\w/.]+) -->\n\n)?"
                   r"^```(\w*)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^(\$ |(make|cc|git|allm|export|sudo|apt-get|pip) |"
                     r"\.?/?(build|tools|tests)/\S+( |$))", re.M)


def read(page):
    with open(os.path.join(SOURCE, page), encoding="utf-8") as source:
        return source.read()


def pages():
    found = [os.path.relpath(path, SOURCE)
             for pattern in ("*.md", "docs/*.md", "tests/*/README.md")
             for path in glob.glob(os.path.join(SOURCE, pattern))]
    assert len(found) > 20, found
    return sorted(found)


def blocks(page, *languages):
    """(language, text, name and test of the comment above)"""
    return [(m[3], m[4], (m[1], m[2])) for m in FENCE.finditer(read(page))
            if m[3] in languages]


def hidden(page, text):
    """Code that no test would run."""
    found = FENCE.findall(text)
    if len(re.findall(r"^ *(```|~~~)", text, re.M)) != 2 * len(found):
        yield "a fence is open, indented, of tildes, or has options"
    for _, _, language, block in found:
        if not re.fullmatch(RUN_ON.get(language, "(?!)"), page):
            yield f"no test runs blocks of {language} on this page"
        if not language and COMMAND.search(block):
            yield "commands that are not marked as sh: " + block
    indented = re.search(r"^(?![ *\d|>-]).*\n\n {4,}\S.*", FENCE.sub("", text),
                         re.M)
    if indented:
        yield "an indented block: " + indented[0]


def test_kinds():
    """every block has a language that some test runs"""
    for page in pages():
        equal((page, list(hidden(page, read(page)))), (page, []))
    for page, planted in (
            ("README.md", "```bash\nls\n```\n"),
            ("README.md", "```\nmake test\n```\n"),
            ("README.md", "```\n$ ls\n```\n"),
            ("README.md", "```c\nint a;\n"),
            ("README.md", "- a\n  ```\n  b\n"),
            ("README.md", "~~~\nls\n"),
            ("README.md", "Do this:\n\n    make test\n"),
            ("README.md", "```json\n{}\n```\n"),
            ("CHANGELOG.md", "```c\nint a;\n```\n"),
            ("docs/json.md", "```env\nA=b\n```\n"),
            ("docs/json.md", "```diff\n+a\n```\n")):
        equal((planted, len(list(hidden(page, planted)))), (planted, 1))


# -------------------------------------------------------------- commands ---

class Server(Echo):
    """Also serves a list of models."""

    def do_GET(self):
        body = json.dumps({"object": "list", "data": [{"id": "default"}]})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


def start_server():
    server, address = serve()
    server.RequestHandlerClass, server.together = Server, None
    return server, address


def clone(folder):
    """A folder like a clone after make, with a make that rebuilds nothing."""
    programs = prepare(folder)
    for name in set(os.listdir(SOURCE)) - {"build", ".git", "include"}:
        os.symlink(os.path.join(SOURCE, name), os.path.join(folder, name))
    put_program(programs, "make", shutil.which("make") + " -n")
    return programs


def run(folder, programs, script):
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=folder, check=False,
        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=120, env={
            **CLEAN, "PATH": f"{programs}:{BUILD}:{CLEAN['PATH']}",
            "PKG_CONFIG_PATH": os.path.join(BUILD, "meson-uninstalled"),
            "LD_LIBRARY_PATH": os.path.join(BUILD, "src"), "PREFIX": folder,
            "ALLM_TORTURE": "off", "ASAN_OPTIONS": "detect_leaks=0",
            "no_proxy": "127.0.0.1"})


def as_root(line):
    return re.search(r"#.*\bas root\b", line)


def test_commands():
    """every command works, except those that need root"""
    need("bash", "make", "pkg-config")
    server, address = start_server()
    not_run = ran = 0
    with tempfile.TemporaryDirectory(prefix="allm-clone-") as folder:
        programs = clone(folder)
        scenario = blocks("docs/scenarios.md", "json")[0][1]
        with open(os.path.join(folder, "my.json"), "w") as out:
            out.write(scenario)
        walked = {"docs/" + name for name in WALKED}
        for page in sorted(set(pages()) - walked):
            for _, text, (_, test) in blocks(page, "sh"):
                if test:
                    continue
                lines = text.splitlines()
                not_run += sum(bool(as_root(line)) for line in lines)
                text = "\n".join(l for l in lines if not as_root(l))
                text = text.replace("http://127.0.0.1:8080/v1", address)
                done = run(folder, programs, text)
                assert done.returncode == 0, (page, text, done.stdout)
                ran += 1
    server.shutdown()
    equal(not_run, NOT_RUN)
    assert ran > 6, ran


def test_tried_elsewhere():
    """a block that another test runs is known to that test"""
    tried = []
    for page in pages():
        for _, _, (name, test) in blocks(page, *RUN_ON):
            if test:
                holds(read(test), name)
                tried.append((name, test))
    equal(tried, TRIED)


def test_manual_examples():
    """the program accepts the examples of the manual page"""
    text = read("man/allm.1").split(".SH EXAMPLES\n.nf\n")[1].split(".fi")[0]
    lines = text.replace("\\-", "-").splitlines()
    assert len(lines) > 5, lines
    file("person.json", '{"type": "object"}')
    file("photo.png", b"\x89PNG\r\n\x1a\n")
    for line in lines:
        if line.startswith("curl -sN ... | allm decode openai_chat"):
            continue        # the dots are for the reader to fill in
        line = line.rpartition("| ")[2]
        done = allm(*shlex.split(line)[1:], stdin=b"a diff",
                    env={"OLLAMA_HOST": "http://127.0.0.1:9"})
        # No key, or no server: the command itself is right.
        assert done.code in (3, 4), (line, done.code, done.said)


# -------------------------------------------------------------- programs ---

def compile_and_run(folder, sources, *flags):
    command = [*CC.split(), *SANITIZE.split(), "-std=c11", "-Wall", "-Wextra",
               "-Werror", "-D_POSIX_C_SOURCE=200809L", "-I" + folder,
               *("-I" + os.path.join(SOURCE, name)
                 for name in ("include", "src", "tests", "tests/harness")),
               *sources, *flags, "-o", os.path.join(folder, "program")]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    equal((made.returncode, made.stderr), (0, ""))
    return subprocess.run([os.path.join(folder, "program")], text=True,
                          capture_output=True, check=False,
                          env={**CLEAN, "ALLM_TORTURE": "light"})


def test_contributing():
    """the test that CONTRIBUTING shows is a test that passes"""
    shown = blocks("CONTRIBUTING.md", "c")
    equal(len(shown), 1)
    path = file("test_slice.c", shown[0][1])
    libraries = [p for p in glob.glob(os.path.join(BUILD, "src", "lib*.a"))
                 if os.path.basename(p) not in ("liballm.a", "libcli.a")]
    yyjson = glob.glob(os.path.join(BUILD, "subprojects", "*", "libyyjson.a"))
    done = compile_and_run(
        HOME, [path], "-Wl,--start-group",
        os.path.join(BUILD, "tests", "libharness.a"), *libraries,
        *(yyjson or ["-lyyjson"]), "-lcurl", "-lm", "-pthread",
        "-Wl,--end-group")
    equal(done.returncode, 0)
    holds(done.stdout, "1 passed, 0 failed")


RING = """
#include "base/slice.h"
#include <string.h>
struct ring { char bytes[4]; size_t at, cap; };
void ring_add(struct ring *, struct slice);
"""
RING_USED = """
#include "wire/ring.h"
int main(void)
{
    struct ring r = { .cap = 4 };
    ring_add(&r, SLICE("ab"));
    ring_add(&r, SLICE("cdefghi"));
    return memcmp(r.bytes + r.at, "fghi" , 4 - r.at) != 0;
}
"""


def test_style():
    """the sample in style.md compiles"""
    shown = blocks("docs/style.md", "c")
    equal(len(shown), 1)
    os.makedirs(os.path.join(HOME, "wire"))
    file("wire/ring.h", RING)
    done = compile_and_run(HOME, [file("ring.c", shown[0][1]),
                                  file("use_ring.c", RING_USED)])
    equal(done.returncode, 0)


def header_programs():
    """Pieces of a program in the comments of the headers: indented lines, of
    which the first calls or declares something."""
    for path in sorted(glob.glob(os.path.join(SOURCE, "include", "*.h"))):
        for block in re.findall(r"(?: \*    +\S.*\n)+", read(path)):
            lines = [re.sub(r"\s{2,}\(.*\)$", "", line[2:])
                     for line in block.splitlines()]
            if re.match(r" +(const )?(allm_\w+ \*+\w+ =|allm_\w+\().*[;,]$",
                        lines[0]):
                yield os.path.basename(path), "\n".join(lines)


def test_headers():
    """the programs in the comments of headers compile"""
    found = list(header_programs())
    assert found
    for name, text in found:
        run_program(name, f"{HEAD}\nint main(void)\n"
                          f"{{\n{text}\nreturn 0;\n}}\n")


def test_env():
    """the .env file that keys.md shows is read"""
    shown = blocks("docs/keys.md", "env")
    equal(len(shown), 1)
    folder = os.path.join(HOME, "env")
    os.mkdir(folder)
    file("env/.env", shown[0][1])
    listed = allm("keys", cwd=folder).text
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        assert re.search(r"%s.*\.env" % name, listed), listed


if __name__ == "__main__":
    main(globals())
