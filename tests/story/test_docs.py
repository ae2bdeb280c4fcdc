#!/usr/bin/env python3
"""test_docs - every example in docs/ is compiled and run

A block of C is a part of a program in examples/, which the tests run, or PAGES
has the code around it that makes it a program, which is compiled and run.  The
blocks of each page are counted, so a new block needs a new entry in PAGES.  No
key is set, so a program that names a real provider ends before the network.
"""
import glob
import json
import os
import re
import shlex
import subprocess
import tempfile

from program import BUILD, CLEAN, SOURCE, equal, holds, main

CC = shlex.split(os.environ.get("CC", "cc"))
LIBRARY = os.path.join(BUILD, "src")
# A library with sanitizers needs programs with sanitizers.  A block of a page
# need not free its objects.
IS_ASAN = os.path.basename(os.path.normpath(BUILD)) == "asan"
SANITIZE = ["-fsanitize=address,undefined"] if IS_ASAN else []
QUIET = {**CLEAN, "ASAN_OPTIONS": "detect_leaks=0"} if IS_ASAN else CLEAN
EXAMPLE = "it is a piece of a program in examples/"
STYLE = "test_blocks compiles and runs it"

HEAD = """
#include <allm.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define S(text) allm_json_parse(text, ALLM_NUL_ENDED, NULL)

static inline allm_engine *poet(void)
{
    allm_json *opts = S("{\\"script\\": [[\\"text\\", \\"Fog.\\"], "
                        "[\\"finish\\", \\"stop\\"]]}");
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    allm_json_free(opts);
    return e;
}

static inline allm_thread *question(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "Hello");
    return t;
}

static inline void need(bool holds, const char *what)
{
    if (holds)
        return;
    printf("not true: %s\\n", what);
    exit(1);
}
#define NEED(what) need(what, #what)
"""

ENGINE = "allm_engine *engine = poet();\n"
ASKED = ENGINE + "allm_thread *thread = question();\n"
HUB = ENGINE + """
allm_hub *hub = allm_hub_new(NULL);
allm_session *one = allm_session_new(NULL);
allm_stream *its = allm_session_reply(engine, one, "Hello", NULL);
NEED(allm_hub_add(hub, its, "it") == ALLM_OK);
"""
VISIT = """
static int seen;
static inline void show(void *tag, const allm_event *e)
{
    (void)tag;
    seen += e != NULL;
}
static inline void visit(allm_hub *hub)
{
    void *tag;
    const allm_event *event;
    allm_stream *stream;
    while ((stream = allm_hub_wait(hub, 0, &tag)))
        while (allm_stream_next(stream, &event) == ALLM_EVENT)
            show(tag, event);
}
"""
# A client calls a tool and can ask its user.
MCP = r"""
allm_json *tools = S("[{\"name\": \"rm\"}]");
allm_json *schema = S("{\"type\": \"object\"}");
allm_mcp_server *s = allm_mcp_server_new(
    ALLM(mcp_server_opts, .name = "s", .version = "1", .tools = tools));
allm_mcp_server_feed(s, "{\"jsonrpc\": \"2.0\", \"id\": 0, \"method\": "
    "\"initialize\", \"params\": {\"capabilities\": {\"elicitation\": {}}}}\n"
    "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", "
    "\"params\": {\"name\": \"rm\"}}\n", ALLM_NUL_ENDED);
const allm_mcp_request *r = allm_mcp_server_next(s);
"""
# The names of libuv that occur; tests/foreign/libuv.sh has the real library.
UV = """
typedef int uv_loop_t;
typedef int uv_poll_t;
typedef int uv_timer_t;
enum { UV_READABLE = 1 };
static uv_loop_t *loop;
static uv_poll_t readable;
static uv_timer_t timer;
static allm_hub *hub;
static void uv_timer_start(uv_timer_t *t, void (*f)(void), long ms, long again)
{
    (void)t; (void)f; (void)ms; (void)again;
}
static void uv_timer_stop(uv_timer_t *t) { (void)t; }
static void uv_poll_init(uv_loop_t *l, uv_poll_t *p, int fd)
{
    (void)l; (void)p;
    NEED(fd >= 0);
}
static void uv_poll_start(uv_poll_t *p, int what, void (*f)(void))
{
    (void)p; (void)what;
    f();
}
static void turn(void);
static void on_timer(void) { turn(); }
static void on_readable(void) { turn(); }
"""


def wrap(before="", inside="", after=""):
    """The code above, before and after a block."""
    return before, inside, after


# test_walks runs these pages from their beginning to their end.
WALKED = {"tutorial.md", "cookbook.md"}
# The blocks of C of every page, in their order.  A string: why it is not run.
PAGES = {
    "agents.md": [
        wrap(inside=ASKED),
        wrap(inside=ASKED,
             after='NEED(!strcmp(result->response->output_text, "Fog."));'),
        wrap("static allm_status only_reading(allm_context *c, void *ud)"
             "{ (void)c; (void)ud; return ALLM_OK; }",
             after="NEED(!allm_pipeline_error(mine));"),
    ],
    "architecture.md": ["src/data/tool_call.c"],
    "data.md": [EXAMPLE] * 7,
    "embeddings.md": [wrap()],
    "hub-in-your-loop.md": [
        wrap(VISIT, HUB + "allm_stream *stream; void *tag; "
             "const allm_event *event;", "NEED(seen > 3);"),
        wrap(VISIT + "static int served;"
             "static void serve(int fd) { served = fd + 1; }",
             HUB + 'int ends[2], mine = -1; if (!pipe(ends)) mine = ends[0];'
             'NEED(write(ends[1], "x", 1) == 1);',
             "NEED(served && seen > 3);"),
        wrap(VISIT, HUB + "enum { max = 4 }; int n, set = epoll_create1(0);"
             "struct epoll_event events[max];",
             "NEED(n >= 0); visit(hub); NEED(seen > 3);"),
        wrap(VISIT + UV, HUB.replace("allm_hub *hub", "hub"),
             "NEED(seen > 3);"),
        wrap(VISIT + "static bool is_full(void *tag) { return !tag; }",
             HUB + "allm_stream *stream; void *tag;",
             "visit(hub); NEED(seen > 3);"),
    ],
    "images.md": [wrap()],
    "mcp.md": [EXAMPLE, wrap(inside=MCP, after="""
        NEED(strstr(allm_mcp_server_out(s, NULL), "Delete 12 files?"));
    """), wrap(after="NEED(!allm_engine_error(engine));"
               "allm_json *report = allm_toolbox_report(box);"
               'NEED(allm_json_get(report, "servers"));'
               "allm_json_free(report); allm_engine_free(engine);"
               "allm_toolbox_free(box); allm_json_free(entry);")],
    "json-schema.md": [
        wrap(inside='allm_json *schema = S("{\\"type\\": \\"object\\"}"), '
             '*value = S("5");', after="NEED(allm_json_count(faults) == 1);"),
    ],
    "json.md": [
        wrap(inside='const char text[] = "{\\"temperature\\": 0.5}"; '
             'size_t len = strlen(text);', after="NEED(t == 0.5);"),
        wrap(inside='allm_json *object = S("{\\"a\\": 1}");'),
        wrap(after='NEED(!strcmp(allm_json_text(allm_json_get(v, "city"), '
             'NULL), "Ulm"));'),
    ],
    "keys.md": [wrap(inside='const char *key_from_somewhere = "none";')],
    "moderation.md": [
        wrap("static void hide(const char *text) { puts(text); }")],
    "providers.md": [
        wrap(after="NEED(!allm_engine_error(e));"),
        wrap(after="NEED(!allm_engine_error(e));")],
    "record-replay.md": [
        wrap("static allm_transport my_transport;",
             "allm_player *none = allm_player_new(NULL, NULL);"
             "my_transport = *allm_player_transport(none);"),
        wrap(after="NEED(allm_player_error(replay));"),
    ],
    "session-rules.md": [
        wrap(inside=ENGINE + "allm_session *session = allm_session_new(NULL);",
             after="NEED(s); allm_stream_free(s); allm_session_free(session);"),
        wrap(inside=ENGINE + "const allm_event *event;"
             "allm_session *one = allm_session_new(NULL);"
             "allm_session_record *record = "
             "allm_session_record_new(allm_session_fields(one));"
             'allm_stream *stream = allm_session_reply(engine, one, "Hello", '
             "NULL);",
             after="NEED(all->session->status == ALLM_SESSION_COMPLETED &&"
             "!strcmp(all->chat->final_response->output_text, \"Fog.\"));")],
    "sessions.md": [
        wrap(inside=ENGINE,
             after="allm_session *again = "
             'allm_session_load("hello.session", 0);'
             "NEED(!allm_session_error(again) && "
             "allm_thread_count(allm_session_thread(again)) == 2);"),
        wrap(after="NEED(s);"),
        wrap("static void show(const allm_event *event) { (void)event; }",
             'allm_store *store = allm_store_open("memory:", NULL);'
             "const allm_event *event = NULL;",
             "NEED(!strcmp(allm_stream_error(s)->reason, "
             '"session_not_found"));'),
    ],
    "stores.md": [wrap(after="NEED(store);")],
    "tools-outside.md": [
        wrap(inside=ENGINE + "allm_thread *thread = allm_thread_new(NULL);"
             'allm_thread_add(thread, ALLM_ROLE_USER, "Hello");',
             after="allm_stream_free(s);"),
        wrap(inside="allm_toolbox *box = allm_toolbox_new(NULL);",
             after="NEED(!allm_toolbox_error(box)); allm_toolbox_free(box);"),
        wrap("static void ask_the_user(void *ud, allm_approval *a)"
             "{ (void)ud; allm_approval_free(a); }",
             ENGINE + "allm_thread *thread = allm_thread_new(NULL);"
             'allm_thread_add(thread, ALLM_ROLE_USER, "Hello");',
             "NEED(!allm_toolbox_error(box)); allm_stream_free(s);"
             "allm_toolbox_free(box);"),
    ],
    "streaming.md": [
        wrap(inside='allm_json *script = S("{\\"script\\": [[\\"text\\", '
             '\\"Hello.\\"], [\\"finish\\", \\"stop\\"]]}");',
             after="NEED(!error);"),
    ],
    "style.md": [STYLE],
    "testing-with-fake.md": [
        wrap(after="NEED(!allm_engine_error(engine));"),
        wrap(inside="allm_engine *a = poet(), *b = poet();"),
        wrap(inside='allm_json *opts = S("{\\"script\\": [[\\"finish\\", '
             '\\"stop\\"]]}");'),
    ],
    "tools.md": [wrap(after="NEED(!allm_tool_error(tool));")],
}


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def blocks(page, language):
    """The fenced blocks of a page in this language."""
    return [m[2] for m in re.finditer(r"^```(\w*)\n(.*?)^```$",
                                      read("docs/" + page), re.M | re.S)
            if m[1] == language]


def pages():
    return sorted(os.path.basename(p)
                  for p in glob.glob(os.path.join(SOURCE, "docs", "*.md")))


def squeeze(text):
    return " ".join(text.split())


def all_of(pattern):
    return [squeeze(read(os.path.relpath(p, SOURCE)))
            for p in glob.glob(os.path.join(SOURCE, pattern))]


def split(block):
    """The code outside of functions, and the code inside."""
    outside, inside, deep = [], [], False
    for line in block.splitlines():
        deep = deep or line.startswith("static ")
        (outside if deep else inside).append(line)
        if deep and (line == "}" or re.search(r"[;}]\s*(/\*.*\*/)?$", line)
                     and line.startswith("static ")):
            deep = False
    return "\n".join(outside), "\n".join(inside)


def compile_and_run(name, source, stdin=""):
    """The output of a program against the shared library."""
    with tempfile.TemporaryDirectory(prefix="allm-docs-") as folder:
        path = os.path.join(folder, "block")
        os.mkdir(os.path.join(folder, "tests"))
        with open(path + ".c", "w", encoding="utf-8") as f:
            f.write(source)
        made = subprocess.run(
            [*CC, *SANITIZE, "-std=c11", "-D_DEFAULT_SOURCE", "-Wall",
             "-Wextra", "-Werror", "-Wno-unused-variable",
             "-Wno-unused-parameter", "-Wno-unused-but-set-variable",
             "-Wno-unused-function",
             "-I" + os.path.join(SOURCE, "include"), path + ".c",
             "-L" + LIBRARY, "-lallm", "-Wl,-rpath," + LIBRARY, "-o", path],
            capture_output=True, text=True, check=False)
        assert made.returncode == 0, f"{name}\n{made.stderr}"
        run = subprocess.run([path], env=QUIET, cwd=folder, input=stdin,
                             capture_output=True, text=True, timeout=20,
                             check=False)
        assert run.returncode == 0, f"{name}\n{run.stdout}{run.stderr}"
        return run.stdout


def run_block(name, block, needs):
    before, inside, after = needs
    top, body = split(block)
    compile_and_run(name, "\n".join([
        HEAD, before, top, "int main(void)\n{", inside, body, after,
        "return 0;\n}\n"]))


def test_c():
    """every block of C is run, or is a part of an example that is run"""
    examples = all_of("examples/*.c")
    ran, faults = 0, []
    for page in set(pages()) - WALKED:
        found = blocks(page, "c")
        needs = PAGES.get(page, [])
        equal((page, len(found)), (page, len(needs)))
        for number, (block, how) in enumerate(zip(found, needs)):
            name = f"docs/{page}, block {number + 1} of C"
            if how == EXAMPLE:
                assert any(squeeze(block) in e for e in examples), name
            elif isinstance(how, str) and how.startswith("src/"):
                for part in re.sub(r"/\*.*?\*/", "", block).split("\n\n"):
                    holds(squeeze(read(how)), squeeze(part))
            elif how != STYLE:
                ran += 1
                try:
                    run_block(name, block, how)
                except AssertionError as fault:
                    faults.append(str(fault))
    assert not faults, "\n".join(faults)
    assert ran > 20, ran


def test_readme():
    """the program in README is run, and prints what README shows"""
    shown = re.findall(r"^```c\n(.*?)^```$", read("README.md"), re.M | re.S)
    equal(len(shown), 1)
    equal(compile_and_run("README.md", shown[0]),
          "The sea is never the same.\n")


def test_json():
    """every block of JSON is JSON"""
    for page in pages():
        for block in blocks(page, "json"):
            text = block if block[0] in "{[" else "{" + block + "}"
            try:
                json.loads(text)
            except ValueError as fault:
                raise AssertionError(f"docs/{page}: {fault}\n{block}") from None


def test_python():
    """every block of Python is a part of a test that is run"""
    program = squeeze(read("tests/foreign/test_asyncio.py"))
    for page in set(pages()) - WALKED:
        for block in blocks(page, "python"):
            compile(block, page, "exec")
            for part in re.split(r"\n\n|^def .*:\n", block, flags=re.M):
                holds(program, squeeze(part))


REFUSED = """
int main(void)
{
    allm_json *v = allm_json_parse("[1 2]", ALLM_NUL_ENDED, NULL);
    puts(allm_json_error(v)->message);
    return 0;
}
"""


def test_message():
    """the message of a rejected text is what json.md shows"""
    said = compile_and_run("json.md", HEAD + REFUSED)
    holds([squeeze(b) for b in blocks("json.md", "")], squeeze(said))


def test_output():
    """the output that a page shows is what the example prints"""
    printed = all_of("examples/*.out")
    for page, first in [("data.md", "a request:"), ("tools.md", "## Seq"),
                        ("record-replay.md", "replay miss:")]:
        shown = [squeeze(b) for b in blocks(page, "") if b.startswith(first)]
        equal((page, len(shown)), (page, 1))
        text = shown[0].replace("weather.recording",
                                "examples/replay.recording")
        assert any(text in p for p in printed), (page, text)


def test_scenario():
    """the scenario on the page passes, and one that fails prints what it shows
    """
    def scenario(text):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            f.write(text)
            f.flush()
            return subprocess.run([os.path.join(BUILD, "allm-scenario"),
                                   f.name], env=CLEAN, capture_output=True,
                                  text=True, check=False)
    shown = blocks("scenarios.md", "json")
    equal(len(shown), 1)
    equal(scenario(shown[0]).returncode, 0)
    wrong = read("tests/scenario/fake-text-and-finish.json").replace(
        '"finish_reason": "stop",\n', '"finish_reason": "length",\n')
    holds(scenario(wrong).stdout, blocks("scenarios.md", "")[0])


ANSWERED = """
int main(void)
{
    static char text[65536];
    size_t len = fread(text, 1, sizeof text, stdin);
    allm_json *opts = allm_json_parse(text, len, NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    for (int i = 0; i < 2; i++) {
        allm_stream *s = ASK;
        allm_stream_wait(s);
        const allm_error *error = allm_stream_error(s);
        puts(error ? error->reason : "ok");
        allm_stream_free(s);
    }
    return 0;
}
"""


def test_scripts():
    """the scripts for images and moderation do what the page says"""
    image = 'allm_image_generate(engine, ALLM(image_request, .prompt = "x"), ' \
            "NULL)"
    judged = "allm_moderate(engine, ALLM(moderation_request, " \
             '.input_count = 1, .inputs = (const char *[]){ "x" }), NULL)'
    for page, ask, said in [("images.md", image, "ok\ncontent_filter\n"),
                            ("moderation.md", judged, "ok\nrate_limited\n")]:
        equal(compile_and_run(page, HEAD + ANSWERED.replace("ASK", ask),
                              blocks(page, "json")[0]), said)


DECODED = """
int main(void)
{
    static char text[65536];
    size_t len = fread(text, 1, sizeof text, stdin);
    allm_codec *c = allm_codec_decode(text, len, NULL, NULL);
    const allm_message *m = allm_codec_value(c, ALLM_TYPE_MESSAGE);
    allm_text *plain = allm_message_json(m, ALLM_FORM_PLAIN);
    puts(allm_text_bytes(plain, NULL) ? allm_text_bytes(plain, NULL) : "?");
    return 0;
}
"""


def test_forms():
    """the tagged message on the page has the plain form on the page"""
    tagged, plain = blocks("data.md", "json")
    equal(json.loads(compile_and_run("data.md", HEAD + DECODED, tagged)),
          json.loads(plain))


REPLAYED = """
int main(void)
{
    allm_player *r = allm_player_new("block.c.recording", NULL);
    const allm_error *error = allm_player_error(r);
    printf("%s %zu\\n", error ? error->message : "ok", allm_player_left(r));
    return 0;
}
"""


def test_recording():
    """the recording on the page can be played"""
    shown = [b for b in blocks("record-replay.md", "")
             if b.startswith('{"allm_recording"')]
    equal(len(shown), 1)
    write = "FILE *f = fopen(\"block.c.recording\", \"w\");" \
            "for (int c; (c = getchar()) != EOF;) fputc(c, f); fclose(f);"
    source = REPLAYED.replace("{\n", "{\n" + write, 1)
    equal(compile_and_run("record-replay.md", HEAD + source, shown[0]),
          "ok 1\n")


if __name__ == "__main__":
    main(globals())
