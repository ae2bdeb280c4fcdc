"""server - a loopback server for batches: it delays, refuses and breaks off

Each request is answered with the prompt in capitals, as OpenAI's chat
completions stream it; a request for embeddings, with a vector for each input.
What happens is chosen by a seed, so that runs can be repeated.  `asked` counts
the requests for each prompt, `answered` those that were answered in full.
"""
import asyncio
import collections
import json
import random
import threading
import time


class Server:
    """delay: up to so many seconds.  refuse, cut: parts of the requests.
    rate: requests per second, in windows of one second.  script: a function of
    (prompt, count) that returns a status, "cut", "never", how many seconds
    (a float) the answer takes, or None.  bodies: a
    list that gets the requests, each with its headers."""

    def __init__(self, delay=0.0, refuse=0.0, cut=0.0, rate=None, seed=1,
                 script=None, bodies=None):
        self.bodies = bodies
        self.delay, self.refuse, self.cut = delay, refuse, cut
        self.rate, self.script = rate, script
        self.random = random.Random(seed)
        self.asked = collections.Counter()
        self.answered = collections.Counter()
        self.statuses = collections.Counter()
        self.window, self.left = 0, rate
        self.in_flight = self.most = 0
        self.news = threading.Condition()

    # ------------------------------------------------------------- answers

    def limits(self):
        """The headers of the quota; None: it is used up."""
        now = time.monotonic()
        if int(now) != self.window:
            self.window, self.left = int(now), self.rate
        reset = f"{1 - now % 1 + 0.002:.3f}"
        used_up = self.left == 0
        self.left -= not used_up
        return used_up, (f"x-ratelimit-limit-requests: {self.rate}\r\n"
                         f"x-ratelimit-remaining-requests: {self.left}\r\n"
                         f"x-ratelimit-reset-requests: {reset}s\r\n" +
                         (f"retry-after-ms: {float(reset) * 1000:.0f}\r\n"
                          if used_up else ""))

    def choose(self, prompt):
        """What happens to this request, and its headers."""
        if self.script:
            count = self.asked[prompt] if isinstance(prompt, str) else 0
            return self.script(prompt, count), ""
        if self.rate:
            used_up, headers = self.limits()
            return (429 if used_up else None), headers
        chance = self.random.random()
        if chance < self.refuse:
            return self.random.choice([429, 500, 503]), "retry-after-ms: 1\r\n"
        return ("cut" if chance < self.refuse + self.cut else None), ""

    @staticmethod
    def events(prompt):
        def event(delta, finish=None, **more):
            return "data: " + json.dumps({"choices": [
                {"index": 0, "delta": delta, "finish_reason": finish}],
                **more}) + "\n\n"
        return (event({"content": prompt.upper()}) +
                event({}, "stop", usage={"prompt_tokens": 3,
                                         "completion_tokens": 2}) +
                "data: [DONE]\n\n").encode()

    @staticmethod
    def vectors(request):
        """A vector of each text: its length, its first byte, 0.5 ..."""
        dims = request.get("dimensions", 4)
        return json.dumps({
            "model": request["model"],
            "usage": {"prompt_tokens": 3 * len(request["input"]),
                      "total_tokens": 3 * len(request["input"])},
            "data": [{"index": i, "embedding": [
                len(text), text.encode()[0] / 3, *[0.5] * (dims - 2)]}
                for i, text in enumerate(request["input"])]}).encode()

    async def embed(self, writer, request):
        """Refuse it, or answer it at once."""
        inputs = request["input"]
        with self.news:
            self.asked.update(inputs)
            self.news.notify_all()
        what, headers = self.choose(inputs[0] if len(inputs) == 1 else inputs)
        status = what if isinstance(what, int) else 200
        text = self.vectors(request) if status == 200 else b"{}"
        self.statuses[status] += 1
        if what == "never":
            await asyncio.sleep(3600)
        writer.write(f"HTTP/1.1 {status} X\r\n{headers}content-type: "
                     f"application/json\r\ncontent-length: {len(text)}"
                     "\r\n\r\n".encode() + text)
        return True

    async def answer(self, writer, head, body):
        request = json.loads(body)
        if "input" in request:
            if self.bodies is not None:
                self.bodies.append(request)
            return await self.embed(writer, request)
        prompt = request["messages"][-1]["content"]
        if self.bodies is not None:
            lines = head.decode().split("\r\n")[1:]
            self.bodies.append({**request, "headers": dict(
                line.lower().split(": ", 1) for line in lines if line)})
        if isinstance(prompt, list):
            prompt = prompt[-1]["text"]
        with self.news:
            self.asked[prompt] += 1
            self.news.notify_all()
        what, headers = self.choose(prompt)
        if isinstance(what, float):
            await asyncio.sleep(what)
            what = None
        if self.delay:
            await asyncio.sleep(self.random.random() * self.delay)
        if what == "never":
            await asyncio.sleep(3600)
        if isinstance(what, int):
            self.statuses[what] += 1
            text = b'{"error": {"message": "no"}}'
            writer.write(f"HTTP/1.1 {what} no\r\n{headers}content-length: "
                         f"{len(text)}\r\n\r\n".encode() + text)
            return True
        text = self.events(prompt)
        self.statuses[200] += 1
        writer.write(f"HTTP/1.1 200 OK\r\n{headers}content-type: "
                     f"text/event-stream\r\ncontent-length: {len(text)}"
                     "\r\n\r\n".encode())
        if what == "cut":
            writer.write(text[:len(text) // 2])
            return False
        writer.write(text)
        self.answered[prompt] += 1
        return True

    async def connection(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = 0
                for line in head.split(b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                body = await reader.readexactly(length)
                self.in_flight += 1
                self.most = max(self.most, self.in_flight)
                again = await self.answer(writer, head, body)
                self.in_flight -= 1
                await writer.drain()
                if not again:
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError,
                ConnectionError):
            pass
        finally:
            writer.close()

    def wait_for(self, prompts):
        """Wait until so many prompts were requested."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.asked) >= prompts, 20)

    # -------------------------------------------------------------- running

    def __enter__(self):
        ready = threading.Event()

        async def serve():
            server = await asyncio.start_server(
                self.connection, "127.0.0.1", 0, backlog=4096)
            self.port = server.sockets[0].getsockname()[1]
            self.loop = asyncio.get_running_loop()
            ready.set()
            try:
                await server.serve_forever()
            except asyncio.CancelledError:
                pass
        threading.Thread(target=lambda: asyncio.run(serve()),
                         daemon=True).start()
        ready.wait()
        return self

    def __exit__(self, *args):
        def stop():     # one call: the loop may close after the first task
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
        self.loop.call_soon_threadsafe(stop)

    @property
    def env(self):
        return {"VLLM_BASE_URL": f"http://127.0.0.1:{self.port}/v1"}
