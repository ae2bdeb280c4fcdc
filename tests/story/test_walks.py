#!/usr/bin/env python3
"""test_walks - docs/tutorial.md and docs/cookbook.md work as written

The test does what a reader would do, from the top of the page to its end, in
one folder and one shell:

    ```c, ```python   a complete file; its first comment begins with its name
    ```diff           a change to a file, applied with patch
    ```sh             commands; the block without a language that follows is
                      their output (standard error included), else they print
                      nothing

The folder looks like a clone after `make`.  No key is set.  A server on this
machine replaces llama.cpp: it answers a request with the text of its last
message, in two pieces.  It sends the first ten answers at the same time.
"""
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import textwrap
import threading

from program import BUILD, CLEAN, SOURCE, equal, main, need

# With absolute paths, also in "ccache cc": the "cc" of the tests, the first one
# in PATH, calls this command and must not call itself.
CC = " ".join(shutil.which(word) or word
              for word in os.environ.get("CC", "cc").split())
IS_ASAN = os.path.basename(os.path.normpath(BUILD)) == "asan"
SANITIZE = "-fsanitize=address,undefined" if IS_ASAN else ""
WARN = "-Wall -Wextra -Werror -Wno-unused-parameter"
MARK = "<<the end of block {}>>"
AT_ONCE = 10


def parts(page):
    """The fenced blocks of a page: language, text, if it follows a block."""
    with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as f:
        text = f.read()
    end = 0
    for m in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        yield m[1], m[2], not text[end:m.start()].strip()
        end = m.end()


def file_name(text):
    m = re.match(r"(?:/\*|#|---) ([\w.]+)( - |\n)", text)
    assert m, "the block does not begin with the name of its file:\n" + text
    return m[1]


def plan(page, folder):
    """The script of a page, and what each of its blocks must print."""
    script, wanted = [], []
    for number, (language, text, follows) in enumerate(parts(page)):
        if language == "":
            assert follows and wanted, "output without a command:\n" + text
            wanted[-1] = text
            continue
        if language == "sh":
            script.append(text)
        else:
            name = file_name(text)
            saved = os.path.join(folder, f".block{number}")
            with open(saved, "w", encoding="utf-8") as f:
                f.write(text)
            script.append(f"patch -s {name} {saved}\n" if language == "diff"
                          else f"cp {saved} {name}\n")
        wanted.append("")
        script.append(f"printf '\\n{MARK}\\n'\n".format(len(wanted) - 1))
    return "".join(script), wanted


def put_program(folder, name, command):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\n{command} "$@"\n')
    os.chmod(path, 0o755)


def prepare(folder):
    """A folder like that of a clone, and a compiler that warns."""
    os.symlink(os.path.join(SOURCE, "include"), os.path.join(folder, "include"))
    os.mkdir(os.path.join(folder, "build"))
    os.symlink(BUILD, os.path.join(folder, "build", "main"))
    bin_folder = os.path.join(folder, ".bin")
    os.mkdir(bin_folder)
    put_program(bin_folder, "cc", f"exec {CC} {SANITIZE} {WARN}")
    if IS_ASAN:         # a library with sanitizers in a Python without
        asan = subprocess.run(["sh", "-c", f"{CC} -print-file-name=libasan.so"],
                              capture_output=True, text=True, check=True)
        put_program(bin_folder, "python3", "LD_PRELOAD=" + asan.stdout.strip()
                    + " exec " + shutil.which("python3"))
    return bin_folder


def folded(text):
    """The output as a page shows it, with long lines broken."""
    return "".join(textwrap.fill(line, 80) + "\n"
                   if len(line) > 80 else line.rstrip() + "\n"
                   for line in text.splitlines())


def walk(page, **env):
    """Follow a page; every block must print what the page shows."""
    need("patch", "pkg-config")
    with tempfile.TemporaryDirectory(prefix="allm-walk-") as folder:
        bin_folder = prepare(folder)
        script, wanted = plan(page, folder)
        run = subprocess.run(
            ["sh", "-c", script], text=True, cwd=folder, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=120,
            env={**CLEAN, "PATH": bin_folder + ":" + CLEAN["PATH"],
                 "ASAN_OPTIONS": "detect_leaks=0", **env})
    printed = run.stdout
    for number, text in enumerate(wanted):
        got, _, printed = printed.partition("\n" + MARK.format(number) + "\n")
        equal((page, number, folded(got)), (page, number, text))


class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = body["messages"][-1]["content"]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        half = len(said) // 2
        for piece in (said[:half], said[half:]):
            self.send({"content": piece})
            if self.server.together:
                self.server.together.wait(30)
        self.server.together = None
        self.send({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def send(self, delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        line = json.dumps({"id": "1", "choices": [choice]})
        self.wfile.write(f"data: {line}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_):
        pass


def serve():
    """Start the server in new threads; returns it and its URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    server.together = threading.Barrier(AT_ONCE)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/v1"


def test_tutorial():
    """the tutorial's seven steps compile, run and print what they show"""
    walk("tutorial.md")


def test_cookbook():
    """the cookbook's ten programs do, too; one of them uses HTTP"""
    server, url = serve()
    walk("cookbook.md", LLAMACPP_BASE_URL=url, no_proxy="127.0.0.1",
         PKG_CONFIG_PATH=os.path.join(BUILD, "meson-uninstalled"),
         LD_LIBRARY_PATH=os.path.join(BUILD, "src"))
    server.shutdown()


if __name__ == "__main__":
    main(globals())
