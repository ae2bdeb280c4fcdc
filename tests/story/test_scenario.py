#!/usr/bin/env python3
"""test_scenario - allm-scenario fails when it must, and says where and why

Each row is a scenario.  Those that hold must pass; those with a planted fault
must fail, with exit status 1 and the words that lead to the fault.  There is
a fault for every matcher, every kind of expectation, the operations of loops
and of sessions, and every way in which a file cannot be understood.
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
HOLDS = None        # instead of a message: the scenario passes


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


TURNS = [[["tool_call", {"id": "c0", "name": "echo", "arguments": {"x": 1}}],
          ["finish", "tool_calls"]],
         [["text", "done"], ["finish", "stop"]]]


def looped(op="chat", does={"echo": True}, opts={}, more={}, **expected):
    """One call of the tool echo, then the text "done"."""
    tool = {"name": "echo", "does": does}
    return scenario(dict(asked(op, **expected), opts=opts, **more),
                    engine={"model": "fake:m", "scripts": TURNS,
                            "tools": [tool if does else {"name": "echo"}]})


def answered(content, does, **opts):
    """The tool result that the model gets."""
    return looped(does=does, opts=opts, result={
        "steps": [{"tool_results": [{"content": content}]}, {}]})


def halted(reason, does={"echo": True}, opts={}):
    return looped(does=does, opts=opts, result={"halted_reason": reason})


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
     '"$lenn" is not a special object'),
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
     'unknown event "text"'),
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
     "/expect/okay: unknown expectation"),
]

LOOPS = [
    ("step", looped("step", result={"done?": False}), HOLDS),
    ("another step", looped("step", result={"done?": True}),
     "/expect/result/done?"),
    ("stream_step", looped("stream_step", count={"step_completed": 2}),
     "/expect/count/step_completed"),
    ("chat", looped(result={"steps": {"$len": 2}}), HOLDS),
    ("another chat", looped(result={"steps": {"$len": 3}}),
     "/expect/result/steps"),
    ("stream", looped("stream", count={"chat_completed": 0}),
     "/expect/count/chat_completed"),
    ("no events of a chat that is waited for", looped(tags=[]),
     "/expect/tags"),
    ("a chat that take cut off", looped(
        "stream", more={"take": 3}, result={"$any": True}),
     "/expect/result"),
    ("agent_loop", looped("agent_loop", result={"iterations": 2}), HOLDS),
    ("another agent_loop", looped("agent_loop", result={"iterations": 3}),
     "/expect/result/iterations"),
    ("an agent's error", looped(
        "agent_loop", opts={"max_iterations": 1}, ok=False,
        error={"reason": "budget_exceeded"}, result={"messages": [{}]}),
     HOLDS),
    ("another error of an agent", looped(
        "agent_loop", opts={"max_iterations": 1},
        error={"reason": "llm_error"}), "/expect/error/reason"),
    ("trace", looped("agent_loop", trace=[
        "parse_tool_calls", "validate_calls", "budget_ok", ["dispatch", 1],
        "inject_results", "loop_continue", "parse_no_tools"]), HOLDS),
    ("another trace", looped("agent_loop", trace=[
        "parse_tool_calls", "validate_calls", "budget_ok", ["dispatch", 2],
        "inject_results", "loop_continue", "parse_no_tools"]),
     "/expect/trace/3/1"),
    ("a trace of one turn", looped("agent_loop", trace={"$len": 1}),
     "/expect/trace"),
    ("no trace of a chat", looped(trace=[]), "/expect/trace"),
    ("tool_runs of a chat", looped(tool_runs={"echo": 1, "other": 0}), HOLDS),
    ("more tool_runs", looped(tool_runs={"echo": 2}), "/expect/tool_runs"),
    ("callback_runs of a chat", looped(
        does={"error": "x"}, opts={"on_tool_error": {"replace": 1}},
        callback_runs=1), HOLDS),
    ("fewer callback_runs", looped(
        does={"error": "x"}, opts={"on_tool_error": {"replace": 1}},
        callback_runs=0), "/expect/callback_runs"),

    ("echo", answered('{"x":1}', {"echo": True}), HOLDS),
    ("not echo", answered("x", {"echo": True}), "/tool_results/0/content"),
    ("ok", answered("y", {"ok": "y"}), HOLDS),
    ("error", answered('{"error":"y"}', {"error": "y"}), HOLDS),
    ("raise", answered({"$regex": "handler_raised.*y"}, {"raise": "y"}),
     HOLDS),
    ("invalid", answered({"$regex": "invalid_return"}, {"invalid": True}),
     HOLDS),
    ("sleep", answered("y", {"sleep_ms": 9, "then": {"ok": "y"}}), HOLDS),
    ("sleep too long", answered(
        "y", {"sleep_ms": 9, "then": {"ok": "y"}}, tool_timeout=8),
     "/tool_results/0/content"),
    ("context", answered("y", {"context": "who"}, context={"who": "y"}),
     HOLDS),
    ("no such context", answered("null", {"context": "who"}), HOLDS),
    ("sees", answered("y", {"sees": "session_id"}, session_id="y"), HOLDS),
    ("sees the call", answered({"$regex": "c0"}, {"sees": "tool_call"}),
     HOLDS),
    ("sequence", answered("1", {"sequence": [{"ok": 1}, {"ok": 2}]}), HOLDS),
    ("no handler", answered({"$regex": "not_found"}, None), HOLDS),
    ("ask_user", halted("ask_user", {"ask_user": "q?"}), HOLDS),
    ("halt", halted("enough", {"halt": ["enough", 1]}), HOLDS),
    ("not halted", halted("enough"), "/result/halted_reason"),
    ("on_tool_error", halted("tool_error", {"error": "x"},
                             {"on_tool_error": "halt"}), HOLDS),
    ("a callback that halts", halted(
        "tool_error", {"error": "x"}, {"on_tool_error": {"callback": "halt"}}),
     HOLDS),
    ("halt_when a step", halted("halt_when", opts={"halt_when": {"step": 0}}),
     HOLDS),
    ("halt_when a later step",
     halted("halt_when", opts={"halt_when": {"step": 1}}),
     "/result/halted_reason"),
    ("halt_when a text", halted("halt_when", opts={"halt_when": {"text": "x"}}),
     "/result/halted_reason"),
    ("input", scenario({"op": "step", "input": 5, "expect": {
        "error": {"reason": "invalid_thread"}}}), HOLDS),
    ("another error of input", scenario({"op": "step", "input": 5, "expect": {
        "error": {"reason": "invalid_request"}}}), "/expect/error/reason"),
    ("misuse before input", scenario({
        "op": "chat", "input": 5, "opts": {"max_turns": 0},
        "expect": {"misuse": True}}), HOLDS),
]

PENDING = {"status": "awaiting_tools", "thread": USER,
           "pending_tool_calls": [{"id": "c0", "name": "echo"}]}


def session(*run, fields=None):
    """Operations of a session with these fields."""
    made = {"op": "session_new", "session": fields or {"thread": USER}}
    return scenario(made, *run)


def turned(op, more={}, **expected):
    return session({"op": op, **more, "expect": expected})


def submitted(op, more, **expected):
    return session({"op": op, **more, "expect": expected}, fields=PENDING)


def gone_on(op, more, messages):
    """The number of messages of the session after an operation."""
    return turned(op, more, ok=True, result={"$any": True},
                  session={"thread": {"messages": {"$len": messages}}})


SESSIONS = [
    ("session_new", session({"op": "restart", "expect": {
        "session": {"status": "idle"}}}), HOLDS),
    ("another status", session({"op": "restart", "expect": {
        "session": {"status": "completed"}}}), "/expect/session/status"),
    ("a field that sessions do not have", scenario({
        "op": "session_new", "session": {"zap": 1},
        "expect": {"misuse": "zap"}}), HOLDS),
    ("session_start", gone_on("session_start", {}, 2), HOLDS),
    ("more messages", gone_on("session_start", {}, 3),
     "/expect/session/thread/messages"),
    ("session_start with messages", gone_on(
        "session_start", {"messages": USER * 3}, 4), HOLDS),
    ("session_stream_start", turned(
        "session_stream_start", count={"chat_completed": 2}),
     "/expect/count/chat_completed"),
    ("session_reply", gone_on("session_reply", {"text": "x"}, 3), HOLDS),
    ("session_stream_reply", gone_on(
        "session_stream_reply", {"text": "x"}, 3), HOLDS),
    ("a reply that is no text", turned("session_reply", {"text": 5}, error={
        "reason": "invalid_thread"}), HOLDS),
    ("a reply that take cut off", turned(
        "session_stream_reply", {"text": "x", "take": 1},
        result={"$absent": True},
        session={"metadata": {"cancelled_input": "x"}}), HOLDS),
    ("session_continue", gone_on(
        "session_continue", {"message": USER[0]}, 3), HOLDS),
    ("session_continue without a message", gone_on(
        "session_continue", {"message": None}, 2), HOLDS),
    ("session_continue with no message at all", turned(
        "session_continue", {"message": {"role": "zap", "content": ""}},
        error={"errors": [[["messages", 1, "role"], {}]]}),
     "/expect/error/errors/0/1"),
    ("session_step", turned("session_step", result={"done?": False}),
     "/expect/result/done?"),
    ("session_stream_step", turned(
        "session_stream_step", count={"step_completed": 1}), HOLDS),
    ("session_submit", submitted(
        "session_submit", {"id": "c0", "content": {"a": 1}}, session={
            "status": "idle", "thread": {"messages": [{}, {
                "content": '{"a":1}'}]}}), HOLDS),
    ("session_submit of parts", submitted(
        "session_submit",
        {"id": "c0", "content": [{"type": "text", "text": "y"}]},
        session={"thread": {"messages": [{}, {
            "content": [{"text": "z"}]}]}}), "/messages/1/content/0/text"),
    ("session_submit of another id", submitted(
        "session_submit", {"id": "c1", "content": "r"},
        error={"reason": "unknown_tool_call_id"}), HOLDS),
    ("session_submit_many", submitted(
        "session_submit_many", {"results": [["c0", "r"]]},
        session={"pending_tool_calls": [{}]}),
     "/expect/session/pending_tool_calls"),
    ("session_append", turned("session_append", {"message": USER[0]}, session={
        "thread": {"messages": {"$len": 2}}}), HOLDS),
    ("session_append of a value", turned(
        "session_append", {"message": {
            "role": "tool", "tool_call_id": "c0", "content": {"a": 1}}},
        session={"thread": {"messages": [{}, {"content": '{"a":1}'}]}}),
     HOLDS),
    ("restart", submitted("restart", {}, session=PENDING | {
        "thread": {"messages": USER}}), HOLDS),
    ("no session behind what makes none", scenario(
        {"op": "session_start", "messages": [],
         "expect": {"session": {"$absent": True}}}), HOLDS),
    ("the session behind what is not of it", session(asked(session={
        "status": "completed"})), "/expect/session/status"),
    ("an input that is none", scenario({
        "op": "session_start", "input": [5], "expect": {
            "error": {"reason": "invalid_session_input"}}}), HOLDS),
]

CRASH = {"op": "session_reply", "text": "go", "crash_at": 1}
BACK = {"op": "restart"}


def crashed(*run, crash_at=1):
    return scenario(dict(CRASH, crash_at=crash_at), BACK, *run)


def resumed(**expected):
    return crashed({"op": "session_resume", "expect": expected})


def resumed_and(op):
    return crashed({"op": "session_resume"}, op)


STORED = [
    ("crash_at", crashed({"op": "restart", "expect": {
        "session": {"metadata": {"broken_off": {"op": "reply"}}}}}), HOLDS),
    ("crash_at before the commit", crashed(crash_at="1-"), HOLDS),
    ("nothing broken off", crashed({"op": "restart", "expect": {
        "session": {"metadata": {"broken_off": {"op": "start"}}}}}),
     "/session/metadata/broken_off/op"),
    ("a crash that does not come", crashed(crash_at=3),
     "made 2 commits and did not crash"),
    ("a strange crash_at", crashed(crash_at="1+"), '"crash_at" must be'),
    ("crash_at 0", crashed(crash_at=0), '"crash_at" must be'),
    ("crash_at without a session", scenario(dict(asked(), crash_at=1)),
     'unknown member "crash_at"'),
    ("session_resume", resumed(ok=True, adapter_calls=1,
                               result={"halted_reason": "completed"},
                               count={"chat_completed": 1}), HOLDS),
    ("another result", resumed(result={"halted_reason": "x"}),
     "/result/halted_reason"),
    ("session_abandon", crashed({"op": "session_abandon", "expect": {
        "session": {"metadata": {"cancelled_input": "go"}}}}), HOLDS),
    ("session_settle", crashed({
        "op": "session_settle", "tool_call_id": "c", "how": "again",
        "expect": {"error": {"reason": "unknown_tool_call_id"}}}), HOLDS),
    ("settled somehow", crashed({"op": "session_settle", "tool_call_id": "c",
                                 "how": "no"}), '"how" must be'),
    ("session_fork", scenario(
        {"op": "session_reply", "text": "go"},
        {"op": "session_fork", "name": "f", "expect": {
            "result": {"id": "f", "status": "completed"}}}), HOLDS),
    ("session_fork without a name", scenario({"op": "session_fork"}),
     '"name" must be'),
    ("session_records", crashed({"op": "session_records", "from": 2, "expect": {
        "result": [{"type": "begin"}, {"type": "call"}]}}), HOLDS),
    ("follow", resumed_and({"op": "follow", "cursor": "0", "until": 2,
                            "expect": {"count": {"session_changed": 2}}}),
     HOLDS),
    ("followed for ever", resumed_and({"op": "follow", "until": 0}),
     '"until" must be'),
    ("records", resumed(records=[{}] * 8), HOLDS),
    ("other records", resumed(records={"$contains": [{"type": "intent"}]}),
     "/expect/records"),
]

FILES = [
    ("a strange session", scenario({"op": "session_new", "session": 5}),
     '"session" must be'),
    ("strange results", submitted("session_submit_many", {"results": 5}),
     '"results" must be'),
    ("nothing to append", turned("session_append"), 'needs a "message"'),
    ("take where a session is waited for", turned("session_start",
                                                  {"take": 1}),
     'unknown member "take"'),
    ("no JSON", "{", "planted.json: "),
    ("a key twice", '{"name": "a", "name": "b", "run": []}', "planted.json: "),
    ("no object", "[]", "a scenario must be an object"),
    ("an unknown member", scenario(asked(), note="x"),
     'the scenario has an unknown member "note"'),
    ("words for the reader", scenario(dict(asked(), comment="x"),
                                      description="y"), HOLDS),
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
     '/run/0: unknown operation "genrate"'),
    ("no operation", scenario({}), "unknown operation"),
    ("neither messages nor thread", scenario({"op": "chat"}),
     'needs one of "messages"'),
    ("messages and thread", scenario({"op": "step", "messages": USER,
                                      "thread": USER}),
     'needs one of "messages"'),
    ("take where a chat is waited for", scenario(dict(asked("chat"), take=1)),
     'unknown member "take"'),
    ("a strange deed", looped(does={"zap": 1}),
     'the tool "echo": "does" has none of the known forms'),
    ("two deeds", looped(does={"ok": 1, "echo": True}), "unknown member"),
    ("a strange sleep", looped(does={"sleep_ms": -1, "then": {"ok": 1}}),
     '"sleep_ms" must be'),
    ("a sleep and nothing then", looped(does={"sleep_ms": 1}),
     "none of the known forms"),
    ("a strange halt", looped(does={"halt": "x"}), '"halt" must be'),
    ("an empty sequence", looped(does={"sequence": []}),
     '"sequence" must be'),
    ("a slip in a sequence", looped(does={"sequence": [{"okay": 1}]}),
     "none of the known forms"),
    ("a strange sight", looped(does={"sees": "engine"}), '"sees" must be'),
    ("a slip in a tool of the call", looped(
        opts={"tools": [{"name": "x", "does": {"zap": 1}}]}),
     'the tool "x"'),
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
    """None, or what is wrong with the output of the runner."""
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
    rows = MATCHERS + KINDS + LOOPS + SESSIONS + STORED + FILES
    for name, document, words in rows:
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
    for words in (["--help"], ["-h"], [good, "--help"]):
        status, said = run(*words)
        count.note(f"{words[-1]} explains", None if status == 0 and
                   said.startswith("usage: ") and "exit codes" in said
                   else "does not", said)
    status, said = run("--nope")
    count.note("an unknown option is named", None if status == 2 and
               '"--nope"' in said else "is not", said)


def check_store(count, folder):
    """Sessions in a file, which is empty at the end."""
    path = os.path.join(folder, "kept.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(crashed({"op": "session_resume", "expect": {"ok": True}}), f)
    store = "sqlite:" + os.path.join(folder, "s.db")
    status, said = run("--store", store, path, path)
    if "unsupported_store" in said:
        return
    count.note("a store in a file", None if status == 0 else "fails", said)
    status, said = run("--store", "nowhere:", path)
    count.note("a store that is none", None if status == 1 and
               "invalid_store_uri" in said else "is accepted", said)


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        check_rows(count, folder)
        check_many(count, folder)
        check_store(count, folder)
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed else 0


sys.exit(main())
