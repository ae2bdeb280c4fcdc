#!/usr/bin/env python3
"""test_media - allm image and allm moderate against a real loopback server"""
import base64
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading

from program import (ALLM, CLEAN, HOME, Run, Terminal, allm, equal, file,
                     holds, main, one_sentence)

PNG = b"\x89PNG\r\n\x1a\n bytes"


class Provider(http.server.BaseHTTPRequestHandler):
    """Images and moderations, as OpenAI returns them."""
    asked = []
    data = None     # of the images; a function of the request

    def do_GET(self):
        Provider.asked.append((self.path, b""))
        self.send_response(200)
        self.send_header("content-length", str(len(PNG)))
        self.end_headers()
        self.wfile.write(PNG)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Provider.asked.append((self.path, body))
        if self.path.endswith("/moderations"):
            bad = b"bad" in body
            answer = {"id": "m", "model": "x", "results": [{
                "flagged": bad, "categories": {"violence": bad, "hate": False},
                "category_scores": {"violence": 0.75 if bad else 0.01,
                                    "hate": 0.0}}]}
        else:
            count = 2 if b'"n":2' in body.replace(b" ", b"") else 1
            answer = {"created": 1, "data": [
                {"b64_json": base64.b64encode(PNG).decode()}] * count}
            if Provider.data:
                answer["data"] = Provider.data(answer["data"])
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


SERVER = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=SERVER.serve_forever, daemon=True).start()
ENV = {"OPENAI_API_KEY": "k",
       "OPENAI_BASE_URL": f"http://127.0.0.1:{SERVER.server_port}/v1"}


def test_moderate():
    """moderate prints the categories that apply; flagged: exit code 7"""
    run = allm("moderate", "fine", "words", env=ENV)
    equal((run.code, run.out, run.err), (0, b"", b""))
    run = allm("moderate", "bad words", env=ENV)
    equal((run.code, run.text), (7, "violence 0.7500\n"))
    run = allm("moderate", "--json", stdin="bad", env=ENV)
    equal((run.code, run.json["flagged"], run.json["categories"]),
          (7, True, {"violence": True, "hate": False}))
    equal(allm("moderate", "-", stdin="fine", env=ENV).code, 0)
    for stdin in "", " \n":
        one_sentence(allm("moderate", stdin=stdin, env=ENV), 2, "no text")
    one_sentence(allm("moderate", stdin=b"\xff", env=ENV), 2, "UTF-8")
    equal(allm("moderate", "x").code, 4)


def test_image():
    """image writes files and prints their names"""
    folder = tempfile.mkdtemp(dir=HOME)
    run = allm("image", "a", "fox", cwd=folder, env=ENV)
    equal((run.code, run.text), (0, "image.png\n"))
    with open(os.path.join(folder, "image.png"), "rb") as image:
        equal(image.read(), PNG)
    equal(os.stat(os.path.join(folder, "image.png")).st_mode & 0o777, 0o600)
    holds(Provider.asked[-1][1].decode(), '"a fox"')
    asked = len(Provider.asked)
    one_sentence(allm("image", "a", cwd=folder, env=ENV), 2,
                 "image.png exists", "--force")
    equal(len(Provider.asked), asked)       # nothing was paid for
    run = allm("image", "--force", "-n", "2", "a", cwd=folder, env=ENV)
    equal((run.code, run.text), (0, "image.png\nimage-2.png\n"))
    equal(sorted(os.listdir(folder)), ["image-2.png", "image.png"])


def test_image_adapter():
    """-o base_url and -o adapter_opts are for the adapter, as in ask"""
    with tempfile.TemporaryDirectory(dir=HOME) as where:
        Provider.asked.clear()
        run = allm("image", "-o", "base_url", ENV["OPENAI_BASE_URL"], "-o",
                   "quality", "high", "a fox", cwd=where,
                   env={**ENV, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
        equal((run.code, len(Provider.asked)), (0, 1))
        body = json.loads(Provider.asked[0][1])
        equal((body["quality"], "base_url" in body), ("high", False))
        script = {"image_script": [["ok", [{
            "source": {"type": "binary",
                       "value": base64.b64encode(PNG).decode()}}]]]}
        run = allm("image", "-m", "fake:m", "-o", "adapter_opts",
                   json.dumps(script), "-O", "f.png", "a fox", cwd=where)
        equal((run.code, run.text), (0, "f.png\n"))
        with open(os.path.join(where, "f.png"), "rb") as image:
            equal(image.read(), PNG)


def test_image_failures():
    """the exit codes of a failed call are those of ask"""
    for reason, code in (("authentication_failed", 4), ("rate_limited", 3),
                         ("content_filter", 7), ("invalid_request", 5),
                         ("unsupported_feature", 5), ("unknown", 1)):
        script = json.dumps({"image_script": [["error", reason]]})
        run = allm("image", "-m", "fake:m", "-o", "adapter_opts", script, "a")
        equal((reason, run.code, run.out), (reason, code, b""))


def test_image_edit():
    """with -a an image is edited"""
    folder = tempfile.mkdtemp(dir=HOME)
    with open(os.path.join(folder, "in.txt"), "wb") as image:
        image.write(PNG)    # the content says what it is
    run = allm("image", "-a", "in.txt", "-O", "out.png", "night", cwd=folder,
               env=ENV)
    equal((run.code, run.text), (0, "out.png\n"))
    path, body = Provider.asked[-1]
    assert path.endswith("/images/edits"), path
    assert PNG in body


def test_image_out():
    """-O - writes the bytes to a pipe, and never to a terminal"""
    equal(allm("image", "-O", "-", "a", env=ENV).out, PNG)
    t = Terminal("image", "-O", "-", "a", env=ENV)
    equal(t.end(), 2)
    holds(t.said.decode(), "not written to a terminal")


def test_image_misuse():
    """what cannot work is refused before an image is paid for"""
    note, asked = file("note.txt", "text"), len(Provider.asked)
    link, pipe = os.path.join(HOME, "link.png"), os.path.join(HOME, "pipe.png")
    os.symlink("nowhere", link)
    os.mkfifo(pipe)
    for arguments, words in ((["-O", "/nowhere/x.png"], "/nowhere/x.png"),
                             (["-O", ""], "needs the name"),
                             (["-O", "-", "-n", "2"], "takes one image"),
                             (["-a", note], "is not an image"),
                             (["-a", file("text.png", "text")],
                              "is not an image"),
                             (["-O", link], "exists"),
                             (["--force", "-O", pipe], "not a regular file"),
                             (["--mask", note], "needs an image to edit")):
        one_sentence(allm("image", *arguments, "a", env=ENV), 2, words)
    for prompt in [], [" "]:
        one_sentence(allm("image", *prompt, env=ENV), 2, "needs a prompt")
    one_sentence(allm("image", b"\xff", env=ENV), 2, "not UTF-8")
    equal(len(Provider.asked), asked)
    with open("/dev/full", "wb") as full:
        run = subprocess.run([ALLM, "image", "-O", "-", "a"], stdout=full,
                             env={**CLEAN, **ENV}, stderr=subprocess.PIPE,
                             check=False)
    equal(run.returncode, 1)
    holds(run.stderr.decode(), "No space left")


def kept(run):
    """The images that could not be written where they should be."""
    paths = re.findall("the image is in (/tmp/allm-[A-Za-z0-9]+)", run.said)
    for path in paths:
        with open(path, "rb") as image:
            equal(image.read(), PNG)
        os.unlink(path)
    return len(paths)


def test_image_is_paid_for():
    """an image that cannot be written is kept elsewhere, and named"""
    folder = tempfile.mkdtemp(dir=HOME)

    def others(images):
        with open(os.path.join(folder, "a.png"), "wb") as other:
            other.write(b"mine")
        return images * 3
    Provider.data = others
    run = allm("image", "-O", "a.png", "fox", cwd=folder, env=ENV)
    equal((run.code, run.text), (2, "a-2.png\na-3.png\n"))
    equal(kept(run), 1)
    with open(os.path.join(folder, "a.png"), "rb") as other:
        equal(other.read(), b"mine")
    Provider.data = None
    with open("/dev/full", "wb") as full:
        run = subprocess.run([ALLM, "image", "-O", "-", "a"], stdout=full,
                             env={**CLEAN, **ENV}, stderr=subprocess.PIPE,
                             check=False)
    equal(kept(Run(run.returncode, b"", run.stderr)), 1)


def test_image_address():
    """an image of which only the address comes is fetched, or named"""
    folder = tempfile.mkdtemp(dir=HOME)
    here = f"http://127.0.0.1:{SERVER.server_port}"
    Provider.data = lambda images: [{"url": here + "/x.png"}]
    run = allm("image", "fox", cwd=folder, env=ENV)
    equal((run.code, run.out, os.listdir(folder)), (1, b"", []))
    holds(run.said, "the image is at " + here + "/x.png")
    config = os.path.join(folder, "config.json")
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"providers": {"openai": {"proxy": here}}}, out)
    Provider.data = lambda images: [{"url": "http://pictures.example/x.png"}]
    run = allm("image", "fox", cwd=folder,
               env={**ENV, "ALLM_CONFIG": config,
                    "OPENAI_BASE_URL": "http://api.example/v1"})
    equal((run.code, run.text), (0, "image.png\n"))
    with open(os.path.join(folder, "image.png"), "rb") as image:
        equal(image.read(), PNG)
    Provider.data = None


def test_unsupported():
    """a provider without images or moderation is a bad request: exit code 5"""
    for words in ["image", "fox", "-O", "x.png"], ["moderate", "fox"]:
        run = allm(*words, "-m", "ollama:m")
        equal((run.code, run.out), (5, b""))
        holds(run.said, "is not supported by ollama")


def test_own_provider():
    """a provider of the user's gets the request, the key and the headers"""
    folder = tempfile.mkdtemp(dir=HOME)
    config = os.path.join(folder, "config.json")
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"providers": {"mine": {
            "like": "openai", "base_url": ENV["OPENAI_BASE_URL"],
            "key": "env:MY_KEY"}}}, out)
    env = {"ALLM_CONFIG": config, "MY_KEY": "k"}
    asked = len(Provider.asked)
    equal(allm("moderate", "-m", "mine:m", "bad", env=env).code, 7)
    run = allm("image", "-m", "mine:i", "a", cwd=folder, env=env)
    equal((run.code, run.text), (0, "image.png\n"))
    equal(len(Provider.asked), asked + 2)


if __name__ == "__main__":
    main(globals())
