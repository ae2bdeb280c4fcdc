#!/usr/bin/env python3
"""test_ctypes.py - the shared library loads and runs from Python

What the library does not have yet is skipped.
"""
import ctypes
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("SOURCE_DIR", os.path.join(HERE, "..", ".."))
BUILD = os.environ.get("BUILD_DIR", os.path.join(SOURCE, "build", "main"))
count = {"passed": 0, "failed": 0, "skipped": 0}


def check(why, good):
    count["passed" if good else "failed"] += 1
    print(("ok - " if good else "not ok - ") + why)


def has(library, *names):
    """Whether all of these functions are there; else say what is skipped."""
    missing = [name for name in names if not hasattr(library, name)]
    if missing:
        count["skipped"] += 1
        print("ok - # skipped: there is no " + ", ".join(missing) + " yet")
    return not missing


def function(library, name, result, *parameters):
    f = getattr(library, name)
    f.restype, f.argtypes = result, parameters
    return f


def header_version():
    with open(os.path.join(SOURCE, "include", "allm_base.h"),
              encoding="utf-8") as f:
        text = f.read()
    parts = (re.search(r"#define ALLM_VERSION_%s (\d+)" % part, text)
             for part in ("MAJOR", "MINOR", "PATCH"))
    return ".".join(match.group(1) for match in parts if match)


def check_version(library):
    version = function(library, "allm_version", ctypes.c_char_p)().decode()
    check("a version like 1.2.3", re.fullmatch(r"\d+\.\d+\.\d+", version))
    check("the header's version", version == header_version())


def check_names(library):
    """Every function of exports.txt can be looked up."""
    with open(os.path.join(HERE, "exports.txt"), encoding="utf-8") as f:
        names = f.read().split()
    lost = [name for name in names if not hasattr(library, name)]
    check(f"all {len(names)} functions can be looked up" +
          "".join(" - " + name for name in lost), not lost)


def check_json(library):
    """Read a document, ask for its members, let it go."""
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    parse = function(library, "allm_json_parse", pointer, ctypes.c_char_p,
                     size, pointer)
    get = function(library, "allm_json_get", pointer, pointer,
                   ctypes.c_char_p)
    text = function(library, "allm_json_text", ctypes.c_char_p, pointer,
                    ctypes.POINTER(size))
    number = function(library, "allm_json_number", ctypes.c_double, pointer)
    free = function(library, "allm_json_free", None, pointer)

    document = '{"city": "Köln", "n": 12.5}'.encode()
    root = parse(document, len(document), None)
    length = size()
    check("a text of a document",
          text(get(root, b"city"), ctypes.byref(length)) == "Köln".encode())
    check("its length", length.value == 5)
    check("a number of a document", number(get(root, b"n")) == 12.5)
    check("a member that is not there", get(root, b"none") is None)
    free(root)

    broken = parse(b"{", 1, None)
    error = function(library, "allm_json_error", pointer, pointer)
    check("a broken document has an error", error(broken) is not None)
    free(broken)


def main():
    library = ctypes.CDLL(os.path.join(BUILD, "src", "liballm.so"))
    check_names(library)
    if has(library, "allm_version"):
        check_version(library)
    if has(library, "allm_json_parse", "allm_json_get", "allm_json_text",
           "allm_json_number", "allm_json_free", "allm_json_error"):
        check_json(library)
    print("{passed} passed, {failed} failed, {skipped} skipped"
          .format(**count))
    return 1 if count["failed"] else 0


sys.exit(main())
