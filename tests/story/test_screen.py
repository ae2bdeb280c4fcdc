#!/usr/bin/env python3
"""test_screen - what a terminal shows, with its styles; and without any

The screens of tmux are compared as text in which {bold:...} marks a style.
With NO_COLOR or TERM=dumb no command writes an escape byte.  (The line editor
of a chat moves the cursor, so with NO_COLOR it still needs some.)
"""
import re

from program import Terminal, allm, equal, fake, file, main, need, text
from test_terminal import Tmux

NAMES = {"1": "bold", "2": "dim", "3": "italic", "4": "underline",
         "9": "strike", "36": "cyan"}
PAGE = """# Title
Some **bold**, *italic*, ~~old~~ and `code` text.

1. one
   - inner
   - [x] done

> quoted

| a | b |
|---|--:|
| x | 1 |

```c
int x;
```

[link](http://x.y) ![alt](z) <b>html</b>
"""
SCREEN = """{bold underline:Title}
Some {bold:bold}, {italic:italic}, {strike:old} and {cyan:code} text.

1. one
   • inner
   • [x] done

{dim:│ }quoted

{bold:a} │ {bold:b}
──┼──
x │ 1

{dim:c}
{cyan:int x;}

{underline:link} (http://x.y) [image: alt] <b>html</b>
ended 0.
"""


def marked(screen):
    """The text of a screen, with names instead of sequences."""
    out, on = "", []
    for part in re.split("(\x1b\\[[0-9;]*m)", screen):
        if not part.startswith("\x1b"):
            lines = part.split("\n")
            shown = [f"{{{' '.join(on)}:{line}}}" if on and line else line
                     for line in lines]
            out += "\n".join(shown)
            continue
        for code in part[2:-1].split(";"):
            if code in ("", "0"):
                on = []
            elif code in ("39", "49"):
                on = [name for name in on if code == "49" or name != "cyan"]
            elif code in NAMES and NAMES[code] not in on:
                on.append(NAMES[code])
            else:
                assert code in NAMES, (code, screen)
    return out.replace("\x0f", "").replace("\x0e", "")


def test_styles():
    """an answer in tmux, with its styles"""
    need("tmux")
    with Tmux("ask", *text(PAGE), "--color", "on", "go") as t:
        t.until("^ended 0\\.$")
        equal(marked(t.run("capture-pane", "-p", "-e")).rstrip("\n"),
              SCREEN.rstrip("\n"))


def test_reasoning():
    """reasoning is dim, and the answer is not"""
    need("tmux")
    with Tmux("ask", *fake(["reasoning", "thinking so"], ["text", "answer"],
                           ["finish", "stop"]), "go") as t:
        t.until("^ended 0\\.$")
        equal(marked(t.run("capture-pane", "-p", "-e")).rstrip("\n"),
              "{dim:thinking so}\nanswer\nended 0.")


def test_links():
    """a link is one for the terminal, if that is known to open links"""
    page = text("[*text*](http://x.y/ä) <javascript:z>")
    linked = (b"\x1b]8;;http://x.y/%C3%A4\x1b\\text\x1b]8;;\x1b\\ "
              b"javascript:z\r\n")
    shown = "text (http://x.y/ä) javascript:z\r\n".encode()
    plain = "*text* (http://x.y/ä) javascript:z\r\n".encode()
    rows = [({"TERM": "xterm-kitty"}, linked),
            ({"TERM": "xterm", "VTE_VERSION": "6800"}, linked),
            ({"TERM": "xterm", "VTE_VERSION": "4900"}, shown),
            ({"TERM": "xterm", "TERM_PROGRAM": "iTerm.app"}, linked),
            ({"TERM": "xterm", "TERM_PROGRAM": "app"}, shown),
            ({"TERM": "xterm"}, shown),
            ({"TERM": "xterm-kitty", "TMUX": "/tmp/x,1,0"}, shown),
            ({"TERM": "xterm-kitty", "ALLM_OUTPUT_LINKS": "off"}, shown),
            ({"TERM": "xterm", "ALLM_OUTPUT_LINKS": "on"}, linked),
            ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, plain),
            ({"TERM": "dumb", "ALLM_OUTPUT_LINKS": "on"}, plain)]
    for env, want in rows:
        t = Terminal("ask", *page, "go", env=env)
        equal((env, t.end()), (env, 0))
        equal((env, re.sub(rb"\x1b\[[0-9;]*m", b"", t.said)), (env, want))
    piped = ["ask", *page, "--markdown", "on", "--color", "on", "go"]
    kitty = {"TERM": "xterm-kitty"}
    assert b"]8;;" not in allm(*piped, env=kitty).out
    assert b"]8;;" in allm(*piped, env={"ALLM_OUTPUT_LINKS": "on"}).out


def test_links_in_tmux():
    """a terminal that reads the sequences shows the text alone"""
    need("tmux")
    config = file("links.json", '{"output": {"links": "on"}}')
    with Tmux("ask", *text("[one](http://x.y) two"), "--color", "on",
              "--config", config, "go") as t:
        t.until("^ended 0\\.$")
        equal(t.run("capture-pane", "-p").rstrip("\n"), "one two\nended 0.")


def commands():
    row = file("screen.jsonl", '{"prompt": "hi"}\n')
    slow = fake(["reasoning", "thinking"], ["delay", 700], ["text", PAGE],
                ["finish", "stop"])
    yield ["ask", *slow, "-u", "-v", "go"]
    yield ["ask", *text("x\x1b[31m"), "go"]
    yield ["ask", "--no-such-flag"]
    yield ["batch", *text(), row]
    yield ["demo"]
    for shown in allm("_rows").json["commands"]:
        if shown["shown"]:
            yield [shown["name"], "--help", "--all"]
    for word in ("doctor", "models", "keys", "sessions", "templates",
                 "aliases", "version", "help"):
        yield [word]
    yield ["config", "show", "--origin"]
    yield ["config", "path"]


def test_no_escapes():
    """with NO_COLOR or TERM=dumb there is no escape byte, in any command"""
    for words in commands():
        for env in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
            t = Terminal(*words, env=env)
            t.end()
            assert b"\x1b" not in t.said, (words, env, t.said)


if __name__ == "__main__":
    main(globals())
