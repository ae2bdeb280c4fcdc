#!/usr/bin/env python3
"""server.py - an HTTP server that streams to several clients at once

Each answer comes in three pieces, "a", "b" and "c"; before each piece the
server waits until all clients have come so far, so that nothing ends unless
all of them are served at the same time.

usage: server.py CLIENTS        prints its port, serves until it is killed
"""
import http.server
import json
import sys
import threading
import time

PAUSE = 0.02            # seconds before a piece: a loop that spins shows


def frame(delta, reason=None):
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({'id': '1', 'choices': [choice]})}\n\n".encode()


PIECES = [frame({"content": "a"}), frame({"content": "b"}),
          frame({"content": "c"}) + frame({}, "stop") + b"data: [DONE]\n\n"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for piece in PIECES:
            self.server.together.wait(30)
            time.sleep(PAUSE)
            self.wfile.write(piece)
            self.wfile.flush()
        self.close_connection = True

    def log_message(self, *_):
        pass


def start(clients):
    """A server in threads of its own; its port is in server_address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.together = threading.Barrier(clients)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    print(start(int(sys.argv[1])).server_address[1], flush=True)
    threading.Event().wait()
