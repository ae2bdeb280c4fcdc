#!/usr/bin/env python3
"""run_mcp - our MCP client against real servers, our server with real clients

usage: run_mcp.py FOLDER    (FOLDER has the packages; BUILD_DIR the programs)
"""
import json
import os
import subprocess
import sys
import tempfile

FOLDER = os.path.realpath(sys.argv[1])
BUILD = os.path.realpath(os.environ["BUILD_DIR"])
HERE = os.path.dirname(os.path.realpath(__file__))
PYTHON = f"{FOLDER}/python/bin/python"
EXAMPLE = f"{BUILD}/examples/mcp_server"
counts = {"passed": 0, "failed": 0}


def check(what, got, want):
    """Count one comparison."""
    good = want(got) if callable(want) else got == want
    counts["passed" if good else "failed"] += 1
    if not good:
        print(f"not ok - {what}: {got!r:.400}")


def talk(program, *commands):
    """What our client says about a conversation: pairs of a word and text."""
    run = subprocess.run([f"{BUILD}/tests/mcp_peer", *commands, "--",
                          *program], stdout=subprocess.PIPE, timeout=120,
                         stderr=subprocess.DEVNULL, check=False, text=True)
    check(f"{program} ends well", run.returncode, 0)
    return [line.split(" ", 1) for line in run.stdout.splitlines()]


def box(program, *commands, **members):
    """The same through a toolbox; members are those of the entry."""
    entry = {"command": program[0], "args": program[1:],
             "start_timeout": 30, **members}
    env = {**os.environ, "ALLM_WARDEN": f"{BUILD}/allm-warden"}
    run = subprocess.run([f"{BUILD}/tests/mcp_box", json.dumps(entry),
                          *commands], stdout=subprocess.PIPE, timeout=120,
                         check=False, text=True, env=env)
    check(f"{program} ends well in a toolbox", run.returncode, 0)
    return [line.split(" ", 1) for line in run.stdout.splitlines()]


def results(lines):
    """What a chat sees of the calls."""
    return [json.loads(text) for word, text in lines if word == "result"]


def first(lines, word):
    """The text of the first line with this word, as JSON if it is."""
    text = next((line[-1] for line in lines if line[0] == word), None)
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def words(lines):
    """The words of the lines."""
    return [line[0] for line in lines]


def npm(name, *args):
    """A reference server from npm."""
    base = f"{FOLDER}/node_modules/@modelcontextprotocol/server-{name}"
    return ["node", f"{base}/dist/index.js", *args]


def everything():
    """The server with an example of everything"""
    server = npm("everything")
    lines = talk(server, "list tools", 'call echo {"message":"hi"}',
                 'call get-sum {"a":2,"b":3}', "call get-tiny-image",
                 'call get-structured-content {"location":"Chicago"}',
                 "list resources", "list prompts", "prompt simple-prompt")
    check("revision", first(lines, "ready")["revision"], "2025-11-25")
    check("tools", int(first(lines, "tools")), lambda n: n >= 10)
    values = [rest for word, *rest in lines if word == "value"]
    check("echo", values[0], ['"Echo: hi"'])
    check("sum", values[1][0], lambda text: "5" in text)
    check("image", first(lines, "images"), 1)
    check("structured", json.loads(values[3][0]),
          lambda value: "temperature" in value)
    answers = [json.loads(rest[0]) for word, *rest in lines
               if word == "answer"]
    check("resources", len(answers[0]), lambda n: n > 0)
    check("prompts", len(answers[1]), lambda n: n > 0)
    check("prompt", answers[2]["messages"][0]["role"], "user")
    check("it ends", "ended" in words(lines), True)
    lines = talk(server, "list resources")
    uri = first(lines, "answer")[0]["uri"]
    lines = talk(server, f"read {uri}", "read demo://nothing")
    check("read", first(lines, "answer")["contents"][0]["uri"], uri)
    check("read nothing", "error" in words(lines), True)


def everything_later():
    """Progress, cancellation and a form of the same server"""
    server = npm("everything")
    long = 'call trigger-long-running-operation {"duration":1,"steps":4}'
    lines = talk(server, long)
    check("progress", words(lines).count("progress"), 4)
    check("done", "value" in words(lines), True)
    lines = talk(server, "cancel", long, 'call echo {"message":"after"}')
    check("cancelled", first(lines, "cancelled"), "cancelled")
    check("after", first(lines, "value"), "Echo: after")
    lines = talk(server, 'form {"name":"Ada","check":true,'
                 '"email":"a@example.org"}', "list tools",
                 "call trigger-elicitation-request {}")
    check("form", "requestedSchema" in (first(lines, "elicit") or {}), True)
    check("answer", first(lines, "value"), lambda text: "Ada" in str(text))


def filesystem():
    """Files below one folder"""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        with open(f"{folder}/a.txt", "w", encoding="utf-8") as file:
            file.write("the text")
        path = json.dumps({"path": f"{folder}/a.txt"})
        lines = talk(npm("filesystem", folder), "list tools",
                     f"call read_text_file {path}",
                     'call read_text_file {"path":"/etc/passwd"}')
        check("text", first(lines, "value"),
              lambda value: "the text" in str(value))
        check("outside", "failed" in words(lines), True)


def memory():
    """A graph of what the model knows"""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.environ["MEMORY_FILE_PATH"] = f"{folder}/memory.jsonl"
        lines = talk(npm("memory"), "list tools", 'call create_entities '
                     '{"entities":[{"name":"Ada","entityType":"person",'
                     '"observations":["wrote programs"]}]}',
                     "call read_graph {}")
        values = [rest[0] for word, *rest in lines if word == "value"]
        check("graph", values[-1], lambda text: "wrote programs" in text)
        check("it ends by itself", first(lines, "ended"), "by itself")


def modern_servers():
    """The servers of the two official packages speak the modern revision"""
    for what, server in (("python", [PYTHON, f"{HERE}/mcp_demo.py"]),
                         ("npm", ["node", f"{HERE}/mcp_demo.mjs", FOLDER])):
        lines = talk(server, "list tools", 'call add {"a":1,"b":2}',
                     'form {"name":"Ada"}', "call greet {}")
        check(f"{what} revision", first(lines, "ready")["revision"],
              "2026-07-28")
        values = [json.loads(rest[0]) for word, *rest in lines
                  if word == "value"]
        check(f"{what} add", values[0] in ("3", {"result": 3}), True)
        check(f"{what} form", "elicit" in words(lines), True)
        check(f"{what} greet", values[-1],
              lambda value: "hello Ada 3" in str(value))
    lines = talk([PYTHON, f"{HERE}/mcp_demo.py"], 'call slow {"steps":3}',
                 "read demo://one", 'prompt ask {"topic":"C"}')
    check("python progress", words(lines).count("progress"), 3)
    check("python read", first(lines, "answer")["contents"][0]["text"],
          "the text")
    check("python prompt", lines, lambda all: "about C" in str(all))


def box_everything():
    """The server with an example of everything, as tools of a toolbox"""
    lines = box(npm("everything"), "tools", 'call s__echo {"message":"hi"}',
                'call s__get-sum {"a":2,"b":3}', "call s__get-tiny-image",
                'call s__get-structured-content {"location":"Chicago"}',
                'call s__trigger-long-running-operation '
                '{"duration":1,"steps":4}',
                'form {"name":"Ada","check":true,"email":"a@example.org"}',
                "call s__trigger-elicitation-request {}",
                "request resources/list", "request prompts/list",
                'request prompts/get {"name":"simple-prompt"}',
                'request resources/read {"uri":"demo://nothing"}',
                "request manifest", tools=["!gzip*"])
    seen = results(lines)
    check("tools", int(first(lines, "tools")), lambda n: n >= 10)
    names = [rest.split()[0] for word, rest in lines if word == "tool"]
    check("sorted", names, sorted(names))
    check("filter", [name for name in names if "gzip" in name], [])
    check("echo", seen[0], "Echo: hi")
    check("sum", seen[1], lambda text: "5" in text)
    check("image", seen[2], lambda text: "[image, image/png" in text)
    check("structured", json.loads(seen[3]),
          lambda value: "temperature" in value)
    check("progress", words(lines).count("progress"), 4)
    check("form", "elicit" in words(lines), True)
    check("filled in", seen[5], lambda text: "Ada" in text)
    answers = [json.loads(rest) for word, rest in lines if word == "answer"]
    check("resources", answers[0]["resources"], lambda all: len(all) > 0)
    check("prompts", answers[1]["prompts"], lambda all: len(all) > 0)
    check("prompt", answers[2]["messages"][0]["role"], "user")
    check("read nothing", "error" in words(lines), True)
    check("manifest", answers[3]["revision"], "2025-11-25")
    server = first(lines, "server")
    check("state", server["state"], "ready")
    check("nothing is left out", server["left_out"], 0)
    lines = box(npm("everything"), "tools", 'call s__echo {"message":"late"}',
                manifest=answers[3])
    check("by its manifest", results(lines)[0], "Echo: late")


def box_files():
    """Files and memory, free and in a sandbox"""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        with open(f"{folder}/a.txt", "w", encoding="utf-8") as file:
            file.write("the text")
        path = json.dumps({"path": f"{folder}/a.txt"})
        node = {"read": [folder, FOLDER, "/usr"], "memory": 65536}
        for members in ({}, {"sandbox": node, "trust": True}):
            lines = box(npm("filesystem", folder), "tools",
                        f"call s__read_text_file {path}",
                        'call s__read_text_file {"path":"/etc/passwd"}',
                        **members)
            seen = results(lines)
            check("text", seen[0], lambda text: "the text" in text)
            check("outside", seen[1], lambda text: "error" in text.lower())
            check("sandboxed", first(lines, "server")["sandboxed"],
                  bool(members))
        lines = box(npm("memory"), 'call s__create_entities {"entities":'
                    '[{"name":"Ada","entityType":"person",'
                    '"observations":["wrote programs"]}]}',
                    "call s__read_graph {}",
                    env={"MEMORY_FILE_PATH": f"{folder}/memory.jsonl"})
        check("graph", results(lines)[1],
              lambda text: "wrote programs" in text)


def box_modern():
    """The servers of the two official packages, as tools of a toolbox"""
    for what, server in (("python", [PYTHON, f"{HERE}/mcp_demo.py"]),
                         ("npm", ["node", f"{HERE}/mcp_demo.mjs", FOLDER])):
        lines = box(server, 'call s__add {"a":1,"b":2}', 'form {"name":"Ada"}',
                    "call s__greet {}")
        seen = results(lines)
        check(f"{what} revision", first(lines, "server")["revision"],
              "2026-07-28")
        check(f"{what} add", seen[0], lambda text: "3" in text)
        check(f"{what} greet", seen[1], lambda text: "hello Ada 3" in text)
    lines = box([PYTHON, f"{HERE}/mcp_demo.py"], 'call s__slow {"steps":3}',
                'request resources/read {"uri":"demo://one"}',
                'request prompts/get {"name":"ask","arguments":{"topic":"C"}}')
    check("python progress", words(lines).count("progress"), 3)
    check("python read", first(lines, "answer")["contents"][0]["text"],
          "the text")
    check("python prompt", lines, lambda all: "about C" in str(all))


def clients():
    """The official clients call a tool of our example"""
    want = {"tools": ["add"], "sum": "5", "wrong": True}
    for what, version, program in (
            ("npm 1", None, ["node", f"{HERE}/mcp_client.mjs", FOLDER, "1"]),
            ("npm 2", "2026-07-28",
             ["node", f"{HERE}/mcp_client.mjs", FOLDER, "2"]),
            ("python", "2026-07-28", [PYTHON, f"{HERE}/mcp_client.py"])):
        run = subprocess.run([*program, EXAMPLE], stdout=subprocess.PIPE,
                             timeout=120, check=False)
        try:
            got = json.loads(run.stdout)
        except ValueError:
            got = {}
        check(f"{what} client", {key: got.get(key) for key in want}, want)
        check(f"{what} version", got.get("version"), version)


def program():
    """Our client calls the program, which asks a scripted model"""
    script = json.dumps({"script": [["text", "Fog."], ["finish", "stop"]]})
    lines = talk([f"{BUILD}/allm", "mcp", "-m", "fake:m", "-o",
                  "adapter_opts", script], "list tools",
                 'call ask {"prompt":"Weather?"}')
    check("revision", first(lines, "ready")["revision"], "2026-07-28")
    check("tools", first(lines, "tool"), "s__ask ask")
    check("answer", first(lines, "value"), "Fog.")
    check("it ends by itself", first(lines, "ended"), "by itself")


def main():
    """Run all parts; one that breaks does not stop the others."""
    for part in (everything, everything_later, filesystem, memory,
                 modern_servers, box_everything, box_files, box_modern,
                 clients, program):
        try:
            part()
            print(f"ok - {part.__name__}")
        except Exception as error:      # pylint: disable=broad-except
            counts["failed"] += 1
            print(f"not ok - {part.__name__}: {error!r:.400}")
    if sum(counts.values()) < 90:
        counts["failed"] += 1
        print("not ok - fewer than 90 checks ran")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return counts["failed"] > 0


sys.exit(main())
