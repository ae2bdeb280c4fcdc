/*
 * test_builtin.c - the built-in tools that read
 *
 * tag: thread
 */
#include "toolbox/builtin.h"
#include "toolbox/toolbox.h"

#include "harness/box.h"
#include "harness/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* `want` is all of the answer if it ends with LF, else a part of it. */
struct row {
    const char *why, *tool, *args, *want;
};

static void check_answer(struct box *b, const struct row *row)
{
    check_row(row->why);
    const char *got = box_call(b, row->tool, row->args);
    size_t len = strlen(row->want);
    if (len && row->want[len - 1] == '\n')
        CHECK_TEXT(got, row->want);
    else
        CHECK_WHY(strstr(got, row->want) != NULL, got);
}

#define CHECK_CALLS(box, rows)                                    \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)    \
        check_answer((box), &(rows)[i])

static void make_folder(const struct box *b, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", b->root, name);
    CHECK_ALWAYS(!mkdir(path, 0755));
}

static void make_link(const struct box *b, const char *target, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", b->root, name);
    CHECK_ALWAYS(!symlink(target, path));
}

static void adds_names_and_groups(void)
{
    static const struct {
        const char *why, *names;
        allm_status status;
        size_t count;
    } rows[] = {
        { "one", "read_file", ALLM_OK, 1 },
        { "two, with blanks", " grep , glob ", ALLM_OK, 2 },
        { "a group", "read", ALLM_OK, 6 },
        { "a group and one of it", "read,grep", ALLM_OK, 6 },
        { "tools for code", "code", ALLM_OK, 11 },
        { "for the web", "web", ALLM_OK, 1 },
        { "all of them", "all", ALLM_OK, 12 },
        { "unknown", "reed", ALLM_ERR_VALIDATION, 0 },
        { "one of them is unknown", "grep,x", ALLM_ERR_VALIDATION, 0 },
        { "nothing", "", ALLM_ERR_VALIDATION, 0 },
        { "an empty name", "grep,,glob", ALLM_ERR_VALIDATION, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && check_whole(); i++) {
        struct box b;
        size_t count = 0;
        check_row(rows[i].why);
        box_open(&b, NULL);
        CHECK_INT(allm_toolbox_add_builtin(b.box, rows[i].names),
                  rows[i].status);
        const allm_executor *x = allm_toolbox_executor(b.box);
        if (x)
            x->tools(x->self, &count);
        CHECK_INT(count, rows[i].count);
        box_close(&b);
    }
}

static void names_what_is_known(void)
{
    struct box b;
    box_open(&b, "read");
    CHECK_INT(allm_toolbox_add_builtin(b.box, "read"), ALLM_OK);    /* again */
    allm_toolbox_add_builtin(b.box, "cat");
    const allm_error *error = allm_toolbox_error(b.box);
    CHECK_WHY(error && strstr(error->message, "read_file") &&
                  strstr(error->message, "\"cat\"") &&
                  strstr(error->message, "read, code, web and all"),
              error ? error->message : "none");
    CHECK_INT(allm_toolbox_add_builtin(b.box, NULL), ALLM_ERR_MISUSE);
    CHECK_INT(allm_toolbox_add_builtin(NULL, "read"), ALLM_ERR_NOMEM);
    box_close(&b);
}

static void reports_the_reach(void)
{
    struct box b;
    char want[128];
    box_open(&b, "grep");
    allm_json *report = allm_toolbox_report(b.box);
    const allm_json *tool = allm_json_at(allm_json_get(report, "tools"), 0);
    snprintf(want, sizeof want, "read %s", b.root);
    CHECK_TEXT(allm_json_text(allm_json_at(allm_json_get(tool, "reach"), 0),
                              NULL),
               want);
    CHECK_TEXT(allm_json_text(allm_json_get(tool, "kind"), NULL), "builtin");
    CHECK_TEXT(allm_json_text(allm_json_get(tool, "effect"), NULL), "pure");
    allm_json_free(report);
    box_close(&b);
}

static void reads_lines(void)
{
    static const struct row rows[] = {
        { "all", "read_file", "{'path': 'a.txt'}",
          "     1\tone\n     2\ttwo\n     3\tthree\n" },
        { "from a line on", "read_file", "{'path': 'a.txt', 'offset': 3}",
          "     3\tthree\n" },
        { "some", "read_file", "{'path': 'a.txt', 'limit': 2}",
          "     1\tone\n     2\ttwo\n"
          "[1 more lines; continue with offset 3]\n" },
        { "one in the middle", "read_file",
          "{'path': 'a.txt', 'offset': 2, 'limit': 1}",
          "     2\ttwo\n[1 more lines; continue with offset 3]\n" },
        { "beyond the end", "read_file", "{'path': 'a.txt', 'offset': 4}",
          "a.txt has 3 lines, so there is no line 4" },
        { "without a LF at the end", "read_file", "{'path': 'b.txt'}",
          "     1\tx\n     2\ty\n" },
        { "the same, counted", "read_file", "{'path': 'b.txt', 'limit': 1}",
          "     1\tx\n[1 more lines; continue with offset 2]\n" },
        { "a folder in the path", "read_file", "{'path': './d/../b.txt'}",
          "     1\tx\n     2\ty\n" },
        { "CRLF", "read_file", "{'path': 'c.txt'}", "     1\ta\n     2\tb\n" },
        { "an empty file", "read_file", "{'path': 'e.txt'}",
          "[the file is empty]\n" },
        { "an empty file from the second line", "read_file",
          "{'path': 'e.txt', 'offset': 2}", "[the file is empty]\n" },
        { "a link in the root", "read_file", "{'path': 'l'}",
          "     1\tx\n     2\ty\n" },
        { "no such file", "read_file", "{'path': 'no'}",
          "there is no file or folder no" },
        { "a folder", "read_file", "{'path': 'd'}", "d is a folder" },
        { "no path", "read_file", "{}", "invalid_arguments" },
        { "a wrong type", "read_file", "{'path': 7}", "invalid_arguments" },
        { "line 0", "read_file", "{'path': 'a.txt', 'offset': 0}",
          "invalid_arguments" },
        { "an unknown argument", "read_file", "{'path': 'a.txt', 'x': 1}",
          "invalid_arguments" },
        { "a NUL", "read_file", "{'path': 'a\\u0000b'}", "invalid_arguments" },
        { "an empty path", "read_file", "{'path': ''}", "invalid_arguments" },
    };
    struct box b;
    box_open(&b, "read");
    external_file("a.txt", "one\ntwo\nthree\n");
    external_file("b.txt", "x\ny");
    external_file("c.txt", "a\r\nb\r\n");
    external_file("e.txt", "");
    make_folder(&b, "d");
    make_link(&b, "d/../b.txt", "l");
    CHECK_CALLS(&b, rows);
    box_close(&b);
}

static void write_bytes(const struct box *b, const char *name,
                        const char *bytes, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", b->root, name);
    FILE *f = fopen(path, "w");
    CHECK_ALWAYS(f && fwrite(bytes, 1, n, f) == n);
    if (f)
        fclose(f);
}

static void reads_odd_files(void)
{
    static const struct row rows[] = {
        { "NULs", "read_file", "{'path': 'nul'}",
          "[nul is not text: application/octet-stream, 3 bytes]\n" },
        { "an archive", "read_file", "{'path': 'zip'}",
          "[zip is not text: application/zip, 4 bytes]\n" },
        { "a small archive", "read_file", "{'path': 'bz'}",
          "[bz is not text: application/x-bzip2, 8 bytes]\n" },
        { "a text like an archive", "read_file", "{'path': 'bzh'}",
          "     1\tBZh is how they begin" },
        { "a text like a sound", "read_file", "{'path': 'id3'}",
          "     1\tID3 tags: \xC3" },
        { "a text like a film", "read_file", "{'path': 'ftyp'}",
          "     1\tthe ftyp box" },
        { "half a character", "read_file", "{'path': 'half'}",
          "     1\ta\xEF\xBF\xBD\n" },
        { "a long line", "read_file", "{'path': 'long'}",
          " [1000 characters more]\n     2\tend" },
        { "a very long line", "read_file", "{'path': 'longer'}", " more]" },
        { "a pipe", "read_file", "{'path': 'fifo'}", "a device, a pipe" },
        { "a socket", "read_file", "{'path': 'socket'}", "a device, a pipe" },
        { "its kind", "file_info", "{'path': 'fifo'}", "kind: pipe" },
    };
    struct box b;
    static char line[200000];
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    box_open(&b, "read");
    write_bytes(&b, "nul", "a\0b", 3);
    write_bytes(&b, "zip", "PK\x03\x04", 4);
    write_bytes(&b, "bz", "BZh91AY\x80", 8);
    external_file("bzh", "BZh is how they begin\n");
    external_file("id3", "ID3 tags: \xC3\xA9\n");
    external_file("ftyp", "the ftyp box\n");
    write_bytes(&b, "half", "a\xC3\n", 3);
    memset(line, 'x', sizeof line);
    write_bytes(&b, "longer", line, sizeof line);
    memcpy(line + 3000, "\nend\n", 5);
    write_bytes(&b, "long", line, 3005);
    char path[128];
    snprintf(path, sizeof path, "%s/fifo", b.root);
    CHECK_ALWAYS(!mkfifo(path, 0600));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", b.root);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_ALWAYS(!bind(fd, (struct sockaddr *)&address, sizeof address));
    CHECK_CALLS(&b, rows);
    close(fd);
    box_close(&b);
}

static void stays_in_the_root(void)
{
    static const struct row rows[] = {
        { "..", "read_file", "{'path': '../x'}", "outside_root" },
        { "below and above", "read_file", "{'path': 'd/../../x'}",
          "outside_root" },
        { "absolute", "read_file", "{'path': '/etc/passwd'}", "outside_root" },
        { "an absolute link", "read_file", "{'path': 'abs'}", "outside_root" },
        { "a relative link", "read_file", "{'path': 'up'}", "outside_root" },
        { "a folder that is a link", "read_file", "{'path': 'etc/passwd'}",
          "outside_root" },
        { "a link of the kernel", "read_file", "{'path': 'self/root'}",
          "outside_root" },
        { "list", "list_directory", "{'path': 'etc'}", "outside_root" },
        { "tree", "tree", "{'path': '..'}", "outside_root" },
        { "glob", "glob", "{'pattern': '*', 'path': '/'}", "outside_root" },
        { "grep", "grep", "{'pattern': 'root', 'path': 'etc'}",
          "outside_root" },
        { "info", "file_info", "{'path': 'abs'}", "outside_root" },
        { "grep does not follow links", "grep", "{'pattern': 'root:'}",
          "[no matches in 0 files]\n" },
    };
    for (int by_steps = 0; by_steps < 2; by_steps++) {
        struct box b;
        box_open(&b, "read");
        if (b.box && b.box->builtins)
            builtins_env(b.box->builtins)->by_steps = by_steps;
        make_folder(&b, "d");
        make_link(&b, "/etc/passwd", "abs");
        make_link(&b, "../../../../../../etc/passwd", "up");
        make_link(&b, "/etc", "etc");
        make_link(&b, "/proc/self", "self");
        CHECK_CALLS(&b, rows);
        const char *got = box_call(&b, "read_file", "{'path': '..'}");
        CHECK_WHY(strstr(got, b.root) != NULL, got);    /* names the root */
        box_close(&b);
    }
}

/* The root is the home: what no tool may access stays out of reach. */
static void hides_keys(void)
{
    static const struct row rows[] = {
        { "a key", "read_file", "{'path':'.ssh/id'}", "no tool may access" },
        { "by an absolute path", "read_file", NULL, "no tool may access" },
        { "by a link", "read_file", "{'path':'link/id'}",
          "no tool may access" },
        { "a file", "read_file", "{'path':'.netrc'}",
          "no tool may access" },
        { "its kind", "file_info", "{'path':'.ssh/id'}",
          "no tool may access" },
        { "its folder", "list_directory", "{'path':'.ssh','all':true}",
          "no tool may access" },
        { "in all files", "grep", "{'pattern':'secret','all':true}",
          "[no matches in 1 files]\n" },
        { "in a folder", "grep", "{'pattern':'secret','path':'link'}",
          "no tool may access" },
        { "names", "glob", "{'pattern':'**','all':true}",
          "link\nplain\n" },
        { "replaced", "write_file", "{'path':'.netrc','content':''}",
          "no tool may access" },
        { "added", "append_to_file",
          "{'path':'link/authorized_keys','content':'x'}",
          "no tool may access" },
        { "another file", "read_file", "{'path':'plain'}",
          "     1\ttext\n" },
    };
    const char *home = getenv("HOME");
    for (int by_steps = 0; by_steps < 2; by_steps++) {
        struct box b;
        char args[300];
        box_open(&b, "code");
        if (b.box)
            builtins_env(b.box->builtins)->by_steps = by_steps;
        make_folder(&b, ".ssh");
        external_file(".ssh/id", "secret\n");
        external_file(".netrc", "secret\n");
        external_file("plain", "text\n");
        make_link(&b, ".ssh", "link");
        setenv("HOME", b.root, 1);
        snprintf(args, sizeof args, "{'path':'%s/.ssh/id'}", b.root);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct row row = rows[i];
            row.args = row.args ? row.args : args;
            check_answer(&b, &row);
        }
        setenv("HOME", home ? home : "/", 1);
        box_close(&b);
    }
}

/* The variables of this process are there. */
static void hides_processes(void)
{
    static const struct row rows[] = {
        { "variables", "read_file", "{'path':'proc/self/environ'}",
          "no tool may access" },
        { "all of them", "grep",
          "{'pattern':'x','path':'/proc/self'}",
          "no tool may access" },
        { "another file", "file_info", "{'path':'/bin'}", "folder" },
    };
    struct box b;
    box_open(&b, NULL);
    b.root = "/";
    box_renew(&b, ALLM(toolbox_opts, .root = NULL));
    CHECK_INT(allm_toolbox_add_builtin(b.box, "read"), ALLM_OK);
    CHECK_CALLS(&b, rows);
    box_close(&b);
}

static void accepts_the_path_of_the_root(void)
{
    struct box b;
    char args[200];
    box_open(&b, "read");
    external_file("a", "x\n");
    snprintf(args, sizeof args, "{'path': '%s/a'}", b.root);
    CHECK_TEXT(box_call(&b, "read_file", args), "     1\tx\n");
    snprintf(args, sizeof args, "{'path': '%s'}", b.root);
    CHECK_TEXT(box_call(&b, "list_directory", args), "file    a  2\n");
    snprintf(args, sizeof args, "{'path': '%sx/a'}", b.root);
    const char *got = box_call(&b, "read_file", args);
    CHECK_WHY(strstr(got, "outside_root") != NULL, got);
    box_close(&b);
}

static void says_that_the_root_is_gone(void)
{
    struct box b;
    box_open(&b, "code");
    CHECK_ALWAYS(!rmdir(b.root));
    const char *got = box_call(&b, "list_directory", "{}");
    CHECK_WHY(strstr(got, "the root /tmp/allm-test-") != NULL, got);
    CHECK_ALWAYS(!symlink("/etc", b.root));     /* it leads elsewhere now */
    got = box_call(&b, "read_file", "{'path': 'passwd'}");
    CHECK_WHY(strstr(got, "the root /tmp/allm-test-") != NULL, got);
    got = box_call(&b, "write_file", "{'path': 'allm-test', 'content': ''}");
    CHECK_WHY(strstr(got, "the root /tmp/allm-test-") != NULL, got);
    CHECK_ALWAYS(!unlink(b.root));
    box_close(&b);
}

static void lists_folders(void)
{
    static const struct row rows[] = {
        { "a folder", "list_directory", "{}",
          "file    a.c  3\nfolder  d/\nlink    l -> a.c\n"
          "[2 names that begin with a dot; set all to see them]\n" },
        { "all", "list_directory", "{'all': true}",
          "file    .gitignore  4\nfile    .x  0\nfile    a.c  3\nfolder  d/\n"
          "link    l -> a.c\n" },
        { "an empty one", "list_directory", "{'path': 'd/empty'}",
          "[the folder is empty]\n" },
        { "some", "list_directory", "{'limit': 1}",
          "file    a.c  3\n[2 more; raise limit, or choose a folder]\n"
          "[2 names that begin with a dot; set all to see them]\n" },
        { "a file", "list_directory", "{'path': 'a.c'}", "is not a folder" },
        { "a tree", "tree", "{'path': 'd'}",
          "d\n"
          "\xE2\x94\x9C\xE2\x94\x80\xE2\x94\x80 e/\n"
          "\xE2\x94\x82   \xE2\x94\x94\xE2\x94\x80\xE2\x94\x80 b.c\n"
          "\xE2\x94\x94\xE2\x94\x80\xE2\x94\x80 empty/\n" },
        { "one level of it", "tree", "{'path': 'd', 'depth': 1}",
          "d\n"
          "\xE2\x94\x9C\xE2\x94\x80\xE2\x94\x80 e/\n"
          "\xE2\x94\x94\xE2\x94\x80\xE2\x94\x80 empty/\n" },
        { "all of it", "tree", "{'path': 'd/e', 'all': true}",
          "d/e\n"
          "\xE2\x94\x9C\xE2\x94\x80\xE2\x94\x80 b.c\n"
          "\xE2\x94\x94\xE2\x94\x80\xE2\x94\x80 b.o\n" },
        { "paths", "glob", "{'pattern': '**/*.c'}", "d/e/b.c" },
        { "paths in a folder", "glob",
          "{'pattern': '*.{c,h}', 'path': 'd/e'}", "d/e/b.c\n" },
        { "only there", "glob", "{'pattern': '*.c'}", "a.c\n" },
        { "excluded ones", "glob", "{'pattern': '**/*.o'}",
          "[no paths match]\n" },
        { "all paths", "glob", "{'pattern': '**/*.o', 'all': true}",
          "d/e/b.o\n" },
        { "not valid", "glob", "{'pattern': 'a['}", "is not valid" },
        { "facts", "file_info", "{'path': 'a.c'}",
          "sha256: "
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "of a folder", "file_info", "{'path': 'd'}", "kind: folder" },
    };
    struct box b;
    box_open(&b, "read");
    external_file("a.c", "abc");
    external_file(".x", "");
    external_file(".gitignore", "*.o\n");
    make_folder(&b, "d");
    make_folder(&b, "d/empty");
    make_folder(&b, "d/e");
    external_file("d/e/b.c", "");
    external_file("d/e/b.o", "");
    make_link(&b, "a.c", "l");
    CHECK_CALLS(&b, rows);
    const char *got = box_call(&b, "file_info", "{'path': 'a.c'}");
    CHECK_WHY(strstr(got, "lines: 1\n") && strstr(got, "mode: 0644\n"), got);
    box_close(&b);
}

static void shows_the_newest_first(void)
{
    struct box b;
    struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    box_open(&b, "glob");
    const char *names[] = { "a", "b", "c" };
    for (int i = 0; i < 3; i++) {
        const char *path = external_file(names[i], "");
        times[1].tv_sec = 1000 + i % 2;
        CHECK_ALWAYS(!utimensat(-1, path, times, 0));
    }
    CHECK_TEXT(box_call(&b, "glob", "{'pattern': '*'}"), "b\na\nc\n");
    CHECK_TEXT(box_call(&b, "glob", "{'pattern': '*', 'limit': 1}"),
               "b\n[2 more paths; raise limit, or use a narrower pattern]\n");
    box_close(&b);
}

#define BINARY "[1 binary files left out]\n"

static void finds_text(void)
{
    static const struct row rows[] = {
        { "a string", "grep", "{'pattern': 'two'}",
          "a.txt:2:two\nd/b.txt:1:two\n" BINARY },
        { "a pattern", "grep", "{'pattern': '^t.*e$'}",
          "a.txt:3:three\n" BINARY },
        { "in a file", "grep", "{'pattern': 'two', 'path': 'a.txt'}",
          "a.txt:2:two\n" },
        { "in a folder", "grep", "{'pattern': 'two', 'path': './d/'}",
          "d/b.txt:1:two\n" },
        { "names", "grep", "{'pattern': 'two', 'glob': 'b.*'}",
          "d/b.txt:1:two\n" },
        { "paths", "grep", "{'pattern': 'two', 'glob': 'd/**'}",
          "d/b.txt:1:two\n" },
        { "either case", "grep", "{'pattern': 'TWO', 'ignore_case': true}",
          "a.txt:2:two\nd/b.txt:1:two\n" BINARY },
        { "a pattern in either case", "grep",
          "{'pattern': 'O[NM]e?$', 'ignore_case': true}",
          "a.txt:1:one\n" BINARY },
        { "context", "grep",
          "{'pattern': 'two|five', 'context': 1, 'path': 'a.txt'}",
          "a.txt-1-one\na.txt:2:two\na.txt-3-three\na.txt-4-four\n"
          "a.txt:5:five\na.txt-6-six\n" },
        { "context in two pieces", "grep",
          "{'pattern': 'one|six', 'context': 1, 'path': 'a.txt'}",
          "a.txt:1:one\na.txt-2-two\n--\na.txt-5-five\na.txt:6:six\n"
          "a.txt-7-seven\n" },
        { "a limit", "grep", "{'pattern': 'o', 'limit': 1}",
          "a.txt:1:one\n[stopped after 1 matches; narrow the search, or raise "
          "limit]\n" },
        { "excluded files", "grep", "{'pattern': 'hidden'}",
          "[no matches in 3 files]\n" BINARY },
        { "all files", "grep", "{'pattern': 'hidden', 'all': true}",
          "x.o:1:hidden\n" BINARY },
        { "not valid", "grep", "{'pattern': 'a('}", "invalid_arguments" },
        { "a glob that is not valid", "grep",
          "{'pattern': 'two', 'glob': 'a['}", "invalid_arguments" },
        { "back references", "grep", "{'pattern': '(a)\\\\1'}",
          "back references are not supported" },
        { "no pattern", "grep", "{}", "invalid_arguments" },
        { "no such file", "grep", "{'pattern': 'x', 'path': 'no'}",
          "there is no file or folder no" },
    };
    struct box b;
    box_open(&b, "read");
    external_file("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    make_folder(&b, "d");
    external_file("d/b.txt", "two");
    external_file("x.o", "hidden\n");
    external_file(".gitignore", "*.o\n.gitignore\n");
    write_bytes(&b, "bin", "two\0", 4);
    CHECK_CALLS(&b, rows);
    box_close(&b);
}

/* Matches and context do not depend on where a window of the file ends. */
static void finds_text_across_windows(void)
{
    enum { LINES = 60000 };
    struct box b;
    static char text[LINES * 16];
    size_t n = 0;
    box_open(&b, "grep,read_file,file_info");
    for (int i = 1; i <= LINES; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "line %d\n", i);
    write_bytes(&b, "f", text, n);
    for (int i = 1; i <= LINES && check_whole(); i += 4999) {
        char args[100], want[200];
        snprintf(args, sizeof args, "{'pattern': 'line %d$', 'context': 1}", i);
        snprintf(want, sizeof want, "f:%d:line %d\nf-%d-line %d\n", i, i, i + 1,
                 i + 1);
        const char *got = box_call(&b, "grep", args);
        CHECK_WHY(strstr(got, want) != NULL, got);
        snprintf(args, sizeof args, "{'path': 'f', 'offset': %d, 'limit': 1}",
                 i);
        snprintf(want, sizeof want, "%6d\tline %d\n[%d more lines", i, i,
                 LINES - i);
        got = box_call(&b, "read_file", args);
        CHECK_WHY(strstr(got, want) != NULL, got);
    }
    CHECK(strstr(box_call(&b, "file_info", "{'path': 'f'}"), "lines: 60000\n"));
    box_close(&b);
}

static void ends_with_its_toolbox(void)
{
    struct box b;
    box_open(&b, "grep");
    external_file("a", "x\n");
    allm_stream *s = box_start(&b, "grep", "{'pattern': 'x'}");
    allm_stream_next(s, NULL);
    allm_toolbox_free(b.box);
    b.box = NULL;
    allm_stream_free(s);
    box_close(&b);
}

TESTS = {
    TEST(adds_names_and_groups),
    TEST(names_what_is_known),
    TEST(reports_the_reach),
    TEST(reads_lines),
    TEST(reads_odd_files),
    TEST(stays_in_the_root),
    TEST_ONCE(hides_keys),
    TEST_ONCE(hides_processes),
    TEST(accepts_the_path_of_the_root),
    TEST(says_that_the_root_is_gone),
    TEST(lists_folders),
    TEST(shows_the_newest_first),
    TEST(finds_text),
    TEST_ONCE(finds_text_across_windows),
    TEST(ends_with_its_toolbox),
    TESTS_END,
};
