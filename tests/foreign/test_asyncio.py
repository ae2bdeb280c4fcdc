#!/usr/bin/env python3
"""test_asyncio.py - many streams in the event loop of Python, over HTTP too

The hub's descriptor is a reader of the loop and the hub's timeout one of its
timers; nothing else of the library is known to asyncio.  Engine and request
come from JSON documents and events leave as JSON, so that no struct is needed
here; numbers of constants are read from tests/abi/layout.txt.
"""
import asyncio
import ctypes
import json
import os
import sys
import threading
import time

import server

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("SOURCE_DIR", os.path.join(HERE, "..", ".."))
BUILD = os.environ.get("BUILD_DIR", os.path.join(SOURCE, "build", "main"))
STREAMS = 50
ANSWERS = 10            # over HTTP
PATIENCE = 30           # seconds; only a broken test waits so long
count = {"passed": 0, "failed": 0}

FUNCTIONS = """
    pointer allm_codec_decode(text, size, text, pointer)
    pointer allm_codec_value(pointer, int)
    nothing allm_codec_free(pointer)
    pointer allm_engine_from_record(pointer, pointer)
    pointer allm_engine_error(pointer)
    nothing allm_engine_free(pointer)
    pointer allm_generate(pointer, pointer, pointer)
    int     allm_stream_next(pointer, pointer)
    nothing allm_stream_cancel(pointer)
    nothing allm_stream_free(pointer)
    pointer allm_stream_error(pointer)
    pointer allm_stream_event_json(pointer)
    pointer allm_error_json(pointer, int)
    text    allm_text_bytes(pointer, pointer)
    nothing allm_text_free(pointer)
    pointer allm_hub_new(pointer)
    nothing allm_hub_free(pointer)
    pointer allm_hub_error(pointer)
    int     allm_hub_add(pointer, pointer, pointer)
    pointer allm_hub_wait(pointer, int, pointer)
    int     allm_hub_fd(pointer)
    int     allm_hub_timeout(pointer)
    size    allm_hub_count(pointer)
"""
TYPES = {"pointer": ctypes.c_void_p, "text": ctypes.c_char_p,
         "int": ctypes.c_int, "size": ctypes.c_size_t, "nothing": None}


def check(why, good):
    count["passed" if good else "failed"] += 1
    print(("ok - " if good else "not ok - ") + why)


def load():
    """The library, its functions declared."""
    library = ctypes.CDLL(os.path.join(BUILD, "src", "liballm.so"))
    for line in FUNCTIONS.strip().splitlines():
        result, rest = line.split(None, 1)
        name, parameters = rest.rstrip(")").split("(")
        function = getattr(library, name)
        function.restype = TYPES[result]
        function.argtypes = [TYPES[p.strip()] for p in parameters.split(",")]
    return library


def constants():
    """ALLM_EVENT and its like by name."""
    path = os.path.join(SOURCE, "tests", "abi", "layout.txt")
    with open(path, encoding="utf-8") as f:
        rows = [line.split() for line in f if line.startswith("enum ")]
    return {row[2]: int(row[3]) for row in rows}


os.environ.update(OPENAI_API_KEY="k", no_proxy="127.0.0.1")
lib = load()
number = constants()


def take_text(text):
    """A text of the library as what its JSON means; it is freed."""
    value = json.loads(lib.allm_text_bytes(text, None))
    lib.allm_text_free(text)
    return value


def decode(tag, data):
    document = json.dumps({"__type__": tag, "data": data}).encode()
    return lib.allm_codec_decode(document, len(document), None, None)


def make_engine(model, *adapter_opts):
    record = decode("ALLM.Engine", {
        "adapter": model.partition(":")[0], "model": model,
        "adapter_opts": adapter_opts})
    value = lib.allm_codec_value(record, number["ALLM_TYPE_ENGINE"])
    engine = lib.allm_engine_from_record(value, None)
    lib.allm_codec_free(record)
    return engine


def fake_engine(scripts):
    return make_engine("fake:m", ["scripts", scripts])


class Hub:
    """A hub as a part of the running loop."""

    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.hub = lib.allm_hub_new(None)
        self.timer = None
        self.calls = {}         # stream -> what is told and where it ends
        self.turns = 0
        self.loop.add_reader(lib.allm_hub_fd(self.hub), self.turn)

    def start(self, engine, request):
        """A call whose events go into a list, and the future of its end."""
        stream = lib.allm_generate(engine, request, None)
        events, end = [], self.loop.create_future()
        if lib.allm_hub_add(self.hub, stream, None) != number["ALLM_OK"]:
            raise RuntimeError(self.why())
        self.calls[stream] = events, end
        return stream, events, end

    def why(self):
        error = lib.allm_hub_error(self.hub)
        return take_text(lib.allm_error_json(error, 0)) if error else None

    def pull(self, stream):
        events, end = self.calls[stream]
        event = ctypes.c_void_p()
        while True:
            status = lib.allm_stream_next(stream, ctypes.byref(event))
            if status != number["ALLM_EVENT"]:
                break
            events.append(take_text(lib.allm_stream_event_json(stream)))
        if status != number["ALLM_AGAIN"]:
            del self.calls[stream]
            end.set_result(status)

    def turn(self):
        """Readable, or time is over: visit whoever has something to say."""
        self.turns += 1
        while stream := lib.allm_hub_wait(self.hub, 0, None):
            self.pull(stream)
        if self.timer:
            self.timer.cancel()
        ms = lib.allm_hub_timeout(self.hub)
        self.timer = None
        if ms >= 0:
            self.timer = self.loop.call_later(ms / 1000, self.turn)

    def close(self):
        if self.timer:
            self.timer.cancel()
        self.loop.remove_reader(lib.allm_hub_fd(self.hub))
        lib.allm_hub_free(self.hub)


def script(i):
    """Texts with pauses of one to three milliseconds."""
    return [["text", f"{i}:"], ["delay", 1 + i % 3], ["text", "a"],
            ["delay", 1 + i % 2], ["text", "b"], ["finish", "stop"]]


def told(events):
    return "".join(e["delta"] for e in events if e["type"] == "text_delta")


async def tick(ticks):
    """Something else that the loop does meanwhile."""
    while True:
        ticks.append(time.monotonic())
        await asyncio.sleep(0.001)


async def check_many(hub, request):
    engine = fake_engine([script(i) for i in range(STREAMS)])
    check("an engine from a document",
          engine and not lib.allm_engine_error(engine))
    ticks = []
    ticker = asyncio.create_task(tick(ticks))
    calls = [hub.start(engine, request) for _ in range(STREAMS)]
    ends = await asyncio.wait_for(
        asyncio.gather(*(end for _, _, end in calls)), PATIENCE)
    ticker.cancel()
    check(f"{STREAMS} streams end", ends == [number["ALLM_OK"]] * STREAMS)
    check("each tells its own text",
          [told(events) for _, events, _ in calls]
          == [f"{i}:ab" for i in range(STREAMS)])
    check("events come in their order",
          all([e["seq"] for e in events] == list(range(1, len(events) + 1))
              for _, events, _ in calls))
    check("the last event completes the message",
          all(events[-1]["type"] == "message_completed"
              for _, events, _ in calls))
    check("the loop went on meanwhile", len(ticks) > 1)
    check("the loop did not spin", hub.turns < STREAMS * 20)
    check("no stream is left", lib.allm_hub_count(hub.hub) == 0)
    for stream, _, _ in calls:
        lib.allm_stream_free(stream)
    lib.allm_engine_free(engine)


async def check_cancel(hub, request):
    """A stream that sleeps is cancelled by a thread; its neighbour is not."""
    engine = fake_engine([[["text", "a"], ["delay", 60000]],
                          [["text", "b"], ["delay", 3], ["text", "c"]]])
    sleeper, slept, end = hub.start(engine, request)
    neighbour, heard, other_end = hub.start(engine, request)
    while not slept:            # the loop has visited it
        await asyncio.sleep(0)
    thread = threading.Thread(target=lib.allm_stream_cancel, args=(sleeper,))
    thread.start()
    status = await asyncio.wait_for(end, PATIENCE)
    thread.join()
    error = take_text(lib.allm_error_json(lib.allm_stream_error(sleeper), 0))
    check("a cancel of another thread wakes the loop",
          status == number["ALLM_OK"])
    check("it is told as the error", "cancelled" in json.dumps(error))
    check("the cancelled stream told no end",
          slept[-1]["type"] != "message_completed")
    await asyncio.wait_for(other_end, PATIENCE)
    check("its neighbour goes on", told(heard) == "bc")
    check("a stream is added once",
          lib.allm_hub_add(hub.hub, neighbour, None)
          == number["ALLM_ERR_MISUSE"] and "already" in json.dumps(hub.why()))
    lib.allm_stream_free(sleeper)
    lib.allm_stream_free(neighbour)
    lib.allm_engine_free(engine)


async def check_http(hub, request):
    """Answers of a server that serves all of them at once, or none."""
    http = server.start(ANSWERS)
    url = "http://127.0.0.1:{}/v1".format(http.server_address[1])
    engine = make_engine("openai:m", ["base_url", url])
    before = hub.turns
    calls = [hub.start(engine, request) for _ in range(ANSWERS)]
    await asyncio.wait_for(
        asyncio.gather(*(end for _, _, end in calls)), PATIENCE)
    turns = hub.turns - before
    print(f"# {turns} wake-ups for {ANSWERS} answers in {len(server.PIECES)} "
          "pieces")
    check(f"{ANSWERS} answers come over HTTP",
          [told(events) for _, events, _ in calls] == ["abc"] * ANSWERS)
    check("the loop woke only when there was work",
          turns <= 1 + ANSWERS * (len(server.PIECES) + 3))
    for stream, _, _ in calls:
        lib.allm_stream_free(stream)
    lib.allm_engine_free(engine)
    http.shutdown()


async def run():
    document = decode("ALLM.Request",
                      {"messages": [{"role": "user", "content": "hi"}]})
    request = lib.allm_codec_value(document, number["ALLM_TYPE_REQUEST"])
    check("a request from a document", request)
    hub = Hub()
    await check_many(hub, request)
    await check_cancel(hub, request)
    await check_http(hub, request)
    hub.close()
    lib.allm_codec_free(document)


asyncio.run(run())
print("{passed} passed, {failed} failed".format(**count))
sys.exit(1 if count["failed"] else 0)
