/* write_file.c - the tools write_file and append_to_file */
#include "toolbox/builtin.h"
#include "toolbox/lines.h"
#include "json/json.h"

#include <errno.h>

static void write_with(struct builtin_call *c, enum root_how how)
{
    const char *path = builtin_text(c, "path", "");
    struct slice content = json_text_at(c->args, "content");
    uint64_t size;
    bool created;
    int error = root_write(&c->root, &c->arena, path, content, how, &size,
                           &created);
    if (error) {
        builtin_path_fault(c, path, error);
        return;
    }
    size_t lines = lines_count(content);
    if (how == ROOT_APPEND)
        buf_format(&c->out, "%s has %llu bytes now\n", path,
                   (unsigned long long)size);
    else
        buf_format(&c->out, "%s %s, %zu line%s\n",
                   created ? "created" : "replaced", path, lines,
                   lines == 1 ? "" : "s");
    builtin_answer(c);
}

void write_file_run(struct builtin_call *c)
{
    write_with(c, ROOT_REPLACE);
}

void append_to_file_run(struct builtin_call *c)
{
    write_with(c, ROOT_APPEND);
}
