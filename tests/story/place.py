"""place - a home with settings, a project below it, and a server"""
import http.server
import json
import os
import tempfile
import threading

from program import HOME, allm

SSE = ('data: {"choices":[{"index":0,"delta":{"content":"from the server"}}]}'
       '\n\n'
       'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
       'data: [DONE]\n\n')


class Place:
    """A home, a project below it, and the program in the project."""

    def __init__(self):
        self.home = tempfile.mkdtemp(dir=HOME)
        self.project = os.path.join(self.home, "project")
        os.mkdir(self.project)
        self.folder = os.path.join(self.home, ".config/allm")
        self.config = os.path.join(self.folder, "config.json")

    def write(self, content, name=None):
        """The user's settings, or a file of the project."""
        path = os.path.join(self.project, name) if name else self.config
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            if isinstance(content, (dict, list)):
                content = json.dumps(content)
            out.write(content if isinstance(content, bytes)
                      else content.encode())
        return path

    def read(self, name=None):
        path = os.path.join(self.project, name) if name else self.config
        with open(path, "rb") as file:
            return file.read()

    def run(self, *args, env=None, **more):
        return allm(*args, env={"HOME": self.home, **(env or {})},
                    cwd=self.project, **more)

    def get(self, key, env=None):
        run = self.run("config", "get", key, env=env)
        return run.text.rstrip("\n") if run.code == 0 else None

    def request(self, *args, env=None):
        """The request that would be sent."""
        run = self.run("--dry-run", *args, "hi", env=env)
        assert run.code == 0, run.said
        return run.json


class Serving:
    """self.server runs as long as the block that enters it."""

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()


class Server(Serving):
    """Answers on this machine, and keeps what it was asked.  statuses: those of
    the first answers; 200 follows."""

    def __init__(self, *statuses, message="no"):
        asked = self.asked = []
        left = self.left = list(statuses)

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, body):
                status = left.pop(0) if left else 200
                text = SSE if status == 200 and body else json.dumps(
                    {"data": [{"id": "m1"}]} if status == 200 else
                    {"error": {"message": message}})
                asked.append((self.path, dict(self.headers), body))
                self.send_response(status)
                self.send_header("content-type", "text/event-stream"
                                 if text is SSE else "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def do_GET(self):
                self.answer(None)

            def do_POST(self):
                size = int(self.headers.get("content-length", 0))
                self.answer(json.loads(self.rfile.read(size)))

            def log_message(self, *args):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def keys(self):
        """The keys that it has seen."""
        return [headers.get("Authorization") or headers.get("authorization")
                for _, headers, _ in self.asked]
