"""tools_place - a folder with a home and a project, for stories about tools

The model is the Fake, which calls what its script says; the tools are real.
"""
import atexit
import json
import os
import shlex
import shutil
import tempfile

from program import BUILD, SOURCE, Terminal, allm, equal, scripts

WARDEN = {"ALLM_WARDEN": os.path.join(BUILD, "allm-warden")}
EXAMPLES = os.path.join(SOURCE, "examples", "tools")
DONE = [["text", "done."], ["finish", "stop"]]

GREET = """#!/bin/sh
[ "$1" != --allm-describe ] || exec cat <<'END'
{"name": "greet", "description": "Greets.", "effect": "pure"}
END
read -r line
echo "hello $line"
"""


def call(name, arguments=None, number=1):
    return ["tool_call", {"id": f"c{number}", "name": name,
                          "arguments": arguments or {}}]


def calling(*calls, after=1):
    """A model that makes these calls, then answers."""
    return scripts([*calls, ["finish", "tool_calls"]], *[DONE] * after)


def is_asked(screen):
    """Does a question wait for a key?  Keys before that do not count."""
    return screen.endswith(b"> ") and b"  [" in screen


# An MCP server, as a command line.
SERVER = "/usr/bin/python3 " + shlex.quote(os.path.join(
    SOURCE, "tests", "story", "mcp_server.py"))


class Place:
    """A folder with a home, a project and the program in it."""

    def __init__(self, **settings):
        self.path = tempfile.mkdtemp(dir="/tmp", prefix="allm-tools-")
        atexit.register(shutil.rmtree, self.path, ignore_errors=True)
        self.home = os.path.join(self.path, "home")
        self.work = os.path.join(self.path, "site")
        for folder in (self.home, self.work):
            os.makedirs(folder)
        self.env = {**WARDEN, "ALLM_HOME": self.home, "HOME": self.path,
                    "PATH": "/usr/local/bin:/usr/bin:/bin"}
        self.settings(**settings)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(path, mode)
        return path

    def read(self, name):
        with open(os.path.join(self.path, name), encoding="utf-8") as source:
            return source.read()

    def settings(self, **values):
        self.write("home/config/config.json", json.dumps(values))

    def tool(self, name="home/config/tools/greet", text=GREET):
        return self.write(name, text, 0o755)

    def run(self, *args, env=None, **more):
        return allm(*args, env={**self.env, **(env or {})}, cwd=self.work,
                    **more)

    def terminal(self, *args, **more):
        return Terminal(*args, env={**self.env, "TERM": "xterm"},
                        cwd=self.work, **more)

    def results(self, *args, **more):
        """What the tools answered, in the order of the calls."""
        run = self.run(*args, "--events", "hi", **more)
        equal(run.code, 0)
        return [line["content"] for line in run.lines
                if line["type"] == "tool_result_encoded"]

    def trust(self):
        """Trust the files of the project as they are."""
        shown = self.run("config", "trust", "--show").text.splitlines()
        sums = [line.split()[1] for line in shown if line.startswith("sha256 ")]
        flags = [word for one in sums for word in ("--sha256", one)]
        equal(self.run("config", "trust", *flags).code, 0)
