#!/bin/sh
# libuv.sh - a hub in the loop of libuv: one uv_poll_t and one uv_timer_t
#
# Skipped where libuv or its header is not installed.
set -u

source=${SOURCE_DIR:-.}
build=${BUILD_DIR:-build/main}
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

skip() { # skip WHY
    echo "ok - # skipped: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

# Some systems have the header of Node only.
flags=$(pkg-config --cflags libuv 2>/dev/null) || flags=-I/usr/include/node
libs=$(pkg-config --libs libuv 2>/dev/null) || libs=-l:libuv.so.1

echo '#include <uv.h>
int main(void) { return uv_version() == 0; }' >"$temp/probe.c"
# shellcheck disable=SC2086  # one word per flag
${CC:-cc} $flags "$temp/probe.c" $libs -o "$temp/probe" 2>/dev/null ||
    skip "libuv is not installed"

cat >"$temp/loop.c" <<'END'
#include <allm.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

enum { STREAMS = 50 };

static const char opts[] =
    "{\"scripts\": [[[\"text\", \"a\"], [\"delay\", 2], [\"text\", \"b\"],"
    " [\"delay\", 1], [\"text\", \"c\"]]]}";

static allm_hub *hub;
static uv_poll_t readable;
static uv_timer_t timer;
static uv_timer_t patience;     /* only a broken test waits so long */
static int ended, events, stuck;

static void on_timer(uv_timer_t *t);

static void turn(void)
{
    allm_stream *stream;
    while ((stream = allm_hub_wait(hub, 0, NULL))) {
        allm_status status;
        while ((status = allm_stream_next(stream, NULL)) == ALLM_EVENT)
            events++;
        ended += status == ALLM_OK;
    }
    int ms = allm_hub_timeout(hub);
    if (ms >= 0)
        uv_timer_start(&timer, on_timer, (uint64_t)ms, 0);
    else
        uv_timer_stop(&timer);
    if (allm_hub_count(hub) == 0)
        uv_stop(uv_default_loop());
}

static void on_timer(uv_timer_t *t)
{
    (void)t;
    turn();
}

static void on_readable(uv_poll_t *p, int status, int what)
{
    (void)p;
    (void)status;
    (void)what;
    turn();
}

static void give_up(uv_timer_t *t)
{
    stuck = 1;
    uv_stop(t->loop);
}

static allm_engine *make_engine(void)
{
    allm_json *v = allm_json_parse(opts, strlen(opts), NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = v));
    allm_json_free(v);
    return engine;
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    allm_engine *engines[STREAMS];
    allm_stream *streams[STREAMS];
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    hub = allm_hub_new(NULL);
    for (int i = 0; i < STREAMS; i++) {
        engines[i] = make_engine();
        streams[i] = allm_generate(
            engines[i], ALLM(request, .message_count = 1, .messages = &hi),
            NULL);
        allm_hub_add(hub, streams[i], NULL);
    }
    uv_timer_init(loop, &timer);
    uv_timer_init(loop, &patience);
    uv_timer_start(&patience, give_up, 30000, 0);
    uv_poll_init(loop, &readable, allm_hub_fd(hub));
    uv_poll_start(&readable, UV_READABLE, on_readable);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_poll_stop(&readable);
    for (int i = 0; i < STREAMS; i++) {
        allm_stream_free(streams[i]);
        allm_engine_free(engines[i]);
    }
    allm_hub_free(hub);
    printf("%d ended, %d events, %s\n", ended, events,
           stuck ? "stuck" : "in time");
    return 0;
}
END

# shellcheck disable=SC2086
if ! ${CC:-cc} -std=gnu11 $flags -I"$source/include" "$temp/loop.c" \
    -L"$build/src" -Wl,-rpath,"$build/src" -lallm $libs -o "$temp/loop"; then
    echo "not ok - the program compiles"
    echo "0 passed, 1 failed"
    exit 1
fi
got=$("$temp/loop")
if [ "$got" = "50 ended, 300 events, in time" ]; then
    echo "ok - 50 streams end in the loop of libuv"
    echo "1 passed, 0 failed"
else
    echo "not ok - 50 streams end in the loop of libuv: $got"
    echo "0 passed, 1 failed"
    exit 1
fi
