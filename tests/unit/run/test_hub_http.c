/*
 * test_hub_http.c - a hub in the caller's event loop, over real sockets
 *
 * Ten streams at once from a server on this machine, which sends each answer
 * in pieces and waits before each until all ten have come so far.  The loop is
 * poll() or epoll_wait(), with the hub's timeout or by its descriptor alone.
 * Wake-ups are counted: there is a bound while pieces come, and none while the
 * server is silent.  So are checks of the descriptors.
 *
 * tag: thread
 * tag: clock
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

enum { STREAMS = 10, PIECES = 3 };
enum { PATIENCE = 20000 };      /* ms; only a broken test waits so long */

/* Nothing to do for so many ms; libcurl looks again 200 ms after it began to
 * connect. */
enum { QUIET = 300 };

/* A connection is made and written to, then each piece comes; the first visit
 * is for the streams that were added. */
enum { MOST_WAKES = 1 + STREAMS * (PIECES + 3) };

#define EVENT(text) \
    "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" \
    text "\"},\"finish_reason\":null}]}\n\n"
#define LAST \
    "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{}," \
    "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

static const struct server_step pieces[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
               "Connection: close\r\n\r\n" EVENT("a")),
    SERVER_PAUSE,
    SERVER_SAY(EVENT("b")),
    SERVER_PAUSE,
    SERVER_SAY(EVENT("c") LAST),
    SERVER_CLOSE
};

static const struct server_step one_piece[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
               "\r\n" EVENT("a") LAST),
    SERVER_CLOSE
};

/* ---------------------------------- reads of the wake-up fd, and checks --- */

/* In this thread only eventfds are read with read(), eight bytes each. */
static _Thread_local bool counting;
static size_t reads, empty_reads, checks;

int epoll_wait(int set, struct epoll_event *events, int most, int ms)
{
    checks += counting;
    return epoll_pwait(set, events, most, ms, NULL);
}

ssize_t read(int fd, void *to, size_t len)
{
    ssize_t n = readv(fd, &(struct iovec){ to, len }, 1);
    if (counting && len == sizeof(uint64_t)) {
        reads++;
        empty_reads += n < 0 && errno == EAGAIN;
    }
    return n;
}

/* ------------------------------------------------------------- the loop --- */

struct turns {
    struct server *server;
    allm_engine *engine;
    allm_hub *hub;
    allm_stream *streams[STREAMS];
    int set;                    /* of epoll; -1: poll() is the loop */
    bool watches_time;          /* asks allm_hub_timeout(), too */
    size_t wakes, ended;
};

static bool begin(struct turns *l, const struct server_step *steps)
{
    l->server = server_new();
    if (!l->server) {
        check_skip("there are no sockets here");
        return false;
    }
    server_play_always(l->server, steps);
    l->engine = play_engine_at(server_port(l->server));
    l->hub = allm_hub_new(NULL);
    for (int i = 0; i < STREAMS; i++) {
        l->streams[i] = play_call_with(l->engine,
                                       ALLM(call_opts, .api_key = "k"));
        CHECK_INT(allm_hub_add(l->hub, l->streams[i], NULL), ALLM_OK);
    }
    return true;
}

static void end(struct turns *l)
{
    for (int i = 0; i < STREAMS; i++)
        allm_stream_free(l->streams[i]);
    allm_hub_free(l->hub);
    allm_engine_free(l->engine);
    server_free(l->server);
}

static void visit(struct turns *l)
{
    allm_stream *s;
    while ((s = allm_hub_wait(l->hub, 0, NULL))) {
        allm_status status;
        while ((status = allm_stream_next(s, NULL)) == ALLM_EVENT)
            ;
        l->ended += status != ALLM_AGAIN;
    }
}

/* Wait for the hub or for news of the server.  True: the hub has woken us. */
static bool hub_wakes(struct turns *l, int ms, bool *news)
{
    struct pollfd fds[] = { { .fd = allm_hub_fd(l->hub), .events = POLLIN },
                            { .fd = wake_fd(server_news(l->server)),
                              .events = POLLIN } };
    struct epoll_event events[2];
    if (l->set < 0) {
        poll(fds, 2, ms);
        *news = fds[1].revents;
        return fds[0].revents;
    }
    bool woken = false;
    *news = false;
    for (int n = epoll_wait(l->set, events, 2, ms); n-- > 0;)
        *(events[n].data.fd == fds[0].fd ? &woken : news) = true;
    return woken;
}

/* One turn of the loop; false: nothing happened for too long, or far too
 * often. */
static bool turn(struct turns *l)
{
    int ms = l->watches_time ? allm_hub_timeout(l->hub) : -1;
    bool patient = ms < 0 || ms > PATIENCE, news;
    bool woken = hub_wakes(l, patient ? PATIENCE : ms, &news);
    if (news) {
        counting = false;
        wake_clear(server_news(l->server));
        counting = true;
    }
    if (woken || !news) {
        l->wakes++;
        visit(l);
    }
    return (woken || news || !patient) && l->wakes < 10 * (size_t)MOST_WAKES;
}

/* Until so much was sent, and the hub has read it. */
static void run_until(struct turns *l, size_t sent)
{
    struct pollfd fd = { .fd = allm_hub_fd(l->hub), .events = POLLIN };
    while (check_whole() && server_look(l->server).sent < sent &&
           CHECK(turn(l)))
        ;
    while (check_whole() && poll(&fd, 1, QUIET) == 1 && CHECK(turn(l)))
        ;
}

/* ------------------------------------------------------------- the four --- */

static void watch(struct turns *l, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
    if (l->set >= 0)
        CHECK(epoll_ctl(l->set, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void play(struct turns *l)
{
    size_t sent = 0;
    if (!begin(l, pieces))
        return;
    watch(l, allm_hub_fd(l->hub));
    watch(l, wake_fd(server_news(l->server)));
    reads = empty_reads = 0;
    counting = true;
    for (int i = 0; check_whole() && i < PIECES - 1; i++) {
        struct pollfd fd = { .fd = allm_hub_fd(l->hub), .events = POLLIN };
        sent += STREAMS * pieces[2 * i].len;
        run_until(l, sent);
        CHECK_INT(poll(&fd, 1, QUIET), 0);      /* it sleeps */
        for (int go = 0; go < STREAMS; go++)
            server_go(l->server);
    }
    while (check_whole() && l->ended < STREAMS && CHECK(turn(l)))
        ;
    counting = false;
    for (int i = 0; i < STREAMS; i++) {
        const allm_response *r = allm_stream_response(l->streams[i]);
        CHECK_TEXT(r ? r->output_text : "", "abc");
    }
    printf("# %zu wake-ups, %zu reads of the bell\n", l->wakes, reads);
    CHECK(l->wakes <= MOST_WAKES);
    CHECK_INT(reads, 0);                /* no other thread rang */
    counting = true;
    wake_clear(server_news(l->server));
    counting = false;
    CHECK_INT(reads, 1);                /* reads are counted */
    end(l);
}

static void ten_answers_come_through_poll(void)
{
    for (int i = 0; i < 2; i++) {
        check_row(i ? "descriptor and time" : "the descriptor alone");
        play(&(struct turns){ .set = -1, .watches_time = i });
    }
}

static void ten_answers_come_through_epoll(void)
{
    for (int i = 0; i < 2; i++) {
        int set = epoll_create1(EPOLL_CLOEXEC);
        check_row(i ? "descriptor and time" : "the descriptor alone");
        play(&(struct turns){ .set = set, .watches_time = i });
        close(set);
    }
}

/* Ten streams that are ready are found by one check; another one finds that
 * there are no more. */
static void streams_that_are_ready_share_a_check(void)
{
    struct turns l = { .set = -1 };
    size_t sent = STREAMS * pieces[0].len;
    if (!begin(&l, pieces))
        return;
    run_until(&l, sent);
    for (int go = 0; go < STREAMS; go++)
        server_go(l.server);
    sent += STREAMS * pieces[2].len;
    struct pollfd news = { wake_fd(server_news(l.server)), POLLIN, 0 };
    while (check_whole() && server_look(l.server).sent < sent &&
           CHECK_INT(poll(&news, 1, PATIENCE), 1))
        wake_clear(server_news(l.server));
    checks = 0;
    counting = true;
    visit(&l);
    counting = false;
    CHECK_INT(checks, 2);
    end(&l);
}

/* An engine that refuses this machine is not carried by the client of one that
 * does not, whichever comes first; nor by that of the hub. */
static void each_engine_has_its_own_options(void)
{
    for (int i = 0; i < 3; i++) {
        struct server *server = server_new();
        if (!server) {
            check_skip("there are no sockets here");
            return;
        }
        server_play_always(server, one_piece);
        const allm_net_opts plain = { .size = sizeof plain, .proxy = "" };
        allm_net_opts strict = plain;
        strict.public_only = 1;
        allm_engine *e[2];
        allm_stream *s[2];
        allm_hub *hub =
            allm_hub_new(ALLM(hub_opts, .net = i == 2 ? &plain : NULL));
        for (int k = 0; k < 2; k++) {
            bool is_strict = k == (i == 1);
            e[k] = play_engine_with(server_port(server),
                                    is_strict ? &strict : &plain);
            s[k] = play_call_with(e[k], ALLM(call_opts, .api_key = "k"));
            CHECK_INT(allm_hub_add(hub, s[k], NULL), ALLM_OK);
            while (allm_hub_count(hub) && allm_hub_wait(hub, PATIENCE, NULL))
                while (allm_stream_next(s[k], NULL) == ALLM_EVENT)
                    ;
            const allm_error *error = allm_stream_error(s[k]);
            CHECK(is_strict ? error && strstr(error->message, "private")
                            : !error);
        }
        for (int k = 0; k < 2; k++)
            allm_stream_free(s[k]);
        allm_hub_free(hub);
        for (int k = 0; k < 2; k++)
            allm_engine_free(e[k]);
        server_free(server);
    }
}

TESTS = {
    TEST_ONCE(ten_answers_come_through_poll),
    TEST_ONCE(ten_answers_come_through_epoll),
    TEST_ONCE(streams_that_are_ready_share_a_check),
    TEST_ONCE(each_engine_has_its_own_options),
    TESTS_END,
};
