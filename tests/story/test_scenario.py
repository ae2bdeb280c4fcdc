#!/usr/bin/env python3
"""test_scenario - allm-scenario fails when it must, and says where and why

Each row is a scenario.  Those that hold must pass; those with a planted fault
must fail, with exit status 1 and the words that lead to the fault.  There is
a fault for every matcher, every kind of expectation and every way in which a
file cannot be understood.
"""
import json
import os
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD_DIR", "build/main")
RUNNER = os.path.join(BUILD, "allm-scenario")
USER = [{"role": "user", "content": "hi"}]
ENGINE = {
    "model": "fake:m",
    "scripts": [[["text", "a"], ["text", "bc"], ["finish", "stop"]]] * 2,
}
HOLDS = None        # in place of words: the scenario passes


def scenario(*run, **members):
    return {"name": "planted", "engine": ENGINE, "run": list(run), **members}


def asked(op="generate", **expected):
    return {"op": op, "messages": USER, "expect": expected}


def response(pattern):
    """The text "abc", no calls, a request id, usage of nulls."""
    return scenario(asked(result=pattern))


def streamed(**expected):
    return scenario(asked("stream_generate", **expected))


def misused(pattern):
    return scenario({"op": "generate", "messages": USER,
                     "opts": {"max_turns": 0}, "expect": {"misuse": pattern}})


def same(first, second, number=0):
    """Two folds, the second expected to be the same."""
    def fold(call):
        return {"op": "collect", "into": "response", "events": [
            {"type": "tool_call_started", "id": call, "name": "f"}]}
    return scenario(fold(first), dict(fold(second),
                                      expect={"same_as": number}))


def without(value, key):
    return {k: v for k, v in value.items() if k != key}


MATCHERS = [
    ("a member", response({"output_text": "abc"}), HOLDS),
    ("a wrong member", response({"output_text": "abd"}),
     '/run/0/expect/result/output_text\n#   expected "abd"\n'
     '#   got      "abc"'),
    ("a deep member", response({"usage": {"extra": {"a/b~c": 1}}}),
     "/run/0/expect/result/usage/extra/a~1b~0c"),
    ("null is not absent", response({"nonsense": None}),
     "#   expected null\n#   got      nothing"),
    ("null is present", response({"raw": None}), HOLDS),
    ("no members at all is still an object", response({"output_text": {}}),
     "/result/output_text"),
    ("a longer list", response({"tool_calls": [{}]}), "/result/tool_calls"),
    ("a shorter list", streamed(tags=["message_started"]), "/expect/tags"),
    ("an element", streamed(tags=["message_started", "text_delta",
                                  "text_delta", "text_completed", "x"]),
     "/expect/tags/4"),
    ("numbers by value", scenario(asked(adapter_calls=1.0)), HOLDS),
    ("another number", scenario(asked(adapter_calls=2)),
     "/expect/adapter_calls"),

    ("$any", response({"request_id": {"$any": True}, "raw": {"$any": True}}),
     HOLDS),
    ("$any of nothing", response({"nonsense": {"$any": True}}), "/nonsense"),
    ("$absent", response({"nonsense": {"$absent": True}}), HOLDS),
    ("$absent of null", response({"raw": {"$absent": True}}), "/raw"),
    ("$absent must be a bool", response({"raw": {"$absent": 1}}),
     '"$absent" must be'),
    ("$len", response({"tool_calls": {"$len": 0},
                       "output_text": {"$len": 3},
                       "metadata": {"$len": 0}}), HOLDS),
    ("another $len", response({"output_text": {"$len": 2}}), "/output_text"),
    ("$len of null", response({"raw": {"$len": 0}}), "/raw"),
    ("$len must be a number", response({"raw": {"$len": "2"}}),
     '"$len" must be'),
    ("$regex", response({"output_text": {"$regex": "b"}}), HOLDS),
    ("another $regex", response({"output_text": {"$regex": "^b"}}),
     "/output_text"),
    ("$regex of null", response({"raw": {"$regex": ""}}), "/raw"),
    ("a $regex that is none", response({"output_text": {"$regex": "("}}),
     '"$regex" must be'),
    ("$contains", streamed(tags={"$contains": ["text_delta"]}), HOLDS),
    ("$contains something else", streamed(tags={"$contains": ["usage"]}),
     "/expect/tags"),
    ("$contains, but in no list", response({"raw": {"$contains": []}}),
     "/raw"),
    ("$contains must be a list", streamed(tags={"$contains": "usage"}),
     '"$contains" must be'),
    ("$unordered", streamed(tags={"$unordered": [
        "text_completed", {"$any": True}, "text_delta", "text_delta",
        "message_started"]}), HOLDS),
    ("$unordered takes each once", streamed(tags={"$unordered": [
        "text_delta", "text_delta", "text_delta", "message_started",
        "message_completed"]}), "/expect/tags"),
    ("$unordered of another length", streamed(tags={"$unordered": []}),
     "/expect/tags"),
    ("$unordered must be a list", streamed(tags={"$unordered": {}}),
     '"$unordered" must be'),
    ("$not", response({"output_text": {"$not": "x"}}), HOLDS),
    ("$not what it is", response({"output_text": {"$not": "abc"}}),
     "/output_text"),
    ("$not hides no fault", response({"raw": {"$not": {"$regex": "("}}}),
     '"$regex" must be'),
    ("$not hides no slip", response({"raw": {"$not": {"$lenn": 1}}}),
     '"$lenn" is no special object'),
    ("several at once", response(
        {"output_text": {"$len": 3, "$regex": "b", "$not": "x"}}), HOLDS),
    ("one of several is wrong", response(
        {"output_text": {"$len": 3, "$regex": "x"}}), "/output_text"),
    ("special and plain", response({"$len": 3, "output_text": "abc"}),
     "/expect/result"),
]

KINDS = [
    ("ok", scenario(asked(ok=False)), "/expect/ok"),
    ("error", scenario(asked(error={"reason": "timeout"})), "/expect/error"),
    ("its reason", scenario({"op": "generate", "messages": [], "expect": {
        "error": {"kind": "validation", "reason": "invalid_tool"}}}),
     "/expect/error/reason"),
    ("its faults", scenario({"op": "generate", "messages": [], "expect": {
        "error": {"errors": [["messages", "full"]]}}}),
     "/expect/error/errors/0/1"),
    ("misuse", scenario(asked(misuse=True)), "/expect/misuse"),
    ("no misuse", misused(False), "/expect/misuse"),
    ("misuse there is", misused(True), HOLDS),
    ("words of misuse", misused("max_turns"), HOLDS),
    ("other words of misuse", misused("banana"), "/expect/misuse"),
    ("a pattern for misuse", misused({"$regex": "^banana"}),
     "/expect/misuse"),
    ("result", scenario(asked(result={"finish_reason": "length"})),
     "/expect/result/finish_reason"),
    ("no result", scenario(asked(result={"$absent": True})),
     "/expect/result"),
    ("a result that take cut off", scenario(dict(asked(
        "stream_generate", result={"$any": True}), take=1)),
     "/expect/result"),
    ("session", scenario(asked(session={})), "/expect/session"),
    ("events, by their tags", streamed(events=[
        "message_started", "text_delta", "text_delta", "text_completed",
        "message_completed"]), HOLDS),
    ("another tag", streamed(events=[
        "message_started", "text_delta", "usage", "text_completed",
        "message_completed"]), '/expect/events/2\n#   expected "usage"'),
    ("a member of an event", streamed(events=[
        {}, {"delta": "a"}, {"delta": "x"}, {}, {}]),
     "/expect/events/2/delta"),
    ("a list that contains", streamed(events={"$contains": [
        "text_delta", {"type": "text_completed", "text": "abc"}]}), HOLDS),
    ("a list that does not contain", streamed(events={"$contains": [
        {"type": "text_completed", "text": "ab"}]}), "/expect/events"),
    ("a tag is a tag among events only", scenario({
        "op": "generate",
        "request": {"messages": USER,
                    "metadata": {"like": {"type": "usage", "seq": 1}}},
        "expect": {"requests": [{"metadata": {"like": "usage"}}]}}),
     "/expect/requests/0/metadata/like"),
    ("count", streamed(count={"text_delta": 3}),
     "/expect/count/text_delta"),
    ("count of what did not come", streamed(count={"usage": 0}), HOLDS),
    ("count of no event", streamed(count={"text": 0}),
     'no event is called "text"'),
    ("requests", scenario(asked(requests=[{"model": "fake:x"}])),
     "/expect/requests/0/model"),
    ("more requests", scenario(asked(requests=[{}, {}])),
     "/expect/requests"),
    ("released", scenario(asked(released=0)), "/expect/released"),
    ("tool_runs", scenario(asked(tool_runs={"echo": 1})),
     "/expect/tool_runs"),
    ("tool_runs of what did not run",
     scenario(asked(tool_runs={"echo": 0})), HOLDS),
    ("tool_runs must be an object", scenario(asked(tool_runs=0)),
     "must be an object"),
    ("callback_runs", scenario(asked(callback_runs=1)),
     "/expect/callback_runs"),
    ("trace", scenario(asked(trace=[])), "/expect/trace"),
    ("same_as", same("c0", "c0"), HOLDS),
    ("same_as something else", same("c0", "c1"),
     "/expect/same_as/tool_calls/0/id"),
    ("same_as itself", same("c0", "c0", 1), "an earlier operation"),
    ("same_as of no result", scenario(
        {"op": "generate", "messages": []}, asked(same_as=0)),
     "that operation has no result"),
    ("counts begin anew", scenario(asked(), asked(
        adapter_calls=1, released=1, requests={"$len": 1})), HOLDS),
    ("every difference is told", scenario(
        asked(ok=False, released=7), asked(ok=False)),
     "/run/1/expect/ok"),
    ("an unknown expectation", scenario(asked(okay=True)),
     "/expect/okay: there is no such expectation"),
]

FILES = [
    ("no JSON", "{", "planted.json: "),
    ("a key twice", '{"name": "a", "name": "b", "run": []}', "planted.json: "),
    ("no object", "[]", "a scenario is an object"),
    ("an unknown member", scenario(asked(), note="x"),
     'the scenario has an unknown member "note"'),
    ("no name", without(scenario(asked()), "name"), "/name must be"),
    ("no run", without(scenario(asked()), "run"), "/run must be"),
    ("nothing to run", scenario(), "/run must be"),
    ("no engine", without(scenario({
        "op": "validate", "type": "message", "value": USER[0]}), "engine"),
     HOLDS),
    ("a strange engine", scenario(asked(), engine=[]), "/engine must be"),
    ("an unknown member of the engine",
     scenario(asked(), engine={"scirpt": []}),
     '/engine has an unknown member "scirpt"'),
    ("a model that is no text", scenario(asked(), engine={"model": 5}),
     "/engine/model must be"),
    ("tools that are no list", scenario(asked(), engine={"tools": {}}),
     "/engine/tools must be"),
    ("a tool that is none", scenario(asked(), engine={"tools": [5]}),
     "/engine/tools: tool 0"),
    ("an unknown operation", scenario({"op": "genrate"}),
     '/run/0: no operation is called "genrate"'),
    ("no operation", scenario({}), "no operation is called"),
    ("one for later", scenario(asked(), {"op": "chat", "messages": USER}),
     "/run/1: the operation chat is not supported yet"),
    ("an unknown member of an operation",
     scenario(dict(asked(), option={})),
     'generate has an unknown member "option"'),
    ("take where nothing is pulled", scenario(dict(asked(), take=1)),
     'unknown member "take"'),
    ("a strange take", scenario(dict(asked("stream_generate"), take=-1)),
     '"take" must be'),
    ("neither request nor messages", scenario({"op": "generate"}),
     'needs either "request" or "messages"'),
    ("strange expectations", scenario(dict(asked(), expect=[])),
     '"expect" must be'),
    ("validate without a type", scenario({"op": "validate", "value": 1}),
     '"type" must be'),
    ("decode without a text", scenario({"op": "decode"}), '"text" must be'),
    ("collect into something else", scenario(
        {"op": "collect", "events": [], "into": "banana"}), '"into" must be'),
    ("collect without events", scenario({"op": "collect"}),
     '"events" must be'),
    ("collect after a strange thread", scenario(
        {"op": "collect", "events": [], "thread": [{"role": "bogus"}]}),
     '"thread": '),
    ("options of a wrong type are the library's affair",
     scenario(dict(asked(misuse=True), opts=5)), HOLDS),
    ("and so is a fake that is misconfigured",
     scenario(asked(misuse=True), engine={"script": 5}), HOLDS),
]


def run(*paths):
    done = subprocess.run([RUNNER, *paths], text=True, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def verdict(status, said, words):
    """None, or what is wrong with the runner's answer."""
    if words is HOLDS:
        good = status == 0 and said.startswith("ok 1 - planted\n")
        return None if good else "should pass"
    if status != 1 or not said.startswith("not ok 1 - "):
        return "should fail"
    return None if words in said else "should say: " + words


class Count:
    passed = failed = 0

    def note(self, name, fault, said=""):
        if fault is None:
            self.passed += 1
            print("ok - " + name)
            return
        self.failed += 1
        print(f"not ok - {name}: {fault}")
        print("".join(f"#   {line}\n" for line in said.splitlines()), end="")


def check_rows(count, folder):
    path = os.path.join(folder, "planted.json")
    for name, document, words in MATCHERS + KINDS + FILES:
        with open(path, "w", encoding="utf-8") as f:
            f.write(document if isinstance(document, str)
                    else json.dumps(document))
        status, said = run(path)
        count.note(name, verdict(status, said, words), said)


def check_many(count, folder):
    """Several files: numbers, names that TAP would misread, the sum."""
    good = os.path.join(folder, "good.json")
    bad = os.path.join(folder, "bad.json")
    for path, expected in (good, True), (bad, False):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(scenario(asked(ok=expected), name="a\n# skip"), f)
    status, said = run(good, bad, os.path.join(folder, "missing.json"))
    lines = said.splitlines()
    for name, line in [("the first", "ok 1 - a \\# skip"),
                       ("the second", "not ok 2 - a \\# skip"),
                       ("the plan", "1..3")]:
        count.note(name, None if line in lines else "is missing", said)
    count.note("a file that is not there", None if
               "missing.json: cannot be read" in said else "is not told", said)
    count.note("one failure fails all", None if status == 1 else "passes")
    count.note("the sum", None if lines[-1] == "1 passed, 2 failed"
               else "is wrong", said)
    count.note("all good", None if run(good, good)[0] == 0 else "fails")
    count.note("no file", None if run()[0] == 2 else "is accepted")


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        check_rows(count, folder)
        check_many(count, folder)
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed else 0


sys.exit(main())
