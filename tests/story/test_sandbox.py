#!/usr/bin/env python3
"""test_sandbox - allm sandbox, and allm tools, which run in it"""
import glob
import json
import os
import signal
import subprocess
import tempfile
import time

from program import ALLM, BUILD, HOME, allm, equal, file, holds, main
from tools_place import Place, call, calling

WARDEN = {"ALLM_WARDEN": os.path.join(BUILD, "allm-warden")}


def sandbox(*args, env=None, **more):
    return allm("sandbox", *args, env={**WARDEN, **(env or {})}, **more)


def test_status():
    """the exit code is that of the command; a signal is 128 and its number"""
    equal(sandbox("--", "true").code, 0)
    equal(sandbox("--", "sh", "-c", "exit 7").code, 7)
    equal(sandbox("--", "sh", "-c", "kill -TERM $$").code, 143)


def test_streams():
    """stdin, stdout and stderr are the caller's"""
    run = sandbox("--", "sh", "-c", "cat; echo out; echo err >&2",
                  stdin="in\n")
    equal(run.text, "in\nout\n")
    holds(run.said, "err")


def test_reach():
    """the command reads and writes what it was granted, and no more"""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        inside = os.path.join(place, "file")
        script = "echo x >%s && cat %s" % (inside, inside)
        run = sandbox("--", "sh", "-c", script)
        assert run.code, run.text
        run = sandbox("--write", place, "--", "sh", "-c", script)
        equal((run.code, run.text), (0, "x\n"))
        run = sandbox("--", "cat", inside)
        assert run.code, run.text
        run = sandbox("--read", place, "--", "cat", inside)
        equal((run.code, run.text), (0, "x\n"))
        run = sandbox("--read", place, "--", "rm", inside)
        assert run.code and os.path.exists(inside)


def test_never():
    """the home as a whole cannot be granted"""
    run = sandbox("--read", HOME, "--", "true")
    equal(run.code, 1)
    holds(run.said, "no tool may access")


def test_secrets():
    """variables are not inherited"""
    run = sandbox("--", "env", env={"OPENAI_API_KEY": "sk-secret"})
    assert "sk-secret" not in run.text


def test_off():
    """without the sandbox, the program says so"""
    run = sandbox("--mode", "off", "--", "sh", "-c", "echo ran")
    equal(run.text, "ran\n")
    holds(run.said, "sandbox is off")


def test_timeout():
    """the command ends at its timeout, and a note says so"""
    run = sandbox("--timeout", "0.2", "--", "sleep", "1000")
    equal(run.code, 143)
    holds(run.said, "the time of --timeout was up")


def test_many_processes():
    """the limit counts processes at once, not those that have ended"""
    run = sandbox("--", "sh", "-c", "i=0; while [ $i -lt 400 ]; do /bin/true; "
                  "i=$((i + 1)); done; echo all | cat | cat | cat")
    equal((run.code, run.text), (0, "all\n"))


def interrupt(*args):
    """The exit code after Ctrl-C, and what is left in TMPDIR."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        process = subprocess.Popen(
            [ALLM, *args], start_new_session=True,
            env={**os.environ, **WARDEN, "TMPDIR": place})
        end = time.monotonic() + 20
        while not glob.glob(place + "/*/up") and time.monotonic() < end:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        try:
            return process.wait(20), os.listdir(place)
        finally:
            process.kill()


def test_interrupt():
    """Ctrl-C ends the command, and leaves nothing behind"""
    up = "touch $HOME/up; sleep 1000"
    # A shell may lose the signal between two commands.
    wait = ("import os, signal, time; signal.signal(signal.SIGINT, "
            "signal.SIG_DFL); open(os.environ['HOME'] + '/up', 'w'); "
            "time.sleep(1000)")
    equal(interrupt("sandbox", "--", "python3", "-c", wait), (130, []))
    equal(interrupt("tools", "run", "-T", "bash", "bash",
                    json.dumps({"command": up})), (130, []))


def test_report():
    """without a command, the parts of the sandbox are listed; doctor, too"""
    rows = sandbox().text.splitlines()
    equal(len(rows), 9)
    assert all("sandbox" in row for row in rows), rows
    doctor = allm("doctor", env=WARDEN).text
    assert "staying" in doctor, doctor


def test_no_warden():
    """without the warden nothing runs, and the places are named"""
    run = sandbox("--", "true", env={"ALLM_WARDEN": "/no/such/warden"})
    equal(run.code, 1)
    holds(run.said, "/no/such/warden")


TOOL = """#!/bin/sh
[ "$1" != --allm-describe ] || exec cat <<'END'
{"name": "greet", "description": "Greets.", "needs": {"net": [443]},
 "input_schema": {"type": "object", "required": ["who"]}}
END
read -r line
case $line in *nobody*) echo "who is that" >&2; exit 1;; esac
echo "hello $line"
"""


def tools(*args, **more):
    path = file("greet", TOOL)
    os.chmod(path, 0o755)
    return allm("tools", *args, "--tool", path, env=WARDEN, **more)


def test_tools_list():
    """allm tools list shows each tool and what it may access"""
    equal(tools("list").text.split(), ["greet", "program", "write", "net",
                                          "443"])
    equal(tools("list", "--json").json[0]["reach"], ["net 443"])
    equal(tools("show", "greet").json["description"], "Greets.")
    run = allm("tools", "list", "--tool", "/no/such/tool", env=WARDEN)
    holds(run.said, "/no/such/tool")


def test_tools_run():
    """allm tools run runs one as a model would"""
    equal(tools("run", "greet", '{"who": "you"}').text,
          'hello {"who":"you"}\n')
    equal(tools("run", "greet", "-", stdin='{"who": 1}').text,
          'hello {"who":1}\n')
    run = tools("run", "greet", '{"who": "nobody"}')
    equal((run.code, run.text), (1, ""))
    holds(run.said, "who is that")
    run = tools("run", "greet")
    equal(run.code, 1)
    holds(run.said, "who")


def test_missing_parts():
    """parts of the sandbox that are not in force for tools are named once"""
    p = Place()
    two = calling(call("bash", {"command": "true"}),
                  call("bash", {"command": "false"}, 2))
    for args in (["tools", "run", "-T", "bash", "bash", '{"command": "true"}'],
                 ["-T", "bash", *two, "hi"]):
        run = subprocess.run(
            [os.path.join(BUILD, "tests", "escape_attempt"), "--no-namespaces",
             ALLM, *args], env={"PATH": os.environ["PATH"], **p.env},
            cwd=p.work, capture_output=True, check=False)
        equal(run.returncode, 0)
        said = run.stderr.decode()
        equal(said.count("parts of the sandbox are not in force"), 1)
        holds(said, "mounts, pids; allm doctor")


def test_hidden_folder():
    """what fails in a folder that the sandbox hides is told why"""
    p = Place()
    why = "the sandbox hides the working directory"
    run = allm("tools", "run", "-T", "bash", "bash", '{"command": "ls"}',
               env=p.env, cwd=p.path)
    holds(run.text, why, "[exit status 2]")
    p.tool(text='#!/bin/sh\n[ "$1" != --allm-describe ] || exec echo \'{"name":'
           ' "greet", "description": "Greets."}\'\nls\n')
    run = allm("tools", "run", "greet", env=p.env, cwd=p.path)
    equal(run.code, 1)
    holds(run.said, why)
    run = p.run("tools", "run", "-T", "bash", "bash", '{"command": "false"}')
    equal(run.text, "[exit status 1]\n")


def test_tools_run_asks():
    """what a tool asks the user is printed"""
    p = Place()
    p.tool(text='#!/bin/sh\n[ "$1" != --allm-describe ] || exec echo \'{"name":'
           ' "greet", "description": "Greets.", "output": "result"}\'\n'
           'cat >/dev/null\necho \'{"ask_user": "Which one?"}\'\n')
    run = p.run("tools", "run", "greet")
    equal((run.code, run.text), (10, ""))
    holds(run.said, "the tool asks: Which one?")


def test_tools_misuse():
    """allm tools says what is missing"""
    for args, words in ((("list", "x"), "no argument"), (("run",), "name"),
                        (("show",), "name"), (("run", "no"), "no tool"),
                        (("run", "greet", "{"), "not JSON"),
                        (("run", "greet", "[1]"), "JSON object"),
                        (("run", "greet", "3"), "JSON object"),
                        (("lost",), "list")):
        run = tools(*args)
        equal((args, run.code), (args, 2))
        holds(run.said, words)


main(globals())
