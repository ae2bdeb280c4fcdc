/* builtin_list.c - the built-in tools, and what models read about them */
#include "toolbox/builtin.h"

#define PATH "\"path\":{\"type\":\"string\",\"minLength\":1," \
    "\"description\":\"Relative to the working directory\"}"
#define OBJECT(members, required) "{\"type\":\"object\",\"properties\":{" \
    members "},\"required\":[" required "],\"additionalProperties\":false}"
#define COUNT(name, least, what) "\"" name "\":{\"type\":\"integer\"," \
    "\"minimum\":" least ",\"description\":\"" what "\"}"
#define SWITCH(name, what) "\"" name "\":{\"type\":\"boolean\"," \
    "\"description\":\"" what "\"}"
#define TEXT(name, what) "\"" name "\":{\"type\":\"string\"," \
    "\"description\":\"" what "\"}"
#define IGNORED "Also what .gitignore excludes"

#define EDITS "\"edits\":{\"type\":\"array\",\"minItems\":1," \
    "\"items\":{\"type\":\"object\",\"properties\":{" \
    TEXT("old_text", "Exactly as in the file") "," \
    TEXT("new_text", "What replaces it") "}," \
    "\"required\":[\"old_text\",\"new_text\"]," \
    "\"additionalProperties\":false}}"
#define LIMITED(name, least, most, what) "\"" name "\":{\"type\":\"integer\"," \
    "\"minimum\":" least ",\"maximum\":" most ",\"description\":\"" what "\"}"

enum { FILE_MS = 60 * 1000, PAGE_MS = 30 * 1000 };

#define READS .effect = ALLM_EFFECT_PURE, \
    .groups = BUILTIN_READ | BUILTIN_CODE, .timeout_ms = FILE_MS
#define WRITES .groups = BUILTIN_CODE, .timeout_ms = FILE_MS, .writes = true

static const struct builtin list[] = {
    { .name = "read_file",
      .description = "Read a file: its lines with their numbers. An image is "
                     "returned as an image.",
      .schema = OBJECT(PATH "," COUNT("offset", "1", "First line; default 1")
                       "," COUNT("limit", "1", "Lines; default 2000"),
                       "\"path\""),
      READS, .run = read_file_run },
    { .name = "grep",
      .description = "Search the contents of files for a regular expression. "
                     "Prints path:line:text. Binary files and what .gitignore "
                     "excludes are left out.",
      .schema = OBJECT(
          TEXT("pattern", "A regular expression (ECMAScript, without back "
                          "references)")
          "," TEXT("path", "A folder or file; default: all files")
          "," TEXT("glob", "Only files with such names, as in *.c")
          "," SWITCH("ignore_case", "Treat upper and lower case alike")
          "," COUNT("context", "0", "Lines to show around each match")
          "," COUNT("limit", "1", "Matching lines; default 200")
          "," SWITCH("all", IGNORED),
          "\"pattern\""),
      READS, .run = grep_run },
    { .name = "glob",
      .description = "Find files by a pattern for their paths, newest first. "
                     "** stands for any number of folders, as in src/**/*.c.",
      .schema = OBJECT(TEXT("pattern", "As in **/*.c or docs/*.{md,txt}")
                       "," TEXT("path", "The folder to search")
                       "," COUNT("limit", "1", "Paths; default 1000")
                       "," SWITCH("all", IGNORED),
                       "\"pattern\""),
      READS, .run = glob_run },
    { .name = "list_directory",
      .description = "List a folder: names with their kinds and sizes.",
      .schema = OBJECT(TEXT("path", "Default: the working directory")
                       "," SWITCH("all", "Also names that begin with a dot")
                       "," COUNT("limit", "1", "Names; default 1000"), ""),
      READS, .run = list_directory_run },
    { .name = "tree",
      .description = "Draw the tree of folders and files below a folder.",
      .schema = OBJECT(TEXT("path", "Default: the working directory")
                       "," SWITCH("all", IGNORED)
                       "," COUNT("depth", "1", "Levels; default 3")
                       "," COUNT("limit", "1", "Names; default 1000"), ""),
      READS, .run = tree_run },
    { .name = "file_info",
      .description = "Describe a file or folder: kind, size, mode, times, "
                     "lines, SHA-256, type.",
      .schema = OBJECT(PATH, "\"path\""),
      READS, .run = file_info_run },
    { .name = "write_file",
      .description = "Write a file: create it, or replace all of it. Missing "
                     "folders are created.",
      .schema = OBJECT(PATH "," TEXT("content", "All of the file"),
                       "\"path\",\"content\""),
      WRITES, .effect = ALLM_EFFECT_IDEMPOTENT, .run = write_file_run },
    { .name = "edit_file",
      .description = "Replace a text in a file by another. The old text must "
                     "be in the file exactly once, unless all is set.",
      .schema = OBJECT(PATH "," TEXT("old_text", "Exactly as in the file, with "
                                                 "its spaces")
                       "," TEXT("new_text", "What replaces it")
                       "," SWITCH("all", "Replace every match"),
                       "\"path\",\"old_text\",\"new_text\""),
      WRITES, .effect = ALLM_EFFECT_WRITE, .run = edit_file_run },
    { .name = "multi_edit",
      .description = "Make several edits in a file, in order, each in the "
                     "result of the one before: all of them or none.",
      .schema = OBJECT(PATH "," EDITS, "\"path\",\"edits\""),
      WRITES, .effect = ALLM_EFFECT_WRITE, .run = multi_edit_run },
    { .name = "append_to_file",
      .description = "Add text to the end of a file, which is created if there "
                     "is none.",
      .schema = OBJECT(PATH "," TEXT("content", "What is added"),
                       "\"path\",\"content\""),
      WRITES, .effect = ALLM_EFFECT_WRITE, .run = append_to_file_run },
    { .name = "bash",
      .description = "Run a command of the shell in the working directory, in "
                     "a sandbox: it may read that directory and the system's "
                     "programs. Set write to change files, net to use the "
                     "network; the user may be asked.",
      .schema = OBJECT(
          "\"command\":{\"type\":\"string\",\"minLength\":1,"
          "\"maxLength\":100000}"
          "," LIMITED("timeout", "1", "86400", "Seconds; default 120")
          "," SWITCH("write", "Files in the working directory may be changed")
          "," SWITCH("net", "The network may be used"),
          "\"command\""),
      .effect = ALLM_EFFECT_WRITE, .groups = BUILTIN_CODE,
      .timeout_ms = UINT32_MAX, .execute = bash_execute,
      .reach = bash_reach },
    { .name = "http_get",
      .description = "Read a page of the public Internet. HTML is reduced to "
                     "text.",
      .schema = OBJECT(
          TEXT("url", "http:// or https://")
          "," LIMITED("max_bytes", "1", "4194304", "Default 262144"),
          "\"url\""),
      .effect = ALLM_EFFECT_IDEMPOTENT, .groups = BUILTIN_WEB,
      .timeout_ms = PAGE_MS, .run = http_get_run, .reach = http_get_reach },
};

const struct builtin *builtin_list(size_t *count)
{
    *count = sizeof list / sizeof *list;
    return list;
}
