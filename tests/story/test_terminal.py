#!/usr/bin/env python3
"""test_terminal - chat and demo in a terminal: keys, history, questions"""
import base64
import json
import os
import re
import signal
import subprocess
import tempfile
import termios
import time

from killed import end, fresh, killed_agent, start
from program import (ALLM, CLEAN, HOME, Terminal, allm, equal, fake, file,
                     holds, main, need, scripts, text)

XTERM = {"TERM": "xterm"}
LEFT, RIGHT, UP, DOWN = b"\x1b[D", b"\x1b[C", b"\x1b[A", b"\x1b[B"
ANSWER = [["text", "done."], ["finish", "stop"]]
SLOW = fake(["text", "begun"], ["delay", 60000], ["finish", "stop"])


def is_prompt(screen):
    """Does an empty line wait for input?"""
    return screen.endswith(b"\x1b[2C") and \
        screen.rfind(b"?2004l") <= screen.rfind(b"?2004h")


def chat(*words, answers=1, env=None, **more):
    """A chat whose answers are all the same; its history is empty."""
    fresh = {**XTERM, "XDG_STATE_HOME": tempfile.mkdtemp(dir=HOME)}
    t = Terminal("chat", *(words or scripts(*[ANSWER] * answers)),
                 env={**fresh, **(env or {})}, **more)
    t.until(is_prompt)
    return t


def leave(t):
    """Ctrl-D has an effect only once the line is edited."""
    t.until(is_prompt)
    t.write(b"\x04")
    equal(t.end(), 0)


def said(keys, **more):
    """The prompt that the model gets if these keys are pressed."""
    path = os.path.join(HOME, "said.json")
    t = chat(**more)
    t.after(keys + b"\r", b"done.")
    t.after(b"/save " + path.encode() + b"\r", b"saved to")
    leave(t)
    with open(path, encoding="utf-8") as source:
        thread = json.load(source)["data"]["thread"]["data"]
    return thread["messages"][0]["data"]["content"]


# ----------------------------------------------------------------- editing


def test_editing():
    """a line is edited as in a shell"""
    rows = [
        (b"abc", "abc"),
        (b"abd" + LEFT + b"c", "abcd"),
        (b"abx\x7fc", "abc"),
        (b"bc\x01a\x05d", "abcd"),
        (b"\x1b[Hbc\x1bOHa\x1b[F!", "abc!"),
        (b"abcx" + LEFT + b"\x1b[3~d", "abcd"),
        (b"one two" + LEFT * 3 + b"\x0b", "one "),
        (b"one two" + LEFT * 3 + b"\x15", "two"),
        (b"one two three\x17x", "one two x"),
        (b"one two\x1bb\x1bbx \x1bfy", "x oney two"),
        (b"ab\x02\x02x\x06\x06c", "xabc"),
        (b"a\tb\x1b[24~c", "abc"),
        (LEFT + RIGHT + b"\x7f\x0b\x15\x17a", "a"),
    ]
    for keys, want in rows:
        equal((keys, said(keys)), (keys, want))


def test_characters():
    """a character may have several bytes, combining marks and columns"""
    rows = [
        ("aäö".encode() + LEFT + "ü".encode(), "aäüö"),
        ("日本語".encode() + b"\x7f", "日本"),
        ("e\u0301x".encode() + LEFT + LEFT + b"a", "ae\u0301x"),
        ("ae\u0301".encode() + b"\x7f", "a"),
        ("a🎉b".encode() + LEFT + b"\x7f", "ab"),
        ("aनिx".encode() + LEFT + LEFT + b"b", "abनिx"),
        ("akषि".encode() + b"\x7f", "ak"),
        (b"a\xffb", "ab"),
    ]
    for keys, want in rows:
        equal((keys, said(keys)), (keys, want))


def test_paste():
    """pasted text may have several lines, and is not sent by itself"""
    keys = b"x\x1b[200~one\rtwo\x03\x1b[201~y"
    equal(said(keys), "xone\ntwoy")


def test_long_line():
    """a line that is longer than the row continues in the next row"""
    words = "word " * 40
    equal(said(words.encode() + b"end", columns=20), words + "end")
    t = chat(columns=20)
    t.after(b"0123456789abcdefghij", b"hij\r\x1b[5C")
    holds(t.said.decode(), "> 0123456789abcdefg\r")
    t.write(b"\x15")
    leave(t)


def test_long_paste():
    """a long paste is shown at once"""
    t = chat()
    began = time.monotonic()
    for _ in range(60):
        t.write(b"\x1b[200~" + b"word " * 200 + b"\x1b[201~")
    t.after(b"\r", b"done.")
    assert time.monotonic() - began < 5, time.monotonic() - began
    leave(t)


def test_huge_paste():
    """a paste of any length is sent whole, also within a line"""
    words = "".join(f"line {n}\n" for n in range(20000))
    assert len(words) > 3 * 65536
    paste = b"\x1b[200~" + words.encode() + b"\x1b[201~"
    equal(said(b"ac" + LEFT + paste + b"b"), "a" + words + "bc")


def test_lost_end_of_paste():
    """Ctrl-C and Ctrl-D leave a paste whose end never arrives"""
    for before in (b"", b"some\rwords"):
        t = chat(answers=2)
        t.write(b"\x1b[200~" + before)
        t.after(b"\x03", b"^C\r")
        t.until(is_prompt)
        t.after(b"hello\r", b"done.")
        leave(t)
    t = chat()
    t.write(b"\x1b[200~\x04")
    equal(t.end(), 0)


def test_keys_in_a_paste():
    """control keys within a paste have no effect"""
    equal(said(b"a\x1b[200~b\x1b[Dc\x04\x1ad\x1b[201~e"), "abcde")


def test_nonblocking_terminal():
    """a terminal that another program made non-blocking works"""
    words = "word " * 20000
    t = chat(*scripts([["text", words], ["finish", "stop"]], ANSWER),
             nonblocking=True)
    t.write(b"go\r")
    time.sleep(0.3)         # longer than it takes to fill the terminal
    t.until(lambda seen: seen.count(b"word") >= 20000)
    t.until(is_prompt)
    t.after(b"again\r", b"done.")
    leave(t)


def test_history():
    """arrows recall earlier prompts, also those of a saved session"""
    t = chat(answers=4)
    t.after(b"first\r", b"done.")
    t.after(b"second\r", b"done.")
    t.until(b"\x1b[2C")
    t.after(b"draft" + UP, b"second")
    t.after(UP, b"first")
    t.after(UP + DOWN + DOWN, b"draft")
    t.write(b"\x15")
    leave(t)
    path = os.path.join(HOME, "history.json")
    allm("-S", path, *text("One."), "long ago")
    t = chat("-S", path, *scripts(ANSWER))
    holds(t.said.decode(), "2 messages so far")
    t.after(UP, b"long ago")
    t.write(b"\x15")
    leave(t)


def test_interrupt():
    """Ctrl-C cancels an answer, or drops the line; it does not end the chat"""
    t = chat(*scripts([["text", "begun but "], ["delay", 60000],
                       ["finish", "stop"]], ANSWER))
    t.after(b"hi\r", b"begun but")
    t.after(b"\x03", b"cancelled; what has arrived is kept")
    t.until(b"\x1b[2C")
    t.after(b"not this\x03", b"^C")
    t.after(b"\x03", b"Ctrl-D or /exit")
    t.child.send_signal(signal.SIGINT)
    t.after(b"but this\r", b"done.")
    leave(t)


def test_terminated_after_stop():
    """SIGTERM ends an answer and the chat also after Ctrl-Z, as before it"""
    t = chat(*scripts([["text", "begun but "], ["delay", 60000],
                       ["finish", "stop"]]))
    t.after(b"hi\r", b"begun but")
    t.after(b"\x1a", b"\x1b[?2004h")
    t.child.send_signal(signal.SIGTERM)
    holds(t.until(None).decode(), "cancelled; what has arrived is kept")
    equal(t.end(), 143)


def test_interrupt_twice():
    """Ctrl-C twice in an empty line ends the chat with 130"""
    t = chat()
    t.after(b"\x03", b"another Ctrl-C")
    t.write(b"\x03")
    equal(t.end(), 130)


def test_type_ahead():
    """what is typed while an answer arrives is in the next line"""
    t = chat(*scripts([["text", "begun but "], ["delay", 300],
                       ["text", "done."], ["finish", "stop"]], ANSWER))
    t.after(b"hi\r", b"begun but")
    t.after(b"next \x7f one", b"> next one")
    t.after(b"\r", b"done.")
    leave(t)


def test_type_ahead_interrupted():
    """Ctrl-C keeps what was typed meanwhile, but sends no line that waits"""
    t = chat(*scripts([["text", "begun but "], ["delay", 60000],
                       ["finish", "stop"]], ANSWER))
    t.after(b"hi\r", b"begun but")
    t.after(b"not sent\rnext one\x03", b"> next one")
    assert b"not sent" not in t.said, t.said
    t.after(b"\r", b"done.")
    leave(t)


def test_paste_ahead():
    """control characters of a paste do not cancel the answer that arrives"""
    t = chat(*scripts([["text", "begun but "], ["delay", 300],
                       ["text", "done."], ["finish", "stop"]]))
    t.after(b"hi\r", b"begun but")
    t.after(b"\x1b[200~a\x03b\x1ac\x1b[201~", b"> abc")
    holds(t.said.decode(), "done.")
    t.write(b"\x15")
    leave(t)


def test_kept_answer():
    """Ctrl-C keeps the prompt and what has arrived of the answer"""
    path = os.path.join(HOME, "kept.json")
    t = chat(*scripts([["text", "begun but "], ["delay", 60000],
                       ["finish", "stop"]]))
    t.after(b"hi\r", b"begun but")
    t.after(b"\x03", b"is kept")
    t.after(b"/save " + path.encode() + b"\r", b"saved to")
    leave(t)
    with open(path, encoding="utf-8") as source:
        thread = json.load(source)["data"]["thread"]["data"]
    equal([m["data"]["content"] for m in thread["messages"]],
          ["hi", "begun but "])


def test_history_file():
    """chats share a history, which only the user can read"""
    state = {"XDG_STATE_HOME": tempfile.mkdtemp(dir=HOME)}
    path = os.path.join(state["XDG_STATE_HOME"], "allm", "history")
    one, two = chat(env=state), chat(env=state, answers=2)
    one.after(b"two\nlines\r", b"done.")
    two.after(UP, b"lines")
    two.after(b"\x15\x7f\x15", b"> \r\x1b[2C")
    two.after(b"from two\r", b"done.")
    leave(one)
    two.until(is_prompt)
    two.after(b" secret\r", b"done.")      # neither of these is recorded
    two.until(is_prompt)
    two.after(b"/key secret\r", b"unknown command")
    two.until(is_prompt)
    two.after(b"dropped\x03", b"^C")
    leave(two)
    equal(os.stat(path).st_mode & 0o777, 0o600)
    with open(path, encoding="utf-8") as source:
        equal(source.read(), "two\\nlines\nfrom two\n")
    t = chat(env=state)
    t.after(UP + UP, b"lines")
    t.write(b"\x15\x7f\x15")
    t.after(b"\x12fro", b"from two")
    t.write(b"\x07")
    leave(t)


def test_long_history_file():
    """a history that cannot be shortened, on a full disk, is not lost"""
    state = tempfile.mkdtemp(dir=HOME)
    path = os.path.join(state, "allm", "history")
    os.mkdir(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(f"line {i}\n" for i in range(15100))
    os.symlink("/dev/full", path + ".new")
    for lines in (15100, 10000):
        t = chat(env={"XDG_STATE_HOME": state})
        t.after(UP, b"line 15099")
        t.write(b"\x15")
        leave(t)
        assert not os.path.islink(path), "replaced by what was not written"
        with open(path, encoding="utf-8") as source:
            equal(len(source.readlines()), lines)


def test_bad_history_file():
    """a binary history, or one that cannot be read, does no harm"""
    state = tempfile.mkdtemp(dir=HOME)
    os.mkdir(os.path.join(state, "allm"))
    path = os.path.join(state, "allm", "history")
    with open(path, "wb") as out:
        out.write(bytes(range(256)) * 300 + b"\ngood\n\\")
    t = chat(env={"XDG_STATE_HOME": state})
    t.after(UP + UP, b"good")
    t.write(b"\x15")
    leave(t)
    os.unlink(path)
    os.mkdir(path)
    t = chat(env={"XDG_STATE_HOME": state})
    t.after(b"hello\r", b"done.")
    leave(t)
    for env in ({"HOME": ""}, {"XDG_STATE_HOME": "/proc/none"}):
        t = chat(env=env)
        t.after(b"hello\r", b"done.")
        leave(t)


def test_folded_paste():
    """a long paste is shown as its number of lines"""
    words = "".join(f"line {n}\n" for n in range(142))
    t = chat()
    t.after(b"\x1b[200~" + words.encode() + b"\x1b[201~", b"[142 lines]")
    t.after(b"\r", b"done.")
    leave(t)
    t = chat()
    t.after(b"\x1b[200~" + b"line\n" * 20 + b"\x1b[201~", b"line\r\r\n  \r")
    assert b"lines]" not in t.said, t.said
    t.after(b"\r", b"done.")
    leave(t)


# ---------------------------------------------------------------- commands


def prompts_after(*lines, answers=3):
    """The messages of a chat in which these lines were entered."""
    path = os.path.join(HOME, "commands.json")
    t = chat(answers=answers)
    for line, then in lines:
        t.until(lambda seen: seen.endswith(b"C"))
        t.after(b"\x15" + line + b"\r", then)
    t.until(lambda seen: seen.endswith(b"C"))
    t.after(b"\x15/save " + path.encode() + b"\r", b"saved to")
    leave(t)
    with open(path, encoding="utf-8") as source:
        thread = json.load(source)["data"]["thread"]["data"]
    return [m["data"]["content"] for m in thread["messages"]]


def test_commands():
    """the commands of a chat change the conversation"""
    equal(prompts_after((b"one", b"done."), (b"two", b"done."),
                        (b"/undo", b"> two")),
          ["one", "done."])
    equal(prompts_after((b"one", b"done."), (b"/retry", b"done.")),
          ["one", "done."])
    equal(prompts_after((b"one", b"done."), (b"/clear", b"new conversation"),
                        (b"two", b"done.")), ["two", "done."])
    name = file("note.txt", "a note\n")
    equal(prompts_after((b"/file " + name.encode(), b"next prompt"),
                        (b"read it", b"done."))[0],
          "```" + name + "\na note\n```\n\nread it")
    got = prompts_after((b"/attach " + name.encode(), b"has 1 file)"),
                        (b"read it", b"done."))
    holds(json.dumps(got[0]), "a note", "read it")


def test_attachments():
    """a file is checked when it is attached; one that is gone keeps the rest"""
    binary, gone = file("bad.bin", "\0\1\2"), file("gone.txt", "gone\n")
    note = file("note.txt", "a note\n")
    t = chat()
    t.after(b"/attach " + binary.encode() + b"\r", b"neither UTF-8 text nor")
    for name, shows in (note, b"has 1 file)"), (gone, b"has 2 files)"):
        t.until(is_prompt)
        t.after(b"/attach " + name.encode() + b"\r", shows)
    os.remove(gone)
    t.until(is_prompt)
    t.after(b"read it\r", b"gone.txt")
    t.until(lambda seen: b"> read it" in seen.split(b"gone.txt")[-1])
    t.after(b"\r", b"done.")
    path = os.path.join(HOME, "attached.json")
    t.until(is_prompt)
    t.after(b"/save " + path.encode() + b"\r", b"saved to")
    leave(t)
    with open(path, encoding="utf-8") as source:
        holds(source.read(), "a note", "read it")


def test_more_commands():
    """options, code, suggestions, completion and help"""
    t = chat(*scripts([["text", "so:\n```c\nint x;\n```\nend"],
                       ["finish", "stop"]]))
    t.after(b"/options temperature 0.5\r", b"\n")
    t.until(is_prompt)
    t.after(b"/options\r", b"temperature 0.5")
    t.after(b"/hepl\r", b"did you mean /help")
    t.after(b"/he\t", b"/help ")
    t.after(b"\r", b"!COMMAND")
    t.until(is_prompt)
    t.after(b"code\r", b"end")
    t.until(is_prompt)
    t.after(b"/extract\r", b"int x;")
    t.until(is_prompt)
    t.after(b"/retry now\r", b"\n")
    leave(t)


def texts(env, name):
    """The prompts and answers of a stored session."""
    run = allm("sessions", "show", name, env=env)
    return [line.split(": ", 1)[1] for line in run.text.splitlines()]


def test_stored_commands():
    """commands change a stored session, make another one, and find it"""
    env = fresh()
    run = allm("chat", "-S", "a", *scripts(*[ANSWER] * 6), stdin="one\ntwo\n"
               "/undo\nthree\n/retry\n/sessions\n/fork b\nfour\n"
               "/search FOUR\n/search five\n/fork b\n/load a\n",
               env=env)
    equal((run.code, run.out), (0, b"done.\n" * 5))
    equal(re.sub(r"[0-9-]{10}", "DAY", run.said).splitlines(),
          ["(the last prompt and its answer are removed)",
           "a                        DAY  one",
           "b: 4 messages so far", "(from here on this is b)",
           "b                        DAY  one",
           "(no stored session has these words)",
           'allm: there is a session "b" already; choose another name',
           "a: 4 messages so far"])
    equal(texts(env, "a"), ["one", "done.", "three", "done."])
    equal(texts(env, "b"), ["one", "done.", "three", "done.", "four", "done."])
    equal(allm("sessions", "verify", env=env).code, 0)
    allm("chat", "-S", "a", *text(), stdin="/clear\n", env=env)
    equal(texts(env, "a"), [])


def test_fork_a_file():
    """a conversation in memory or in a file is copied by /fork"""
    env, path = fresh(), os.path.join(HOME, "fork.json")
    run = allm("chat", *scripts(*[ANSWER] * 3), stdin=f"one\n/fork {path}\n"
               f"two\n/fork kept\nthree\n", env=env)
    equal((run.code, run.out), (0, b"done.\n" * 3))
    with open(path, encoding="utf-8") as source:
        thread = json.load(source)["data"]["thread"]["data"]
    equal([m["data"]["content"] for m in thread["messages"]],
          ["one", "done.", "two", "done."])
    equal(texts(env, "kept"), ["one", "done.", "two", "done.", "three",
                               "done."])
    run = allm("chat", *text(), stdin=f"one\n/fork {path}\n", env=env)
    holds(run.said, "exists; choose another name")


def test_save_over_a_file():
    """/save replaces a saved conversation, and no other file"""
    path = file("saved.json", "precious\n")
    run = allm("chat", *text(), stdin=f"one\n/save {path}\n")
    holds(run.said, "choose another name")
    with open(path, encoding="utf-8") as source:
        equal(source.read(), "precious\n")
    os.unlink(path)
    for _ in range(2):
        run = allm("chat", *text(), stdin=f"one\n/save {path}\n")
        holds(run.said, "saved to")


def test_budget():
    """/budget limits the cost of the rest of a chat"""
    run = allm("chat", *text(), stdin="/budget\n/budget inf\n/budget 0.5\n"
               "/budget\n/budget none\n")
    equal(run.said.splitlines(),
          ["(no limit is set)", "allm: /budget needs an amount in US dollars, "
           "or none: /budget 0.50",
           "(the chat stops before it costs $0.500000 more)",
           "$0.000000 of $0.500000 are used", "(no limit is set)"])


def test_copy():
    """/copy asks the terminal to copy the last answer"""
    t = chat(*scripts([["text", "a*b*"], ["finish", "stop"]]))
    t.after(b"/copy\r", b"there is no answer yet")
    t.until(is_prompt)
    t.after(b"go\r", b"C")
    t.until(is_prompt)
    t.after(b"/copy\r", b"(4 bytes were sent")
    holds(t.said.decode(), "\x1b]52;c;YSpiKg==\x07")
    leave(t)
    holds(allm("chat", *text(), stdin="go\n/copy\n").said, "needs a terminal")


def test_copy_code():
    """-x --copy copies the code"""
    t = Terminal(*text("```\nls\n```\n"), "-x", "--copy", "hi",
                 env={"TERM": "xterm"})
    holds(t.until(None), b"bHMK", b"(3 bytes were sent")


def test_copy_flag():
    """--copy sends the answer to the clipboard, on a terminal only"""
    for words in ([], ["--no-stream"]):
        t = Terminal("ask", *text("**x**"), *words, "--copy", "go", env=XTERM)
        t.until(b"\x1b]52;c;" + base64.b64encode(b"**x**"))
        equal(t.end(), 0)
    run = allm(*text("x"), "--copy", "go")
    equal((run.code, run.text), (0, "x\n"))
    holds(run.said, "not copied")


def test_completion():
    """Tab completes commands, models, sessions, and files behind @"""
    env = fresh()
    allm("-S", "journey", *text(), "hi", env=env)
    file("a file.txt", "x")
    os.makedirs(os.path.join(HOME, "a folder"), exist_ok=True)
    t = chat(*scripts(ANSWER), env=env)
    for keys, shows in ((b"/ses\t", b"> /sessions "),
                        (b"/model anthropic:claude-o\t", b"> /model anthropic"),
                        (b"/load jou\t", b"> /load journey "),
                        (b"/attach a\\ \x7f\x7ffi\t", b"> /attach a"),
                        (b"read @run.s\t", b"> read @run.sh "),
                        (b"/fork jo\t", b"> /fork journey ")):
        file("run.sh", "")
        t.after(keys, shows)
        t.until(lambda seen: seen.endswith(b"C"))
        t.write(b"\x15")
    leave(t)


def test_completed_words():
    """what Tab completes can be sent; it completes aliases, too"""
    env = fresh()
    allm("-S", "journey", *text(), "hi", env=env)
    file("unique.txt", "x")
    config = file("names.json", '{"aliases": {"quick": "fake:other"}}')
    t = chat(*scripts(ANSWER), "--config", config, env=env)
    for keys, shows in ((b"/attach uniq\t\r", b"the next prompt has 1 file)"),
                        (b"/file uniq\t\r", b"unique.txt comes before"),
                        (b"/model qui\t\r", b"fake:other> "),
                        (b"/load jour\t\r", b"journey: 2 messages"),
                        (b"/budget 0.5 \r", b"before it costs $0.500000")):
        t.until(lambda seen: seen.endswith(b"C"))
        t.after(keys, shows)
    t.until(lambda seen: seen.endswith(b"C"))
    t.write(b"\x04")
    equal(t.end(), 0)


def test_names_of_files():
    """the name of a file cannot control the terminal"""
    folder = tempfile.mkdtemp(dir=HOME)
    for name in ("xa\x1b[31mred", "xb\nq", "xc"):
        with open(os.path.join(folder, name), "w", encoding="utf-8"):
            pass
    t = chat(cwd=folder)
    t.after(b"/attach x\t\t", b"/attach x\r\x1b[")
    t.until(lambda said: said.count(b"/attach x\r") > 1)
    holds(t.said.decode(), "xc")
    assert b"[31m" not in t.said.replace(b"\\u001b[31m", b""), t.said
    t.write(b"\x15")
    leave(t)


def test_prompt():
    """the prompt shows a new model, cut to the terminal, and harmless"""
    t = chat(columns=20)
    t.after(b"/model fake:averyverylongmodelname\r", b"ylongmodelname> \r")
    t.after(b"/model fake:\xc2\x9b1m\r", b"\\u009b1m> \r")
    t.write(b"\x04")
    equal(t.end(), 0)


def test_shell_command():
    """a shell command runs, and its output can be included"""
    t = chat()
    t.after(b"!echo some output; exit 3\r", b"[n]o\r\n> ")
    holds(t.said.decode(), "some output", "(exit code 3)")
    t.after(b"y", b"before the next prompt")
    path = os.path.join(HOME, "shell.json")
    t.until(is_prompt)
    t.after(b"what is it\r", b"done.")
    t.until(is_prompt)
    t.after(b"/save " + path.encode() + b"\r", b"saved to")
    leave(t)
    with open(path, encoding="utf-8") as source:
        holds(source.read(), "some output", "what is it")
    t = chat()                                  # the chat goes on
    for key in b"\x1c", b"\x03":                 # they end the program only
        t.after(b"!echo ready; exec sleep 60\r", b"ready\r\n")
        t.after(key, b"[n]o\r\n> ")
        t.write(b"n")
        t.until(is_prompt)
    leave(t)
    t = Terminal("chat", *text())               # in a dumb terminal, too
    t.until(b"> ")
    t.after(b"!echo output\n", b"[n]o\r\n> ")
    t.after(b"y\n", b"before the next prompt")
    t.after(b"/edit\n", b"/edit needs a terminal")
    t.write(b"\x04")
    equal(t.end(), 0)


def test_external_editor():
    """Ctrl-X Ctrl-E and /edit open the user's editor"""
    script = file("editor.sh", "echo changed >>\"$1\"\n")
    env = {"VISUAL": "sh " + script}
    t = chat(env=env)
    t.after(b"first \x18\x05", b"changed")
    t.after(b"\r", b"done.")
    t.until(is_prompt)
    t.after(b"/edit\r", b"> changed")
    t.write(b"\x15")
    leave(t)
    t = chat(env={"VISUAL": "/nonexistent"})
    t.after(b"keep\x18\x05", b"set VISUAL or EDITOR")
    t.until(lambda screen: b"> keep" in
            screen.split(b"set VISUAL")[-1].split(b"?2004h")[-1])
    t.write(b"\x15")
    leave(t)


# ------------------------------------------------------------ bad terminals


def sized(rows, columns, *words, env=None):
    """A chat in a terminal of this size; one prompt, then the end."""
    t = Terminal("chat", *scripts([["text", PAGE], ["finish", "stop"]]),
                 *words, env={**XTERM, **(env or {})}, columns=columns,
                 rows=rows)
    t.until(lambda seen: is_prompt(seen) or seen.endswith(b"\x1b[J\r"))
    t.write("日本 go\r".encode())
    t.until(b"ode")
    t.until(lambda seen: is_prompt(seen) or seen.endswith(b"\x1b[J\r"))
    t.write(b"\x04")
    equal(t.end(), 0)
    return t.said


def test_small_terminals():
    """a chat works in a terminal of 1 x 1, of 20 columns, or without a size"""
    for rows, columns in ((1, 1), (2, 2), (5, 20), (0, 0)):
        sized(rows, columns)


def test_unknown_terminals():
    """TERM unset, unknown or dumb: a chat works; dumb ones get no escapes"""
    sized(24, 80, env={"TERM": "no-such-terminal"})
    for term in ("", "dumb"):
        t = Terminal("chat", *scripts([["text", PAGE], ["finish", "stop"]]),
                     env={"TERM": term})
        t.until(b"> ")
        t.write(b"go\n")
        t.until(b"code\r\n")
        t.until(b"\r\n> ")
        t.write(b"\x04")
        equal(t.end(), 0)
        assert b"\x1b" not in t.said, t.said


def test_open_markdown():
    """Markdown that never closes what it opens is shown, and the next line
    begins without a style"""
    for words in ("**never", "`code", "[link](http://x", "```\ncode\n",
                  "> > > quote", "| a | b |\n|---|---|\n| c", "<div>\n*x",
                  "~~~\n\x1b[31m", "- **a\n- `b", "\x1b]8;;http://x\x1b\\y",
                  "# \x9b31m", "[a](http://x\x1b[31m)", "|\x1b[1m|\n|-|\n"):
        t = Terminal("ask", *text(words), "go", env=XTERM)
        t.end()
        out = t.said.decode()
        assert out.endswith("\r\n"), out
        assert "\x1b" not in out or "\x1b[0m" in out[out.rfind("\x1b"):], out
        for sequence in re.findall("\x1b.{0,8}", out):
            assert re.match("\x1b\\[[0-9;]*m", sequence), (words, out)
        assert "\x9b" not in out


# ---------------------------------------------------------------- Markdown

PAGE = "# Title\n\nSome **bold** text\n\n- item\n\n```\ncode\n```\n"


def shown(*words, env=None, columns=80):
    """What `allm ask` writes to a terminal."""
    t = Terminal("ask", *words, *text(PAGE), "go",
                 env={**XTERM, **(env or {})}, columns=columns)
    t.end()
    return t.said.decode().replace("\r\n", "\n")


def test_markdown():
    """an answer is shown as Markdown, with the styles that are wanted"""
    plain = "# Title\n\nSome **bold** text\n\n- item\n\n```\ncode\n```\n"
    styled = shown()
    holds(styled, "\x1b[0;1;4mTitle\x1b[0m", "\x1b[0;1mbold\x1b[0m",
          "\u2022 item", "\x1b[0;36mcode\x1b[0m")
    for env, flags in (({"NO_COLOR": "1"}, []), ({"TERM": "dumb"}, []),
                       ({}, ["--color", "off"]), ({"TERM": ""}, []),
                       ({"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, [])):
        equal(shown(*flags, env=env), plain)
    equal(shown("--markdown", "off"), PAGE)
    equal(shown("--raw"), PAGE)
    holds(shown("--color", "on", env={"TERM": "dumb"}), "\x1b[0;1mbold")
    holds(shown("--color", "off", "--width", "10"), "Some\n**bold**\ntext\n")
    for columns in (1, 2, 20):
        assert shown(columns=columns).count("\n") > 5


def test_markdown_in_a_pipe():
    """without a terminal the bytes of the answer are printed"""
    equal(allm(*text(PAGE), "go").text, PAGE)
    equal(allm(*text(PAGE), "--markdown", "on", "go").text, PAGE)
    holds(allm(*text(PAGE), "--markdown", "on", "--color", "on", "go").text,
          "\x1b[0;1mbold")
    holds(allm(*text(PAGE), "--markdown", "on", "go",
               env={"CLICOLOR_FORCE": "1"}).text, "\x1b[0;1mbold")


def test_spinner():
    """a spinner turns until something arrives, and is erased"""
    t = Terminal("ask", *fake(["delay", 900], ["text", "done."],
                              ["finish", "stop"]), "go", env=XTERM)
    t.end()
    holds(t.said.decode(), "\r|\r/", "\r \rdone.")
    for env in ({"TERM": "dumb"}, {"NO_COLOR": "1"}):
        t = Terminal("ask", *fake(["delay", 600], ["text", "done."],
                                  ["finish", "stop"]), "go",
                     env={**XTERM, **env})
        t.end()
        equal(t.said, b"done.\r\n")


def test_reasoning():
    """reasoning is dim, on stderr, and only if that is a terminal"""
    words = fake(["reasoning", "let me\rthink"], ["text", "done."],
                 ["finish", "stop"])
    t = Terminal("ask", *words, "go", env=XTERM)
    t.end()
    holds(t.said.decode(), "\x1b[0;2mlet me\\u000dthink\x1b[0m\r\n", "done.")
    t = Terminal("ask", "-R", *words, "go", env=XTERM)
    t.end()
    equal(t.said, b"done.\r\n")
    run = allm(*words, "go")
    equal((run.text, run.said), ("done.\n", ""))


def test_terminal_is_restored():
    """the terminal is restored at the end, also after a signal"""
    usual = termios.ECHO | termios.ICANON | termios.ISIG
    for end in (b"\x04", signal.SIGTERM, signal.SIGHUP):
        t = Terminal("chat", *text(), env=XTERM)
        t.until(b"\x1b[2C")
        assert not termios.tcgetattr(t.ours)[3] & termios.ECHO
        if isinstance(end, bytes):
            t.write(end)
            t.until(b"\x1b[?2004l")
        else:
            t.child.send_signal(end)
        t.child.wait(timeout=20)
        now = termios.tcgetattr(t.ours)
        equal(now[3] & usual, usual)
        t.end()


def test_signals():
    """SIGTERM ends a chat, also while an answer arrives; so does Ctrl-C if the
    lines come from a pipe"""
    endless = scripts([["text", "begun\n\n"], ["delay", 60000],
                       ["finish", "stop"]], ANSWER)
    path = os.path.join(HOME, "ended.json")
    for number in signal.SIGTERM, signal.SIGHUP:
        t = chat("-S", path, *endless)
        t.after(b"hi\r", b"begun")
        t.child.send_signal(number)
        equal(t.child.wait(timeout=20), 128 + number)
        assert termios.tcgetattr(t.ours)[3] & termios.ECHO
        with open(path, encoding="utf-8") as source:
            holds(source.read(), "begun")   # what has arrived is kept
        os.unlink(path)
    for number in signal.SIGTERM, signal.SIGINT:
        with subprocess.Popen([ALLM, "chat", *endless], env=CLEAN,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as piped:
            piped.stdin.write(b"hi\nho\n")
            piped.stdin.flush()
            equal(piped.stdout.readline(), b"begun\n")
            piped.send_signal(number)
            out = piped.communicate(timeout=20)[0]
        equal((piped.returncode, out.strip()), (128 + number, b""))


def test_second_signal():
    """a second signal during an answer ends a chat, in a restored terminal"""
    t = chat(*scripts([["text", "begun "], ["delay", 60000]], ANSWER))
    t.after(b"hi\r", b"begun")
    t.child.send_signal(signal.SIGSTOP)     # so that both come at once
    os.waitid(os.P_PID, t.child.pid, os.WSTOPPED)
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGCONT:
        t.child.send_signal(number)
    assert t.child.wait(timeout=20) in (128 + signal.SIGTERM,
                                        128 + signal.SIGHUP)
    assert termios.tcgetattr(t.ours)[3] & termios.ECHO


def test_raw_words():
    """text from a model, a server or a file is escaped"""
    t = chat("--ask", *scripts(
        [["text", "a\x1b]0;b\x07"], ["finish", "stop"]],
        [["text", "b\u202ec\u2066\u2028d\u200f\u061c\x9b€"],
         ["finish", "stop"]],
        [["tool_call", {"id": "a", "name": "ask_user",
                        "arguments": {"question": "\x1b[31mred?"}}],
         ["finish", "tool_calls"]],
        [["error", "unknown", {"message": "\x1b[2Jgone"}]]))
    t.after(b"one\r", b"a\\u001b]0;b\\u0007")
    t.after(b"one more\r", b"b\\u202ec\\u2066\\u2028d\\u200f\\u061c\\u009b"
            b"\xe2\x82\xac")
    t.after(b"two\r", b"\\u001b[31mred?")
    t.after(b"three\r", b"\\u001b[2Jgone")
    t.after(b"/nope\x1b[24~\r", b"unknown command /nope")
    leave(t)


def test_raw_history():
    """so is text that a saved session brings into the line"""
    path = os.path.join(HOME, "raw.json")
    allm("-S", path, *text("One."), stdin="a\x1b[2Jb\x9b31mc\nd\u202ee\u2028")
    t = chat("-S", path, *scripts(ANSWER))
    t.after(UP, b"  d e \r\x1b[6C")
    holds(t.said.decode(), "> a [2Jb 31mc\r")
    t.write(b"\x15\x7f\x15")
    leave(t)


# --------------------------------------------------------------- questions


def test_question():
    """the next line answers a question of the model"""
    t = chat("--ask", *scripts(
        [["tool_call", {"id": "a", "name": "ask_user",
                        "arguments": {"question": "Which colour?"}}],
         ["finish", "tool_calls"]],
        [["text", "Blue it is."], ["finish", "stop"]]))
    t.after(b"paint it\r", b"Which colour?")
    t.after(b"blue\r", b"Blue it is.")
    leave(t)


def test_session():
    """a chat with -S continues in another run, with its question"""
    path = os.path.join(HOME, "chat.json")
    asking = fake(["tool_call", {"id": "a", "name": "ask_user",
                                 "arguments": {"question": "Which colour?"}}],
                  ["finish", "tool_calls"])
    t = chat("-S", path, "--ask", *asking)
    t.after(b"paint it\r", b"Which colour?")
    leave(t)
    t = chat("-S", path, "--ask", *text("Blue it is."))
    holds(t.said.decode(), "Which colour?")
    t.after(b"blue\r", b"Blue it is.")
    t.after(b"/exit\r", b"\x1b[?2004l")
    equal(t.end(), 0)


def choosing(*choices, then="So be it."):
    """A model that asks a question with choices, then repeats the answer."""
    return scripts(
        [["tool_call", {"id": "a", "name": "ask_user",
                        "arguments": {"question": "Which colour?",
                                      "choices": list(choices)}}],
         ["finish", "tool_calls"]],
        [["text", then], ["finish", "stop"]])


def answered(t):
    """What the model got as the answer to its question."""
    path = os.path.join(HOME, "answered.json")
    t.until(is_prompt)
    t.after(b"/save " + path.encode() + b"\r", b"saved to")
    leave(t)
    with open(path, encoding="utf-8") as source:
        thread = json.load(source)["data"]["thread"]["data"]
    return [m["data"]["content"] for m in thread["messages"]
            if m["data"]["role"] == "user"][1:]


def test_choices():
    """choices are picked by number; no key pressed before counts"""
    t = chat("--ask", *choosing("red", "green\x1b[2J"))
    t.after(b"paint it\r22", b"> ")
    t.until(b"  3  another answer\r\n> ")
    holds(t.said.decode(), "? Which colour?\r\n  1  red\r\n"
          "  2  green\\u001b[2J\r\n")
    t.write(b"x\x1b[A9\x1b[200~1\r\x1b[201~")      # none of these is a choice
    t.after(b"2", b"So be it.")
    equal(answered(t), ["green\x1b[2J"])
    many = [f"colour {n}" for n in range(12)]
    t = chat("--ask", *choosing(*many))
    t.after(b"paint it\r", b"another answer")
    t.until(is_prompt)
    t.after(b"14\r", b"C")
    t.after(b"12\r", b"So be it.")
    equal(answered(t), ["colour 11"])
    t = chat("--ask", *choosing("red"))
    t.after(b"paint it\r", b"another answer\r\n> ")
    t.write(b"\x03")
    t.until(is_prompt)
    t.after(b"blue\r", b"So be it.")
    equal(answered(t), ["blue"])


def test_choices_without_editing():
    """in a dumb terminal a choice is a line"""
    t = Terminal("chat", "--ask", *choosing("red", "blue"))
    t.until(b"> ")
    t.after(b"paint it\n", b"another answer\r\n> ")
    t.after(b"7\n", b"> ")
    t.after(b"2\n", b"So be it.")
    t.write(b"\x04")
    equal(t.end(), 0)
    assert b"\x1b" not in t.said


def asked_for(schema):
    """A chat whose question wants a value that fits the schema."""
    path = os.path.join(HOME, "schema.json")
    if os.path.exists(path):
        os.unlink(path)
    allm("-S", path, "--ask", *choosing("red"), "paint it")
    with open(path, encoding="utf-8") as source:
        document = json.load(source)
    holds(json.dumps(document), '"ask_user_opts": {"choices": ["red"]}')
    document = json.loads(json.dumps(document).replace(
        '{"choices": ["red"]}', json.dumps({"schema": schema})))
    with open(path, "w", encoding="utf-8") as out:
        json.dump(document, out)
    t = Terminal("chat", "-S", path, "--ask", *text("So be it."), env=XTERM)
    t.until(b"? Which colour?")
    return t


def test_values():
    """an answer must fit the schema of its question"""
    t = asked_for({"type": "integer", "minimum": 3})
    for words, then in ((b"x\r", b"(this is not JSON)"), (b"2\r", b"  ("),
                        (b"4\r", b"So be it.")):
        t.until(is_prompt)
        t.after(words, then)
    equal(answered(t), ["4"])
    t = asked_for({"type": "string", "enum": ["r", "g"],
                   "enumNames": ["Red", "Green"]})
    t.until(b"  1  Red\r\n  2  Green\r\n> ")
    t.after(b"2", b"So be it.")
    equal(answered(t), ["g"])
    t = asked_for({"type": "boolean"})
    t.until(b"  [y]es, [n]o\r\n> ")
    t.after(b"n", b"So be it.")
    equal(answered(t), ["false"])
    t = asked_for({"type": "string", "default": "blue"})
    t.until(is_prompt)
    t.after(b"\r", b"So be it.")
    equal(answered(t), ["blue"])


# ----------------------------------------------- a turn that was broken off


def broken_chat(env, *words):
    return Terminal("chat", "-S", "chat", *(words or text("So be it.")),
                    env={**XTERM, **env})


def test_broken_before_an_answer():
    """a turn without an answer is dropped when a chat opens the session"""
    env = fresh()
    end(start("-S", "chat", *SLOW, "lost", env=env), signal.SIGKILL)
    t = broken_chat(env)
    t.until(b"broke off before an answer arrived")
    t.until(is_prompt)
    t.after(b"hi\r", b"So be it.")
    leave(t)
    equal(allm("sessions", "show", "chat", env=env).text,
          "user: hi\nassistant: So be it.\n")


def test_broken_call():
    """a chat asks what happened to a call, and continues"""
    rows = [(b"h", b"noted by hand\r", "tool a: noted by hand"),
            (b"n", b"", "tool a: This call did not")]
    for key, more, kept in rows:
        env = killed_agent()
        t = broken_chat(env)
        t.until(b"[d]rop everything\r\n> ")
        holds(t.said.decode(), "? chat was broken off while a call ran",
              "  | note {")
        t.write(key)
        if more:
            t.until(b"what was its result?")
            t.until(is_prompt)
            t.write(more)
        t.until(b"So be it.")
        leave(t)
        holds(allm("sessions", "show", "chat", env=env).text, kept)
        equal(allm("sessions", "list", "--json",
                   env=env).json["sessions"][0]["broken_off"], False)


def test_broken_call_dropped():
    """the user may drop the turn, or leave it as it is: exit code 10"""
    env = killed_agent()
    t = broken_chat(env)
    t.until(b"[d]rop everything\r\n> ")
    t.write(b"\x03")
    equal(t.end(), 10)
    holds(t.said.decode(), "allm sessions settle chat a")
    t = chat("-m", "fake:m", env=env)
    t.after(b"/load chat\r", b"[d]rop everything\r\n> ")
    t.after(b"d", b"(dropped")
    leave(t)
    equal(allm("sessions", "list", "--json",
               env=env).json["sessions"][0]["broken_off"], False)
    run = allm("chat", "-S", "chat", *text("Again."), stdin="hi\n", env=env)
    equal((run.code, run.out), (0, b"Again.\n"))


def test_broken_calls():
    """each unknown call is asked about, then the turn continues"""
    env = killed_agent("c5+")
    t = broken_chat(env)
    for call, key in ((b'"2"', b"n"), (b'"3"', b"N"), (b'"4"', b"n")):
        t.until(b"everything\r\n> ")
        assert call in t.said, (call, t.said)
        t.said = b""
        t.write(key)
    t.until(b"So be it.")
    leave(t)
    env = killed_agent()
    t = broken_chat(env)
    t.until(b"everything\r\n> ")
    t.after(b"r", b'the tool "note", which this program does not have')
    leave(t)


def test_broken_between_steps():
    """if no call is unknown, the chat asks whether to continue"""
    env = killed_agent("c3+")
    t = broken_chat(env)
    t.until(b"? chat was broken off after the model had answered\r\n"
            b"  [c]ontinue, [d]rop it\r\n> ")
    t.after(b"c", b"So be it.")
    leave(t)
    shown_now = allm("sessions", "show", "chat", env=env).text
    holds(shown_now, "calls note", "assistant: So be it.")
    t = broken_chat(killed_agent("c3+"))
    t.until(b"[d]rop it\r\n> ")
    t.after(b"d", b"(dropped")
    t.until(is_prompt)
    t.after(b"hi\r", b"So be it.")
    leave(t)


def test_broken_without_a_terminal():
    """without a terminal nobody can be asked: exit code 10"""
    env = killed_agent()
    run = allm("chat", "-S", "chat", *text(), stdin="hi\n", env=env)
    equal((run.code, run.out), (10, b""))
    holds(run.said, "allm sessions settle chat a")


# -------------------------------------------------------------------- tmux


class Tmux:
    """The program in a real terminal, whose screen can be read."""

    def __init__(self, *args):
        self.socket = tempfile.mktemp(dir=HOME)     # no two servers share it
        line = " ".join("'" + word.replace("'", "'\\''") + "'"
                        for word in [ALLM, *args])
        script = file("run.sh", f"cd '{HOME}'\ntrap : INT\n{line}\n"
                      "echo \"ended $?.\"\n"
                      "exec sleep 1000\n")
        self.run("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y",
                 "40", "sh", script)

    def run(self, *words):
        env = {**CLEAN, "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["tmux", "-u", "-S", self.socket, *words],
                              env=env, capture_output=True, text=True,
                              check=False)
        assert not done.returncode, (words, done.stderr)
        return done.stdout

    def until(self, pattern, seconds=20):
        limit = time.monotonic() + seconds
        while True:
            screen = self.run("capture-pane", "-p", "-J")
            if re.search(pattern, screen, re.M):
                return screen
            assert time.monotonic() < limit, (pattern, screen)
            time.sleep(0.05)

    def keys(self, *names):
        self.run("send-keys", *names)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"],
                       capture_output=True, check=False)


def test_tmux_chat():
    """in tmux the screen is correct"""
    need("tmux")
    with Tmux("chat", *scripts(ANSWER, [
            ["text", "begun but "], ["delay", 60000],
            ["finish", "stop"]])) as t:
        t.until("^> *$")
        t.keys("helo", "Left", "l", "End", " wörld 日本x", "BSpace", "!")
        t.until("^> hello wörld 日本!$")
        t.keys("Enter")
        t.until("^done.$")
        t.keys("Up")
        t.until("^> hello wörld 日本!$\n^done.$\n^> hello wörld 日本!$")
        t.keys("C-u", "again", "Enter")
        t.until("^begun but$")
        t.keys("C-c")
        t.until("cancelled")
        t.keys("/usage", "Enter")
        t.until("^usage:")
        t.keys("C-d")
        t.until("^ended 0\\.$")


def test_tmux_broken():
    """in tmux a chat asks about the turn of a process that was killed"""
    need("tmux")
    env = killed_agent()
    with Tmux("chat", "--store", env["ALLM_STORE"], "-S", "chat",
              *text("So be it.")) as t:
        screen = t.until("^> *$")
        holds(screen, "? chat was broken off while a call ran; what happened?",
              "  | note {", "  it [h]appened, it did [n]ot, [r]un it again, "
              "[d]rop everything")
        t.keys("Up", "x", "h")
        t.until("what was its result")
        t.keys("noted", "Enter")
        t.until("^So be it.$")
        t.keys("thanks", "Enter")
        t.until("^> thanks$")
        t.keys("C-d")
        t.until("^ended 0\\.$")


def test_tmux_resize():
    """in tmux the line and the answer follow the size of the window"""
    need("tmux")
    words = "one two three four five six seven eight nine ten"
    with Tmux("chat", *scripts([["text", words[:20]], ["delay", 1500],
                                ["text", words[20:] + " " + words],
                                ["finish", "stop"]])) as t:
        t.until("^> *$")
        t.keys(words)
        t.until("^> " + words + "$")
        t.run("resize-window", "-x", "20", "-y", "10")
        screen = t.until("^  .*ten$")
        holds(screen, "> one two three fou\n")
        t.keys("Enter")
        t.until("^one two three four$")
        t.run("resize-window", "-x", "12", "-y", "30")
        screen = t.until("^seven eight$\n^nine ten one$")
        holds(screen, "eight nine\nten\n")
        t.keys("C-d")
        t.until("^ended 0\\.$")


def test_tmux_resize_answer():
    """in tmux an answer to one question follows the size of the window"""
    need("tmux")
    with Tmux(*scripts([["text", "one two three "], ["delay", 1500],
                        ["text", "four five six seven eight nine ten"],
                        ["finish", "stop"]]), "hi") as t:
        t.until("^one two three")
        t.run("resize-window", "-x", "20", "-y", "10")
        screen = t.until("^ended 0\\.$")
        holds(screen, "one two three four\nfive six seven eight\nnine ten\n")


def test_tmux_stop():
    """in tmux Ctrl-Z stops the chat, fg brings the line back"""
    need("tmux", "bash")
    with Tmux("version") as t:
        t.until("^ended 0\\.$")
        t.run("respawn-pane", "-k", "env", "PS1=shell:", "bash",
              "--norc", "-i")
        t.until("shell:$|\\$ $|# $")
        words = " ".join("'" + w + "'" for w in [ALLM, "chat", *fake(
            ["text", "begun\n\n"], ["delay", 2000], ["text", "done."],
            ["finish", "stop"])])
        t.keys(words, "Enter")
        t.until("^> *$")
        t.keys("half a ine", "Left", "Left", "Left")
        t.until("^> half a ine$")
        t.keys("C-z")
        t.until("(?s)(Stopped|suspended).*(shell:|\\$ |# )$")
        t.keys("fg", "Enter")
        t.until("(?s)fg.*> half a ine$")
        t.keys("l")
        t.until("^> half a line$")
        t.keys("Enter")
        t.until("^begun$")
        t.keys("C-z")
        t.until("(?s)^begun$.*(Stopped|suspended).*(shell:|\\$ |# )$")
        t.keys("fg", "Enter")
        t.until("(?s)^begun$.*fg$.*done\\.$")
        t.keys("C-d")
        t.until("(shell:|\\$|#) ?$")
        t.keys("clear; " + words + " | cat", "Enter")
        t.until("^> *$")
        t.keys("C-z")           # the whole job, not only the chat
        t.until("Stopped|suspended")


def test_tmux_demo():
    """in tmux the demo asks, continues, and ends within ten seconds"""
    need("tmux")
    began = time.monotonic()
    with Tmux("demo") as t:
        t.until("loaded again: 7 messages.\n> *$")
        t.keys("green", "Enter")
        screen = t.until("^ended 0\\.$")
        took = time.monotonic() - began
    holds(screen, "clock returned", "folder returned",
          "loaded again: 7 messages", "> green", "I remember: green",
          "With a real model:")
    assert 1 < took < 11, took


if __name__ == "__main__":
    main(globals())
