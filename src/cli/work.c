/*
 * work.c - allm work: claim the due sessions of a queue, and run them
 *
 *      thread: allm_session_claim  --pipe-->  loop: one hub, -j sessions
 *      signal handler              --pipe-->
 *
 * One thread claims, because claiming waits; the loop runs everything else.  On
 * SIGTERM the thread claims no more, the loop waits for its sessions for the
 * time of --grace, then releases them: other workers continue at once.
 *
 * Invariants
 *   (1) The thread claims only if there is room, so a claimed session always
 *       finds a free job.
 *   (2) A session whose call could not begin keeps its job, held, for REST_MS:
 *       otherwise somebody would claim it again at once.
 */
#include "cli/claims.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "cli/session_resume.h"
#include "cli/session_store.h"
#include "cli/timing.h"
#include "cli/toolbox.h"

#include <poll.h>
#include <stddef.h>

enum { MOST_JOBS = 256, JOBS = 8, GRACE_MS = 30000, REST_MS = 5000 };

static struct settings {
    const char *uri, *queue, *model;
    struct flag_list options;
    uint32_t jobs, grace_ms, lease_ms;
    bool once, ask_user, quiet;
    struct toolbox_flags toolbox;
} settings;

#define AT(member) offsetof(struct settings, member)

static const struct flag flags[] = {
    { 0, "--queue", FLAG_TEXT, AT(queue), "Q",
      "the queue; else the one without a name", .use = FLAG_MOST },
    { 'j', "--jobs", FLAG_NUMBER, AT(jobs), "N",
      "run N sessions at the same time (8)", .use = FLAG_MOST },
    { 0, "--once", FLAG_SWITCH, AT(once), NULL,
      "end when no session is due", .use = FLAG_MOST },
    { 0, "--grace", FLAG_SECONDS, AT(grace_ms), "SECONDS",
      "on SIGTERM, wait so long for the sessions (30)" },
    { 0, "--lease", FLAG_SECONDS, AT(lease_ms), "SECONDS",
      "PostgreSQL: hold sessions for so long (30)" },
    { 'm', "--model", FLAG_TEXT, AT(model), "P:M",
      "provider:model; else that of the session", FILL_MODEL,
      .use = FLAG_MOST },
    { 'o', "--option", FLAG_PAIR, AT(options), "K V",
      "an option of the provider" },
    { 0, "--ask", FLAG_SWITCH, AT(ask_user), NULL,
      "let the model ask a question" },
    { 0, "--store", FLAG_TEXT, AT(uri), "URI",
      "the store; else ALLM_STORE, else a file" },
    { 'q', "--quiet", FLAG_SWITCH, AT(quiet), NULL,
      "no notes on stderr" },
    TOOLBOX_FLAGS(AT),
    { .name = NULL },
};

struct job {
    struct session session;
    allm_stream *stream; /* NULL: it rests until rest_ms, or is free */
    int64_t rest_ms;
};

static struct work {
    allm_store *store;
    allm_hub *hub;
    struct opts options;
    struct claims claims;
    struct job job[MOST_JOBS];
    size_t jobs;
    int64_t deadline_ms; /* of --grace; 0: nobody has asked us to stop */
    bool claiming;
    int signal, code;
} work;

static const char *name_of(const struct job *j)
{
    const char *id = allm_session_fields(j->session.session)->id;
    return id ? id : "?";
}

/* The job is done: release its session. */
static void end_job(struct work *w, struct job *j)
{
    allm_stream_free(j->stream);
    allm_session_free(j->session.session);
    *j = (struct job){ 0 };
    claims_make_room(&w->claims);
}

/* Keep the session for a while: keeps (2).  With --once nobody waits for it. */
static void rest_job(struct work *w, struct job *j, int code)
{
    allm_stream_free(j->stream);
    j->stream = NULL;
    j->rest_ms = settings.once ? INT64_MAX : timing_now() + REST_MS;
    if (settings.once)
        claims_leave(&w->claims);
    w->code = code;
}

static void report_job(const struct job *j, const allm_error *error,
                       const allm_chat_result *r)
{
    allm_error *reworded = reword_error(error);
    if (error)
        print_fault("%s: %s", name_of(j),
                    (reworded ? reworded : error)->message);
    else
        print_note("%s: %s", name_of(j),
                   r && r->halted_reason ? r->halted_reason : "ended");
    allm_error_free(reworded);
}

/* The stream has ended: report it. */
static void finish_job(struct work *w, struct job *j)
{
    const allm_error *error = allm_stream_error(j->stream);
    const allm_chat_result *r = allm_stream_chat_result(j->stream);
    int code = error ? exit_of_error(error) : exit_of_chat(r);
    if (!error && r)
        error = r->error;
    if (r)
        session_save(&j->session);
    report_job(j, error, r);
    if (code != END_DONE && code != END_ASKED)
        w->code = code;
    if (r || code == END_ASKED)
        end_job(w, j);
    else
        rest_job(w, j, code);
}

/* Pull what there is. */
static void pull_job(struct work *w, struct job *j)
{
    const allm_event *event;
    allm_status status = ALLM_EVENT;
    while (status == ALLM_EVENT)
        status = allm_stream_next(j->stream, &event);
    if (status != ALLM_AGAIN)
        finish_job(w, j);
}

static struct job *find_free_job(struct work *w)
{
    for (size_t i = 0; i < w->jobs; i++)
        if (!w->job[i].session.session)
            return &w->job[i];
    return &w->job[0]; /* cannot be: (1) */
}

/* A session was claimed: begin, or continue, its operation. */
static void begin_job(struct work *w, allm_session *claimed)
{
    struct job *j = find_free_job(w);
    j->session = (struct session){ .session = claimed, .store = w->store };
    j->session.path = name_of(j);
    const struct session_resume how = { settings.model, w->options.json,
                                        settings.ask_user };
    int code = session_resume_start(&j->session, &how, &j->stream);
    if (code == END_ASKED)
        end_job(w, j);
    else if (code != END_DONE)
        rest_job(w, j, code);
    else if (allm_stream_error(j->stream) ||
             allm_hub_add(w->hub, j->stream, j) < 0)
        finish_job(w, j);
}

/* Take what the thread has sent. */
static void take_claim(struct work *w)
{
    allm_session *s = NULL;
    enum claims_news news = claims_take(&w->claims, &s);
    const allm_error *error = allm_session_error(s);
    if (news == CLAIMS_ENDED) {
        w->claiming = false;
    } else if (error) {
        w->code = session_store_fail(error);
        allm_session_free(s);
        claims_make_room(&w->claims);
    } else {
        begin_job(w, s);
    }
}

/* End the jobs whose rest is over. */
static void wake_jobs(struct work *w, int64_t now)
{
    for (size_t i = 0; i < w->jobs; i++)
        if (w->job[i].rest_ms && w->job[i].rest_ms <= now)
            end_job(w, &w->job[i]);
}

/* A signal: claim no more, and wait until the deadline; a second one: do not
 * wait. */
static void begin_end(struct work *w)
{
    int number = claims_take_signal(&w->claims);
    w->deadline_ms = timing_now() + (w->signal ? 0 : settings.grace_ms);
    w->signal = number;
    claims_stop(&w->claims);
}

static int choose_timeout(const struct work *w)
{
    int64_t now = timing_now(), next = now + 60000;
    int hub = allm_hub_timeout(w->hub);
    if (hub >= 0 && now + hub < next)
        next = now + hub;
    if (w->deadline_ms && w->deadline_ms < next)
        next = w->deadline_ms;
    for (size_t i = 0; i < w->jobs; i++)
        if (w->job[i].rest_ms && w->job[i].rest_ms < next)
            next = w->job[i].rest_ms;
    return next > now ? (int)(next - now) : 0;
}

/* The number of sessions that run. */
static size_t count_running(const struct work *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->jobs; i++)
        n += w->job[i].stream != NULL;
    return n;
}

static bool is_over(const struct work *w)
{
    if (w->claiming)
        return false;
    return !count_running(w) ||
           (w->deadline_ms && timing_now() >= w->deadline_ms);
}

static void run_loop(struct work *w)
{
    void *tag;
    while (!is_over(w)) {
        struct pollfd fds[3] = {
            { .fd = claims_fd(&w->claims), .events = POLLIN },
            { .fd = claims_signal_fd(&w->claims), .events = POLLIN },
            { .fd = allm_hub_fd(w->hub), .events = POLLIN },
        };
        poll(fds, 3, choose_timeout(w));
        if (fds[1].revents)
            begin_end(w);
        if (fds[0].revents)
            take_claim(w);
        while (allm_hub_wait(w->hub, 0, &tag))
            pull_job(w, tag);
        wake_jobs(w, timing_now());
    }
}

/* Release what still runs; the next holder continues. */
static void release_jobs(struct work *w)
{
    for (size_t i = 0; i < w->jobs; i++) {
        struct job *j = &w->job[i];
        if (j->stream) {
            print_note("%s: released", name_of(j));
            allm_session_let_go(j->session.session);
        }
        if (j->session.session)
            end_job(w, j);
    }
}

static int run_work(struct work *w)
{
    int code = session_store_open(&w->store, settings.uri, 0,
                                  settings.lease_ms);
    if (code != END_DONE)
        return code;
    w->hub = allm_hub_new(NULL);
    if (allm_hub_error(w->hub) ||
        !claims_start(&w->claims, w->store, settings.queue, w->jobs,
                      settings.once)) {
        print_fault("the worker cannot start: out of memory or descriptors");
        return END_FAILED;
    }
    w->claiming = true;
    run_loop(w);
    release_jobs(w);
    claims_end(&w->claims);
    return w->signal ? END_SIGNAL + w->signal : w->code;
}

static int run_work_command(int argc, char **argv)
{
    struct work *w = &work;
    settings.jobs = JOBS;
    settings.grace_ms = GRACE_MS;
    if (!flags_read_all("work", flags, &settings, argc, argv) ||
        !opts_read(&w->options, &settings.options))
        return END_USAGE;
    print_silence(settings.quiet);
    w->jobs = settings.jobs;
    if (w->jobs > MOST_JOBS)
        return print_misuse("-j is at most %d", MOST_JOBS);
    int code =
        toolbox_open(&(struct toolbox_wish){ .flags = &settings.toolbox });
    if (code == END_DONE)
        code = run_work(w);
    allm_hub_free(w->hub);
    session_resume_release();
    toolbox_close();
    allm_store_free(w->store);
    opts_release(&w->options);
    return code;
}

const struct command work_command = {
    .name = "work",
    .usage = "[FLAG...]",
    .summary = "run the due sessions of a queue until SIGTERM",
    .more = "A session is due when a message was sent to it (allm send), or "
            "when its last\nholder did not finish.  Workers of one queue may "
            "run on several machines.\n",
    .examples = "allm work --queue travel -m openai:gpt-5 -j 8\n",
    .flags = flags,
    .group = GROUP_STATE,
    .run = run_work_command,
};
