"""install.py - installs the clients of bench/peers, and names their versions

Everything is installed by name, with a pinned version, below build/peers; the
sources of the clients are copied there first.  A client that cannot be
installed is reported and left out.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OUT = os.path.join(ROOT, "build", "peers")
RELEASE = os.path.join(ROOT, "build", "release")

PYTHON = {
    "openai": ["openai==3.51.0"],
    "anthropic": ["anthropic==2.9.0"],
    "litellm": ["litellm==1.106.0", "mcp"],
    "pydantic-ai": ["pydantic-ai-slim[openai]==2.66.0"],
}
NODE = {
    "openai": ["openai@6.49.0"],
    "ai": ["ai@6.0.319", "@ai-sdk/openai-compatible@2.0.81", "zod@4.6.7"],
    "langchain": ["@langchain/openai@1.5.8", "@langchain/core@1.2.13"],
}


class Client:
    """A command, and what a reader needs to know about it."""

    def __init__(self, name, language, version, command, slow=False):
        self.name, self.language, self.version = name, language, version
        self.key = "%s (%s)" % (name, language)     # a name occurs twice
        self.command, self.slow = command, slow


def say(text):
    print(text, flush=True)


def run(command, where, log):
    """Runs a command with low priority; its output goes to a log."""
    with open(os.path.join(OUT, log), "a") as out:
        subprocess.run(["nice"] + command, cwd=where, stdout=out, stderr=out,
                       stdin=subprocess.DEVNULL, check=True)


def copy(language):
    """Copies the sources of a language; unchanged files keep their dates."""
    target = os.path.join(OUT, language)
    for folder, _, names in os.walk(os.path.join(HERE, language)):
        to = os.path.join(target, os.path.relpath(
            folder, os.path.join(HERE, language)))
        os.makedirs(to, exist_ok=True)
        for name in names:
            source, copied = os.path.join(folder, name), os.path.join(to, name)
            if not os.path.exists(copied) or \
                    open(source, "rb").read() != open(copied, "rb").read():
                shutil.copyfile(source, copied)
    return target


def pinned(path, pattern):
    return re.search(pattern, open(os.path.join(HERE, path)).read()).group(1)


def install_c():
    version = pinned("../../meson.build", r"version: '([\d.]+)'")
    curl = subprocess.run(["pkg-config", "--modversion", "libcurl"],
                          capture_output=True, text=True).stdout.strip()
    bench = os.path.join(RELEASE, "bench")
    return [Client("allm", "C", version, [os.path.join(bench, "peers_allm")]),
            Client("libcurl + yyjson", "C", "libcurl " + curl,
                   [os.path.join(bench, "peers_bare")])]


def install_rust():
    target = copy("rust")
    run(["cargo", "build", "--release"], target, "rust.log")
    return [Client(name, "Rust", pinned("rust/Cargo.toml", name +
                                        r' = .*?"=([\d.]+)"'),
                   [os.path.join(target, "target/release/peer_" +
                                 name.replace("-", "_"))])
            for name in ("async-openai", "genai")]


def install_go():
    target = copy("go")
    run(["go", "mod", "tidy"], target, "go.log")
    run(["go", "build", "-o", "peer", "."], target, "go.log")
    return [Client("openai-go", "Go", pinned("go/go.mod", r" v([\d.]+)\n"),
                   [os.path.join(target, "peer")])]


def install_python(name):
    target = copy("python")
    venv = os.path.join(target, "venv-" + name)
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(os.path.join(venv, "installed")):
        run([sys.executable, "-m", "venv", venv], target, "python.log")
        run([python, "-m", "pip", "install", "--quiet",
             "--disable-pip-version-check"] + PYTHON[name], target,
            "python.log")
        open(os.path.join(venv, "installed"), "w").close()
    script = "peer_%s.py" % name.replace("-", "_")
    return [Client(name, "Python", PYTHON[name][0].split("==")[1],
                   [python, os.path.join(target, script)], slow=True)]


def install_node(name):
    target = os.path.join(copy("node"), name)
    os.makedirs(target, exist_ok=True)
    package = os.path.join(target, "package.json")
    if not os.path.exists(os.path.join(target, "installed")):
        with open(package, "w") as f:
            json.dump({"private": True, "type": "module"}, f)
        run(["npm", "install", "--no-fund", "--no-audit", "--no-package-lock",
             "--save-exact"] + NODE[name], target, "node.log")
        open(os.path.join(target, "installed"), "w").close()
    for script in ("client.mjs", "peer_%s.mjs" % name):
        shutil.copyfile(os.path.join(HERE, "node", script),
                        os.path.join(target, script))
    shown = NODE[name][0].rsplit("@", 1)
    return [Client(shown[0], "Node", shown[1],
                   ["node", os.path.join(target, "peer_%s.mjs" % name)],
                   slow=True)]


def list_steps():
    """For each step: its title, language, the clients it installs, and how."""
    steps = [("C", "C", ["allm", "libcurl + yyjson"], install_c),
             ("Rust", "Rust", ["async-openai", "genai"], install_rust),
             ("Go", "Go", ["openai-go"], install_go)]
    steps += [("Python " + n, "Python", [n], lambda n=n: install_python(n))
              for n in PYTHON]
    steps += [("Node " + n, "Node", [NODE[n][0].rsplit("@", 1)[0]],
               lambda n=n: install_node(n)) for n in NODE]
    return steps


def is_wanted(name, language, wanted):
    names = {name, language, "%s (%s)" % (name, language)}
    return not wanted or bool(names & set(wanted))


def install_all(wanted):
    """Returns the clients, and the names of those that are missing."""
    clients, missing = [], []
    os.makedirs(OUT, exist_ok=True)
    for title, language, names, install in list_steps():
        if not any(is_wanted(n, language, wanted) for n in names):
            continue
        began = time.time()
        try:
            clients += install()
            say("installed %-20s %4.0f s" % (title, time.time() - began))
        except (OSError, subprocess.CalledProcessError) as error:
            missing.append(title)
            say("NOT installed %s: %s (see build/peers/*.log)" % (title, error))
    return [c for c in clients
            if is_wanted(c.name, c.language, wanted)], missing


def tool_versions():
    """The versions of compilers and interpreters that are here."""
    found = {}
    for name, command in (("rustc", ["rustc", "--version"]),
                          ("go", ["go", "version"]),
                          ("python", [sys.executable, "--version"]),
                          ("node", ["node", "--version"]),
                          ("cc", ["cc", "-dumpfullversion"])):
        try:
            text = subprocess.run(command, capture_output=True,
                                  text=True).stdout
            found[name] = re.search(r"\d+\.[\d.]+", text).group(0)
        except (OSError, AttributeError):
            pass
    return found
