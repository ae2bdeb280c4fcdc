#!/usr/bin/env python3
"""test_reference - the reference has every function, and all its links work"""
import glob
import html.parser
import json
import os
import re
import subprocess

from program import BUILD, HOME, SOURCE, equal, file, holds, main, need

MAN = os.path.join(BUILD, "man3")
HTML = os.path.join(BUILD, "html")
TOOL = os.path.join(SOURCE, "tools", "reference")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as source:
        return source.read()


def functions():
    names = read(SOURCE, "tests", "abi", "exports.txt").split()
    assert len(names) > 300, len(names)
    return names


class Page(html.parser.HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.open = [], [], []
        self.feed(read(path))
        equal((path, self.open), (path, []))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)
        self.anchors += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs[k] for k in ("href", "src") if k in attrs]

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag)


def html_pages():
    pages = {os.path.basename(p): Page(p)
             for p in glob.glob(os.path.join(HTML, "*.html"))}
    assert len(pages) > 5, list(pages)
    return pages


def index():
    text = read(HTML, "search.js")
    return json.loads(text[text.index("["):text.index("\n];") + 2])


def test_links():
    """every function has a link page, to the page that declares it"""
    for name in functions():
        link = re.fullmatch(r"\.so man3/(.*)\n", read(MAN, name + ".3"))
        page = read(MAN, link[1])
        first = page.split(".SH NAME\n")[1].split("\n")[0]
        holds(first.replace(",", " ").split(), name)
        assert re.search(r"\b%s\(" % name, page.split(".SH SYNOPSIS")[1]), name


def test_manual_pages():
    """the manual pages are well formed"""
    need("groff")
    pages = sorted(p for p in glob.glob(os.path.join(MAN, "*.3"))
                   if not read(p).startswith(".so "))
    assert len(pages) > 30, len(pages)
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", *pages],
                          capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr), (0, ""))


def test_man():
    """man shows the page of a function, without a warning"""
    need("man")
    done = subprocess.run(
        ["man", "--warnings", "-M", BUILD, "3", "allm_stream_next"],
        env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr), (0, ""))
    holds(done.stdout, "allm_status allm_stream_next(allm_stream *",
          "SYNOPSIS", "DESCRIPTION", "SEE ALSO")


def test_see_also():
    """every page that a page refers to exists"""
    for path in glob.glob(os.path.join(MAN, "*.3")):
        for name in re.findall(r"^\.BR (\S+) \(3\)", read(path), re.M):
            target = os.path.join(MAN, name.replace("\\-", "-") + ".3")
            assert os.path.exists(target), (path, name)


def test_html_links():
    """every link of the HTML works, and no anchor occurs twice"""
    pages = html_pages()
    for name, page in pages.items():
        equal((name, len(page.anchors)), (name, len(set(page.anchors))))
        for link in page.links:
            target, _, anchor = link.partition("#")
            assert os.path.exists(os.path.join(HTML, target)), (name, link)
            if anchor:
                assert anchor in pages[target].anchors, (name, link)


def test_html_functions():
    """every function has an anchor, and is in the index of names"""
    pages = html_pages()
    anchors = [a for p in pages.values() for a in p.anchors]
    listed = [link.partition("#")[2] for link in pages["index.html"].links]
    for name in functions():
        equal((name, anchors.count(name)), (name, 1))
        holds(listed, name)


def test_search_index():
    """the search has every function, and leads to its anchor"""
    pages, rows = html_pages(), index()
    names = [row[0] for row in rows]
    equal(len(names), len(set(names)))
    for name in functions():
        holds(names, name)
    for name, _, href, _ in rows:
        target, _, anchor = href.partition("#")
        equal(anchor, name)
        assert anchor in pages[target].anchors, href


BROWSER = """
const element = () => ({
    listeners: {}, children: [], value: "", textContent: "", href: "",
    addEventListener(name, f) { this.listeners[name] = f; },
    replaceChildren(...c) { this.children = c; },
    append(c) { this.children.push(c); },
    querySelector() { return this.children[0]?.children[0] ?? null; },
});
const elements = { query: element(), found: element() };
const location = { href: "" };
const document = { getElementById: (id) => elements[id],
                   createElement: element };
SCRIPT
const { query, found } = elements;
const type = (text) => {
    query.value = text;
    query.listeners.input();
    return found.children.map((item) => item.children[0].textContent);
};
const answers = { exact: type("allm_stream_next"), call: type("Allm_Hub_Add()"),
    words: type("cancel stream"), none: type("no-such-name"), empty: type(" "),
    many: type("allm") };
type("allm_stream_next");
query.listeners.keydown({ key: "Enter" });
answers.enter = location.href;
query.listeners.keydown({ key: "Escape" });
answers.escape = found.children.length;
console.log(JSON.stringify(answers));
"""


def test_search():
    """the search finds names and words, and Enter goes to the first"""
    need("node")
    script = file("search.js",
                  BROWSER.replace("SCRIPT", read(HTML, "search.js")))
    done = subprocess.run(["node", script], capture_output=True, text=True,
                          check=False)
    equal((done.returncode, done.stderr), (0, ""))
    said = json.loads(done.stdout)
    equal(said["exact"][0], "allm_stream_next")
    equal(said["call"][0], "allm_hub_add")
    holds(said["words"], "allm_stream_cancel")
    equal((said["none"], said["empty"], said["escape"]), ([], [], 0))
    equal(len(said["many"]), 30)
    assert said["enter"].endswith(".html#allm_stream_next"), said["enter"]


HEADER = """/*
 * allm_toy.h - things to play with
 *
 *    1  Toys                  and who owns them
 *    2  Boxes
 *
 * More about all of it.
 */
#ifndef ALLM_TOY_H
#define ALLM_TOY_H

#ifdef __cplusplus
extern "C" {
#endif

struct allm_box;

/* ------------------------------------------------------------- 1  Toys --- */

/* What toys are for. */

/*
 * A toy.
 *
 *    { "kind": "-x-" }
 */
typedef struct allm_toy {             /* never NULL */
    size_t      size;
    const char *name, *other;         /* what it is
                                         called     */
    /* for the curious */
    int       (*play)(void *ud, int times);
                                      /* may be NULL */
} allm_toy;

/* Make one; see `name`. */
ALLM_API allm_toy *allm_toy_new(const char *name,
                                int flags);
ALLM_API void allm_toy_free(allm_toy *);
/* Another. */
ALLM_API int allm_toy_count(void);

ALLM_API int allm_toy_last(void);     /* the last one */

/* ------------------------------------------------------------ 2  Boxes --- */

enum allm_box_flags {
    ALLM_BOX_RED = 1 << 0,            /* as blood */
    ALLM_BOX_OLD = 1 << 1
};

/* A box. */
typedef struct allm_box allm_box;

ALLM_API void allm_box_open(allm_box *);

#ifdef __cplusplus
}
#endif
#endif
"""


def toy_reference(text):
    """The folder with the reference of a header."""
    header = file("allm_toy.h", text)
    subprocess.run([TOOL, "--out", HOME, "--version", "9", header], check=True)
    return HOME


def test_conventions():
    """descriptions are attached as the conventions say"""
    out = toy_reference(HEADER)
    page = read(out, "man3", "allm-toy.3")
    holds(page, "allm_toy_last \\- and who owns them", "#include <allm_toy.h>",
          "allm_toy *allm_toy_new(const char *name,\n"
          "                       int flags);",
          ".SS allm_toy_new, allm_toy_free\n.PP\nMake one; see \\fBname\\fR.",
          ".SS allm_toy_count\n.PP\nAnother.", ".B allm_toy_last\nthe last one",
          ".B other\nwhat it is called", ".B play\nmay be NULL",
          "for the curious", "never NULL", '{ "kind": "\\-x\\-" }')
    holds(read(out, "man3", "allm-toy-boxes.3"), "allm_box_open \\- boxes",
          ".B ALLM_BOX_RED\nas blood")
    holds(read(out, "man3", "allm_box.3"), "allm-toy-boxes.3")
    holds(read(out, "html", "allm_toy.html"), "<p>What toys are for.</p>",
          'id="allm_toy.other"', 'id="ALLM_BOX_OLD"', "<code>name</code>",
          "<p>More about all of it.</p>")


def test_undescribed():
    """a function without a description is named, with its place"""
    def check(text):
        done = subprocess.run([TOOL, "--check", file("allm_toy.h", text)],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.replace(HOME + "/", "")
    line = HEADER[:HEADER.index("ALLM_API void allm_box_open")].count("\n") + 1
    equal(check(HEADER),
          (1, "allm_toy.h:%d: allm_box_open has no description\n" % line))
    equal(check(HEADER.replace("allm_box;\n\nALLM_API", "allm_box;\nALLM_API")),
          (0, ""))


def test_all_headers():
    """the reference of the build is that of every header"""
    for path in glob.glob(os.path.join(SOURCE, "include", "*.h")):
        name = os.path.basename(path)[:-2] + ".html"
        assert os.path.exists(os.path.join(HTML, name)), name


if __name__ == "__main__":
    main(globals())
