#!/usr/bin/env python3
"""run.py - compares allm with other clients; "make peers" runs it

usage: bench/peers/run.py [--rounds N] [--limit SECONDS] [--quick]
                          [--only NAME,...] [--rows ROW,...] [--result FILE]
                          [--merge] [--report] [--publish] [--compare FILE]
                          [--no-awake]

Installs the clients (install.py), starts the replay server (server.c), runs
every client in turns, and writes build/peers/peers.json, peers.md and
peers.svg (report.py).  --publish also replaces the tables and the chart in
README.md and docs/.  Every number is the median of the rounds, with the largest
deviation from it.  CPU time is user and system time of the whole client process
(getrusage), without its start and a warm-up.  While rows are measured, a
program keeps the cores awake (bench/awake.c), unless --no-awake is set.
--compare says where two runs disagree (compare.py).
"""
import argparse
import json
import os
import platform
import select
import signal
import statistics
import subprocess
import sys
import time
import urllib.request

import compare
import install
import report
import tls

SERVER = os.path.join(install.RELEASE, "bench", "peers_server")
AWAKE = os.path.join(install.RELEASE, "bench", "awake")

# name: for quick clients, for slow ones, and for those that are stopped with
# these: requests, the server's path, deltas in each request
LOADS = {
    "one": [(2000, "one", 1), (150, "one", 1), (10, "one", 1)],
    "many": [(10, "many", 20000), (1, "many", 20000), (1, "few", 2000)],
    "paced": [(50, "paced", 100), (50, "paced", 100), (10, "paced", 100)],
    "args": [(5, "args", 20000), (1, "args", 20000), (1, "fewargs", 2000)],
    "history": [(60, "history", 1), (5, "history", 1), (1, "history", 1)],
    "tools": [(300, "tools", 5), (30, "tools", 5), (2, "tools", 5)],
}
SMALLEST = 2
PATIENCE = 300  # seconds for what cannot be smaller: only a hang is stopped
ROWS = list(LOADS) + ["start", "https", "hold1000", "hold10000"]


def units(load, n, deltas):
    """What the CPU time of a run is divided by."""
    if load == "tools":
        return 3 * n                                    # turns
    if load == "history":
        return sum(1000 + i for i in range(n))          # messages sent
    return n * deltas


class Server:
    def __init__(self):
        self.process = subprocess.Popen([SERVER, "serve"], text=True,
                                        stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())

    def url(self, name):
        return "http://127.0.0.1:%d/%s" % (self.port, name)

    def stat(self):
        with urllib.request.urlopen(self.url("stat")) as answer:
            return json.load(answer)

    def drain(self, name, n):
        """What an answer costs the server, with the cheapest reader."""
        before = self.stat()["cpu_us"]
        out = subprocess.run([SERVER, "drain", str(self.port), name, str(n)],
                             capture_output=True, text=True, check=True)
        got = json.loads(out.stdout)
        return {"per_second": got["answers"] / got["seconds"],
                "cpu_us": (self.stat()["cpu_us"] - before) / n}

    def limits(self):
        return {"one": self.drain("one", 5000), "many": self.drain("many", 50)}

    def stop(self):
        self.process.kill()
        self.process.wait()


class Awake:
    """Keeps the cores awake until it is stopped, or this process ends."""

    def __init__(self, wanted):
        self.process, self.cores = None, 0
        if wanted:
            self.process = subprocess.Popen([AWAKE], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True)
            self.cores = int(self.process.stdout.readline())

    def stop(self):
        if self.process:
            self.process.communicate()


def command(client, load, url, n):
    return client.command + [load, url, str(n)]


def environment():
    env = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    env["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    return env


class Failed(Exception):
    pass


class Stopped(Failed):
    """The client needed more time than it has."""


def run_load(client, load, size, server, limit):
    """CPU microseconds per unit."""
    n, path, deltas = LOADS[load][size]
    child = subprocess.Popen(command(client, load, server.url(path), n),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env=environment())
    try:
        out, err = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise Stopped("stopped after %d s" % limit)
    try:
        got = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise Failed((err.strip().splitlines() or ["no output"])[-1][:120])
    if got["events"] < n * deltas:
        raise Failed("%d deltas are too few" % got["events"])
    return got["cpu_us"] / units(load, n, deltas)


def run_largest(client, load, cell, server, limit):
    """The same with the smallest load, if the usual one takes too long; the
    cell remembers it, so that all rounds measure the same."""
    if "size" in cell:
        return run_load(client, load, SMALLEST, server, PATIENCE)
    try:
        return run_load(client, load, 1 if client.slow else 0, server, limit)
    except Stopped:
        install.say("  too slow: a smaller workload")
    cell["size"] = SMALLEST
    cell["values"].clear()
    return run_largest(client, load, cell, server, limit)


def wait_line(child, line, seconds):
    """Reads lines until the expected one has come."""
    end = time.time() + seconds
    while time.time() < end:
        if select.select([child.stdout], [], [], end - time.time())[0]:
            got = child.stdout.readline()
            if got.strip() == line:
                return
            if not got:
                break
    raise Failed("no line \"%s\"" % line)


def run_start(client, url, env):
    """CPU milliseconds of a process that makes one request and ends."""
    child = subprocess.Popen(command(client, "start", url, 1), text=True,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env=env)
    try:
        wait_line(child, "first", PATIENCE)
        while child.stdout.readline():
            pass
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return (used.ru_utime + used.ru_stime) * 1000
    finally:
        if child.returncode is None:
            child.kill()
            child.communicate()


def resident_kb(pid):
    with open("/proc/%d/status" % pid) as f:
        for line in f:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    raise Failed("no VmRSS")


def run_hold(client, server, n):
    """Resident kilobytes for each of n streams that are held open."""
    child = subprocess.Popen(
        command(client, "hold", server.url("hold"), n), text=True, bufsize=0,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=environment())
    try:
        wait_line(child, "base", PATIENCE)
        before = resident_kb(child.pid)
        child.stdin.write("\n")
        child.stdin.flush()
        wait_line(child, "held", PATIENCE)
        return (resident_kb(child.pid) - before) / n
    finally:
        child.kill()
        child.communicate()


def run_row(row, client, cell, server, secure, limit):
    if row in LOADS:
        return run_largest(client, row, cell, server, limit)
    if row == "start":
        return run_start(client, server.url("one"), environment())
    if row == "https":
        return run_start(client, secure.url("one"),
                         dict(environment(), **secure.environment(client)))
    return run_hold(client, server, int(row[4:]))


def rounds_of(row, rounds):
    if row.startswith("hold"):
        return min(2, rounds)
    return 2 * rounds if row in ("start", "https") else rounds


def skip(row, client, secure):
    """Thousands of open streams are for clients that do not need minutes."""
    return row.startswith("hold") and client.slow or \
        row == "https" and not secure


def measure_cell(row, client, cell, server, secure, limit):
    try:
        value = run_row(row, client, cell, server, secure, limit)
        cell["values"].append(round(value, 4))
    except Failed as error:
        cell["error"] = str(error)
        install.say("  failed: %s" % error)


def measure_row(row, clients, args, server, secure):
    """{client: {"values": [...]} or {"error": text}}"""
    cells = {c.key: {"values": []} for c in clients}
    total = rounds_of(row, args.rounds)
    for i in range(total):
        for client in clients[i % len(clients):] + clients[:i % len(clients)]:
            cell = cells[client.key]
            if "error" in cell or skip(row, client, secure):
                continue
            install.say("%-9s round %d of %d  %s" % (row, i + 1, total,
                                                     client.key))
            measure_cell(row, client, cell, server, secure, args.limit)
    for cell in cells.values():
        if cell["values"]:
            cell["median"] = statistics.median(cell["values"])
            cell["spread"] = max(abs(v - cell["median"])
                                 for v in cell["values"])
    return cells


def measure(result, clients, args, server, secure):
    """Measures row by row; the file has what is known so far."""
    for row in args.rows.split(","):
        before, began = server.stat(), time.time()
        cells = measure_row(row, clients, args, server, secure)
        busy = (server.stat()["cpu_us"] - before["cpu_us"]) / 1e6
        share = round(busy / (time.time() - began), 4)
        result["rows"].setdefault(row, {}).update(cells)
        result["server_busy"][row] = max(
            share, result["server_busy"].get(row, 0))
        with open(args.result, "w") as f:
            json.dump(result, f, indent=1)


def machine():
    with open("/proc/meminfo") as f:
        kb = int(f.readline().split()[1])
    return {"cores": os.cpu_count(), "memory_gb": round(kb / 1e6),
            "system": platform.system() + " " + platform.machine(),
            "libc": " ".join(platform.libc_ver()),
            "load": round(os.getloadavg()[0], 1)}


def parse_arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", default="", help="names or languages, with commas")
    p.add_argument("--rows", default=",".join(ROWS), help="rows, with commas")
    p.add_argument("--limit", type=int, default=120,
                   help="seconds; a client that needs more is stopped")
    p.add_argument("--quick", action="store_true",
                   help="about twelve minutes: --rounds 3 --limit 20")
    p.add_argument("--result", help="the JSON file",
                   default=os.path.join(install.OUT, "peers.json"))
    p.add_argument("--publish", action="store_true",
                   help="replace the tables and the chart in the documents")
    p.add_argument("--merge", action="store_true",
                   help="keep earlier results of what is not measured now")
    p.add_argument("--no-awake", action="store_true",
                   help="let cores without work sleep")
    p.add_argument("--report", action="store_true",
                   help="only write the reports again, from peers.json")
    p.add_argument("--compare", metavar="FILE",
                   help="only compare the results with those of another run")
    args = p.parse_args()
    if args.quick:
        args.rounds, args.limit = 3, 20
    return args


def begin_result(clients, missing, args):
    """The results so far: none, or those of earlier runs."""
    old = {"rows": {}, "clients": [], "server_busy": {}}
    if args.merge and os.path.exists(args.result):
        with open(args.result) as f:
            old = json.load(f)
    keys = [c.key for c in clients]
    described = [{"key": c.key, "name": c.name, "language": c.language,
                  "version": c.version} for c in clients]
    return {"date": time.strftime("%Y-%m-%d"), "machine": machine(),
            "tools": install.tool_versions(), "missing": missing,
            "rounds": args.rounds, "rows": old["rows"],
            "server_busy": old["server_busy"],
            "clients": described + [c for c in old["clients"]
                                    if c["key"] not in keys]}


def main():
    args = parse_arguments()
    if args.compare:
        return compare.main(args.compare, args.result)
    if args.report:
        with open(args.result) as f:
            return report.write(json.load(f), args.publish)
    only = [n for n in args.only.split(",") if n]
    clients, missing = install.install_all(only)
    result = begin_result(clients, missing, args)
    server = Server()
    secure = tls.start(server.port)
    awake = Awake(not args.no_awake)
    result["cores_awake"] = awake.cores
    try:
        result["server"] = server.limits()
        measure(result, clients, args, server, secure)
    finally:
        awake.stop()
        server.stop()
        if secure:
            secure.stop()
    return report.write(result, args.publish)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
