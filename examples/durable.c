/*
 * durable.c - a session in a store survives kill -9
 *
 * A child process begins a chat and is killed while a tool books a trip.  The
 * parent opens the same session: the library does not know whether the booking
 * took effect, so it asks.  Then the chat continues where it was.
 *
 * usage: durable [PATH]     PATH: the file of the store, which is kept
 */
#include <allm.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The tool takes effect, and the power fails. */
static void book(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)run;
    (void)args;
    (void)ud;
    raise(SIGKILL);
}

/* A scripted model.  The first process sees both answers, the second one only
 * the answer that is not recorded yet. */
static allm_engine *make_engine(bool first)
{
    const char *call = "[[\"tool_call\",{\"id\":\"c0\",\"name\":\"book\","
                       "\"arguments\":{\"to\":\"Ulm\"}}],"
                       "[\"finish\",\"tool_calls\"]],";
    const char *last = "[[\"text\",\"Your trip is booked.\"],"
                       "[\"finish\",\"stop\"]]";
    char text[512];
    int n = snprintf(text, sizeof text, "{\"scripts\":[%s%s]}",
                     first ? call : "", last);
    allm_json *opts = allm_json_parse(text, (size_t)n, NULL);
    allm_tool *tool =
        allm_tool_new(ALLM(tool, .name = "book", .description = "Books a trip",
                           .schema_text = "{\"type\":\"object\"}", .call = book,
                           .effect = ALLM_EFFECT_WRITE));
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
             .tool_count = 1, .tools = (const allm_tool *const[]){ tool }));
    allm_tool_free(tool);
    allm_json_free(opts);
    return e;
}

/* In the child: begin a chat, and die in its tool. */
static void begin_chat(const char *uri)
{
    allm_store *store = allm_store_open(uri, NULL);
    allm_session *s = allm_session_open(store, "trip", ALLM_SESSION_CREATE);
    allm_stream *stream = allm_session_reply(make_engine(true), s,
                                             "Book a trip to Ulm.", NULL);
    allm_stream_wait(stream);
    const allm_error *error = allm_stream_error(stream);
    printf("not killed: %s\n", error ? error->message : "the chat has ended");
    exit(1);
}

/* In the parent: look at what was broken off, settle it, continue. */
static int continue_chat(const char *uri)
{
    allm_store *store = allm_store_open(uri, NULL);
    allm_session *s = allm_session_open(store, "trip", ALLM_SESSION_LOCK);
    allm_engine *e = make_engine(false);
    const allm_session_record *r = allm_session_fields(s);
    const allm_json *off = allm_json_get(r->metadata, "broken_off");
    printf("broken off: %s, turn %d\n",
           allm_json_text(allm_json_get(off, "op"), NULL),
           (int)allm_json_number(allm_json_get(off, "turn")));
    printf("unknown: %s\n",
           allm_json_text(allm_json_pointer(off, "/unknown_tool_calls/0/name"),
                          NULL));

    /* A person, or the other side, knows: the trip was booked. */
    if (allm_session_settle(s, "c0", ALLM_SETTLE_HAPPENED,
                            ALLM(tool_answer, .text = "booked: ticket 7")) < 0)
        printf("%s\n", allm_session_error(s)->message);
    allm_stream *stream = allm_session_resume(e, s, NULL);
    if (allm_stream_wait(stream) != ALLM_OK)
        printf("%s\n", allm_stream_error(stream)->message);
    allm_stream_free(stream);

    size_t n = 0;
    const allm_message *const *all = allm_session_messages(s, &n);
    for (size_t i = 0; i < n; i++)
        printf("%zu  %s\n", i,
               all[i]->text && *all[i]->text ? all[i]->text : "(calls book)");
    allm_json *records = allm_store_records(store, "trip", 0, 0);
    printf("%zu records\n", allm_json_count(records));
    allm_json_free(records);
    allm_engine_free(e);
    allm_session_free(s);
    allm_store_free(store);
    return n == 4 ? 0 : 1;
}

static void remove_store(const char *folder)
{
    static const char *const names[] = { "", "-wal", "-shm", "-lock" };
    char path[128];
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/s.db%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/allm-durable-XXXXXX", uri[512];
    int how = 0;
    if (argc > 1)
        snprintf(uri, sizeof uri, "sqlite:%s", argv[1]);
    else if (mkdtemp(folder))
        snprintf(uri, sizeof uri, "sqlite:%s/s.db", folder);
    fflush(stdout);
    pid_t child = fork();       /* before a store is opened */
    if (child == 0)
        begin_chat(uri);
    waitpid(child, &how, 0);
    printf("killed: %s\n", WIFSIGNALED(how) ? "yes" : "no");
    int status = continue_chat(uri);
    if (argc == 1)
        remove_store(folder);
    return status;
}
