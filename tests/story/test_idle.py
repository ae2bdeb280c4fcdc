#!/usr/bin/env python3
"""test_idle - the program sleeps while nothing arrives

Linux counts how often a process has waited.  While a server is silent, and
while a chat waits for keys, the number does not change: no timer runs.
"""
import os
import select
import socket
import threading

from program import Skip, Terminal, equal, main

HEAD = (b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        b"transfer-encoding: chunked\r\n\r\n")
XTERM = {"TERM": "xterm"}


def chunk(data):
    data = b"data: " + data + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


WORD = chunk(b'{"choices":[{"index":0,"delta":{"content":"begun now "}}]}')
LAST = chunk(b'{"choices":[{"index":0,"delta":{"content":"over."},'
             b'"finish_reason":"stop"}]}') + chunk(b"[DONE]") + b"0\r\n\r\n"


class Silent:
    """A server that sends one word, and the rest when it is told to."""

    def __init__(self):
        self.go = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        peer, _ = self.socket.accept()
        with peer:
            peer.recv(65536)
            peer.sendall(HEAD + WORD)
            self.go.wait(60)
            peer.sendall(LAST)


def waits(pid):
    """How often the threads of a process have waited."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/status",
                      encoding="ascii") as status:
                total += sum(int(line.split()[1]) for line in status
                             if "voluntary_ctxt" in line)
    except OSError as lack:
        raise Skip("no /proc here") from lack
    return total


def stays_asleep(t):
    """For a second there is no output and no wait that ends."""
    for _ in range(10):             # what came before may still be at work
        before = waits(t.child.pid)
        if not select.select([t.ours], [], [], 1)[0] and \
                waits(t.child.pid) == before:
            return
        if select.select([t.ours], [], [], 0)[0]:
            t.said += os.read(t.ours, 4096)
    raise AssertionError("it is woken while nothing arrives")


def test_silent_server():
    """while a server is silent, nothing wakes the program"""
    server = Silent()
    t = Terminal("-m", "groq:m", "--base-url", server.url, "hi",
                 env={**XTERM, "GROQ_API_KEY": "k"})
    t.until(b"begun")
    stays_asleep(t)
    server.go.set()
    t.until(b"over.")
    equal(t.end(), 0)


def test_chat():
    """while a chat waits for keys, nothing wakes it"""
    t = Terminal("chat", "-m", "fake:m", env=XTERM)
    t.until(b"> ")
    stays_asleep(t)
    t.write(b"abc")
    t.until(b"abc")
    stays_asleep(t)
    t.write(b"\x15\x04")
    equal(t.end(), 0)


main(globals())
