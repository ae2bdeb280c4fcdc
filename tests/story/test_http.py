#!/usr/bin/env python3
"""test_http - the program calls a real server, on this machine"""
import contextlib
import http.server
import json
import os
import resource
import ssl
import subprocess
import time

from place import Serving
from program import (ALLM, BUILD, CLEAN, HOME, PREFIX, Skip, allm, equal, file,
                     holds, main, one_sentence)

SSE = ('data: {"choices":[{"index":0,"delta":{"content":"over "}}]}\n\n'
       'data: {"choices":[{"index":0,"delta":{"content":"http"}}]}\n\n'
       'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
       'data: [DONE]\n\n')
KEY = "sk-story-0123456789"


class Server(Serving):
    """Sends the same answer to all, after a pause, and keeps the requests;
    endless: the body again and again."""

    def __init__(self, status=200, body=SSE, kind="text/event-stream", pause=0,
                 endless=False):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                size = int(self.headers.get("content-length", 0))
                asked.append((self.path, dict(self.headers),
                              json.loads(self.rfile.read(size))))
                time.sleep(pause)
                self.send_response(status)
                self.send_header("content-type", kind)
                if not endless:
                    self.send_header("content-length", str(len(body.encode())))
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.end_headers()
                    self.wfile.write(body.encode())
                    while endless:
                        self.wfile.write(body.encode())

            def log_message(self, *args):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)

    def words(self):
        return ["-m", "groq:m", "-o", "base_url",
                f"http://127.0.0.1:{self.server.server_port}/v1"]

    def ask(self, *words, **more):
        return allm(*self.words(), *words, env={"GROQ_API_KEY": KEY}, **more)


def refused(status, message="no"):
    with Server(status, json.dumps({"error": {"message": message}}),
                "application/json") as server:
        return server.ask("--timeout", "20", "hi")


def test_answer():
    """an answer arrives over HTTP; the key is only in its header"""
    with Server() as server:
        run = server.ask("-v", "hi", stdin="piped\n")
        equal((run.code, run.out), (0, b"over http\n"))
        assert KEY.encode() not in run.err
        path, headers, body = server.asked[0]
    equal(path, "/v1/chat/completions")
    equal({k.lower(): v for k, v in headers.items()}["authorization"],
          "Bearer " + KEY)
    equal(body["messages"], [{"role": "user", "content": "piped\n\nhi"}])


def test_refusals():
    """an HTTP error becomes an exit code and one sentence"""
    one_sentence(refused(401), 4)
    one_sentence(refused(403), 4)
    one_sentence(refused(400, "too odd"), 5, "too odd")
    one_sentence(refused(404), 5)


def test_cut():
    """an incomplete answer is shown, with exit code 9"""
    with Server(body=SSE.split("\n\n")[0] + "\n\n") as server:
        run = server.ask("hi")
    equal((run.code, run.out), (9, b"over \n"))


def test_time_of_all_turns():
    """--timeout bounds all turns: a re-ask has only the rest"""
    schema = file("number.json", '{"type": "number"}')
    with Server(pause=1) as server:
        run = server.ask("--schema", schema, "--timeout", "1.5", "hi")
        assert len(server.asked) <= 2, len(server.asked)
    equal(run.code, 3)
    holds(run.said, "--timeout SECONDS")


def test_warnings():
    """an option that is not sent is reported"""
    def ask(*words):
        with Server() as server:
            run = server.ask(*words, "-o", "temperature", "0.5", "hi")
            assert "temperature" not in server.asked[0][2]
        return run
    run = ask("-m", "groq:openai/gpt-5")
    equal((run.code, run.out), (0, b"over http\n"))
    holds(run.said, "temperature was not sent")
    equal(ask("-m", "groq:openai/gpt-5", "-q").said, "")
    equal(ask("-m", "groq:openai/gpt-5", "--json").json["warnings"],
          ["sampling_ignored"])
    with Server() as server:
        equal(server.ask("--json", "hi").json["warnings"], [])


def test_memory_of_events():
    """an endless answer needs at most 1.5 times its limit with --events"""
    if PREFIX or os.path.basename(BUILD) in ("asan", "tsan"):
        raise Skip("what the program runs under takes memory, too")
    body = SSE.split("\n\n", maxsplit=1)[0].replace("over ", "x" * 1000)
    with Server(body=(body + "\n\n") * 100, endless=True) as server:
        run = subprocess.Popen(
            [ALLM, *server.words(), "--events", "hi"],
            env={**CLEAN, "GROQ_API_KEY": KEY},
            stdout=subprocess.DEVNULL, cwd=HOME)
        _, status, used = os.wait4(run.pid, 0)
    equal(os.waitstatus_to_exitcode(status), 1)
    assert used.ru_maxrss < 400 * 1024, used.ru_maxrss


def test_nobody():
    """connection refused: transient"""
    run = allm("-m", "vllm:m", "-o", "base_url", "http://127.0.0.1:9/v1",
               "--timeout", "5", "hi")
    equal((run.code, run.out), (3, b""))
    holds(run.said, "allm: ")


def test_address():
    """the message for a wrong URL names the variable that sets it"""
    def said(model, **env):
        run = allm("-m", model, "--timeout", "5", "hi", env=env)
        return run.said + allm("--json", "-m", model, "--timeout", "5", "hi",
                               env=env).json["error"]["message"]
    for place in "127.0.0.1:9", "http://127.0.0.1:9/v1":
        equal(said("vllm:m", VLLM_BASE_URL=place)
              .count("VLLM_BASE_URL or -o base_url"), 2)
    words = said("databricks:m", DATABRICKS_TOKEN="k")
    equal(words.count("set DATABRICKS_BASE_URL or -o base_url"), 2)
    assert "adapter_opts" not in words, words
    words = allm("models", "-m", "vllm:", env={"VLLM_BASE_URL": "h"}).said
    holds(words, "VLLM_BASE_URL or -o base_url")
    words = allm("encode", "databricks:m",
                 stdin='[{"role": "user", "content": "hi"}]').said
    holds(words, "set DATABRICKS_BASE_URL or -o base_url")


def limited(most):
    """A function for the process of the program: limit its descriptors."""
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def test_descriptors():
    """no descriptors left: reported, and not transient"""
    refused_by = []
    with Server() as server:
        for most in range(4, 20):
            run = server.ask("--timeout", "20", "hi", before=limited(most))
            if run.code:
                equal(run.code, 1)
                holds(run.said, "descriptors")
                refused_by.append(run.said)
    holds("".join(refused_by), "ulimit -n")


def test_certificate():
    """an untrusted certificate: reported, and not transient"""
    pem = os.path.join(HOME, "own.pem")
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
         "2", "-subj", "/CN=127.0.0.1", "-keyout", pem, "-out", pem + ".crt"],
        capture_output=True, check=False)
    if made.returncode:
        return
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.load_cert_chain(pem + ".crt", pem)
    with Server() as server:
        plain = server.server.socket
        server.server.socket = trust.wrap_socket(plain, server_side=True)
        run = allm("-m", "vllm:m", "-o", "base_url",
                   f"https://127.0.0.1:{server.server.server_port}/v1",
                   "--timeout", "20", "hi")
    one_sentence(run, 1, "could not prove who it is")


if __name__ == "__main__":
    main(globals())
