"""client.py - what the clients in Python share; see client.h

A peer passes an object with these asynchronous functions to run():

  read(n, messages=None)  one request: the deltas that came
  tools()                 a loop of three turns: the deltas that came
  hold()                  opens a stream, reads one delta, returns the stream
  first()                 one request; calls say("first") at the first delta
"""
import asyncio
import resource
import sys
import time

HISTORY = 1000
PROSE = ("The gardener said: plant them in autumn, before the first frost, "
         "as deep as a hand. " * 6)[:400]


def say(line):
    print(line, flush=True)


def meet(line):
    say(line)
    sys.stdin.readline()


async def run_plain(peer, n):
    return sum([await peer.read([("user", "hi")]) for _ in range(n)])


async def run_history(peer, n):
    messages = [("assistant" if i % 2 else "user", PROSE)
                for i in range(HISTORY - 1)]
    convert = getattr(peer, "convert", lambda m: m)
    messages = [convert(m) for m in messages]
    events = 0
    for _ in range(n):
        messages.append(convert(("user", PROSE)))
        events += await peer.read(messages)
    return events


async def run_tools(peer, n):
    return sum([await peer.tools() for _ in range(n)])


async def run_paced(peer, n):
    return sum(await asyncio.gather(
        *[peer.read([("user", "hi")]) for _ in range(n)]))


async def run_hold(peer, n):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    streams = [await peer.hold()]
    meet("base")
    streams += [await peer.hold() for _ in range(n)]
    meet("held")
    sys.stdout.flush()
    import os
    os._exit(0 if streams else 1)


async def work(peer, workload, n):
    if workload == "hold":
        return await run_hold(peer, n)
    if workload == "start":
        return await peer.first()
    function = {"history": run_history, "tools": run_tools,
                "paced": run_paced}.get(workload, run_plain)
    await function(peer, max(1, n // 5))
    began = time.process_time()
    events = await function(peer, n)
    took = time.process_time() - began
    print('{"events": %d, "cpu_us": %d}' % (events, took * 1e6))


def run(make):
    """make(base) returns the peer."""
    workload, base, n = sys.argv[1], sys.argv[2], int(sys.argv[3])

    async def main():
        await work(make(base), workload, n)
    asyncio.run(main())
