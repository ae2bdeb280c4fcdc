"""mcp_bridge - the stdio of allm mcp behind Streamable HTTP

    with Bridge(command, env) as url: ...

Every session is a process of its own.  Names of tools lose the prefix of the
server that allm mcp is a proxy for.
"""
import contextlib
import http.server
import json
import queue
import subprocess
import threading

PREFIX = "s__"


class Session:
    """One process, and who awaits its messages."""

    def __init__(self, command, env):
        # pylint: disable=consider-using-with
        self.child = subprocess.Popen(command, env=env, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
        self.waiting = {}
        self.lock = threading.Lock()
        threading.Thread(target=self.hear, daemon=True).start()

    def hear(self):
        """Hand out messages: an answer ends the wait for it, and everything
        else goes to the request that came last."""
        for line in self.child.stdout:
            message = json.loads(line)
            for tool in (message.get("result") or {}).get("tools", []):
                tool["name"] = tool["name"].removeprefix(PREFIX)
            with self.lock:
                last = "method" not in message
                to = self.waiting.pop(message.get("id"), None) if last else \
                    next(reversed(self.waiting.values()), None)
            if to:
                to.put((message, last))

    def say(self, message):
        """Send a message; for a request, the queue of what it brings."""
        brings = queue.Queue()
        if message.get("method") == "tools/call":
            message["params"]["name"] = PREFIX + message["params"]["name"]
        with self.lock:
            if "method" in message and "id" in message:
                self.waiting[message["id"]] = brings
            self.child.stdin.write(json.dumps(message).encode() + b"\n")
            self.child.stdin.flush()
        return brings

    def end(self):
        self.child.stdin.close()
        return self.child.wait(20)


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""
    protocol_version = "HTTP/1.1"

    def answer(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def handle(self):
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_POST(self):              # pylint: disable=invalid-name
        size = int(self.headers["Content-Length"])
        message = json.loads(self.rfile.read(size))
        name = self.headers.get("Mcp-Session-Id")
        if not self.headers["Host"].startswith(("127.0.0.1:", "localhost:")):
            self.answer(403, Content_Length="0")
            return
        if message.get("method") == "initialize":
            name = self.server.bridge.open()
        session = self.server.bridge.sessions.get(name)
        if not session:
            self.answer(404, Content_Length="0")
            return
        brings = session.say(message)
        if "method" not in message or "id" not in message:
            self.answer(202, Content_Length="0")
            return
        self.answer(200, Content_Type="text/event-stream",
                    Mcp_Session_Id=name, Transfer_Encoding="chunked")
        last = False
        while not last:
            said, last = brings.get(timeout=60)
            self.chunk(f"data: {json.dumps(said)}\n\n")
        self.chunk("")

    def do_GET(self):               # pylint: disable=invalid-name
        self.answer(405, Content_Length="0")

    do_DELETE = do_GET

    def log_message(self, *args):   # pylint: disable=arguments-differ
        pass


class Bridge:
    """An HTTP server on this machine, for the time of a with statement."""

    def __init__(self, command, env):
        self.command, self.env = command, env
        self.sessions = {}
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.bridge = self

    def open(self):
        """A new session; its name."""
        name = f"session-{len(self.sessions)}"
        self.sessions[name] = Session(self.command, self.env)
        return name

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/mcp"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        assert not any(s.end() for s in self.sessions.values())
