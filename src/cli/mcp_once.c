/*
 * mcp_once.c - one request to an MCP server
 *
 * A request blocks its thread, and a form of the server needs the one that owns
 * the terminal.  So if there is a terminal, another thread sends the request.
 */
#include "cli/mcp_once.h"

#include "cli/form_queue.h"
#include "cli/forms.h"
#include "cli/print.h"
#include "cli/question.h"
#include "cli/settings.h"
#include "cli/toolbox.h"
#include "cli/toolbox_servers.h"
#include "conf/member.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct request {
    allm_toolbox *box;
    const char *server, *method;
    const allm_json *params;
    allm_json *result;
    int done[2]; /* closed at the end */
};

static void *send_request(void *ud)
{
    struct request *r = ud;
    r->result = allm_toolbox_request(r->box, r->server, r->method, r->params,
                                     0);
    close(r->done[1]);
    return NULL;
}

/* Answer forms until the request has ended. */
static void answer_meanwhile(struct request *r)
{
    struct pollfd fds[] = { { .fd = r->done[0], .events = POLLIN },
                            { .fd = form_queue_fd(), .events = POLLIN } };
    while (poll(fds, 2, -1) < 0 || !fds[0].revents)
        if (fds[1].revents)
            form_queue_answer();
}

static void run_request(struct request *r, bool asks)
{
    pthread_t thread;
    if (!asks || pipe(r->done)) {
        r->done[1] = -1;
        send_request(r);
        return;
    }
    if (pthread_create(&thread, NULL, send_request, r)) {
        send_request(r);
    } else {
        answer_meanwhile(r);
        pthread_join(thread, NULL);
    }
    close(r->done[0]);
}

static allm_json *report_no_result(const char *name, const allm_error *error,
                                   allm_json *result)
{
    print_fault("the MCP server %.100s: %s", name,
                error ? error->message : "out of memory");
    allm_json_free(result);
    return NULL;
}

allm_json *mcp_once_request(const char *name, const allm_json *entry,
                            const char *method, const allm_json *params)
{
    bool asks = question_possible() && form_queue_open(forms_ask);
    struct request r = { .server = name, .method = method, .params = params };
    const char *folder = settings_text("tools.root");
    char root[PLACES_PATH];
    r.box = allm_toolbox_new(
        ALLM(toolbox_opts, .sandbox = toolbox_mode(settings_text("sandbox")),
             .root = folder && settings_path("tools.root", folder, root) ? root
                                                                         : NULL,
             .grants = settings_value("tools.grant"),
             .elicit = asks ? form_queue_take : NULL));
    const allm_error *error = allm_toolbox_error(r.box);
    if (!error && allm_toolbox_add_server(r.box, name, entry) < 0)
        error = allm_toolbox_error(r.box);
    if (!error) {
        run_request(&r, asks);
        error = allm_json_error(r.result);
    }
    if (error || !r.result)
        r.result = report_no_result(name, error, r.result);
    allm_toolbox_free(r.box);
    form_queue_close();
    return r.result;
}

allm_json *mcp_once_ask(const char *word, const char *method,
                        const allm_json *params)
{
    char name[65] = "";
    allm_json *entry = toolbox_servers_entry(word, name);
    allm_json *result = entry ? mcp_once_request(name, entry, method, params)
                              : NULL;
    if (entry && !result && !strpbrk(word, "/ ") &&
        !toolbox_servers_knows(word))
        print_note("there is no server \"%.100s\" in your settings (allm mcp "
                   "list shows them)",
                   word);
    allm_json_free(entry);
    return result;
}

allm_json *mcp_once_pairs(const char *const *words, size_t count)
{
    allm_json_build *b = member_new_object();
    for (size_t i = 0; i < count; i += 2)
        member_text(b, words[i], words[i + 1]);
    return member_done(b);
}

allm_json *mcp_once_params(const char *name, const allm_json *arguments)
{
    allm_json_build *b = member_new_object();
    member_text(b, "name", name);
    if (arguments)
        member_value(b, "arguments", arguments);
    return member_done(b);
}

void mcp_once_text(const allm_json *part, struct bytes *out)
{
    size_t len = 0;
    const allm_json *inner = allm_json_get(part, "resource");
    const char *text =
        allm_json_text(allm_json_get(inner ? inner : part, "text"), &len);
    const char *type = member_read(part, "type");
    const char *uri = member_read(inner ? inner : part, "uri");
    if (out->len && out->ptr[out->len - 1] != '\n')
        bytes_byte(out, '\n');
    if (text)
        bytes_add(out, text, len);
    else
        bytes_format(out, "[%s%s%s]", type ? type : "binary", uri ? " " : "",
                     uri ? uri : "");
}
