#!/bin/sh
# libuv.sh - a hub in the loop of libuv: one uv_poll_t and one uv_timer_t
#
# First 50 streams of the scripted model, then ten responses over HTTP from
# server.py.
#
# Skipped if libuv or its header is not installed.
set -u

source=${SOURCE_DIR:-.}
build=${BUILD_DIR:-build/main}
temp=$(mktemp -d) || exit 1
server=
trap 'rm -rf "$temp"; [ -z "$server" ] || kill "$server"' EXIT

skip() { # skip WHY
    echo "ok - # skipped: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

# On some systems only Node installs the header.
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
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { MOST = 50 };

static const char script[] =
    "{\"scripts\": [[[\"text\", \"a\"], [\"delay\", 2], [\"text\", \"b\"],"
    " [\"delay\", 1], [\"text\", \"c\"]]]}";

static allm_hub *hub;
static uv_poll_t readable;
static uv_timer_t timer;
static uv_timer_t patience;     /* only a broken test waits so long */
static int ended, events, turns, stuck;

static void on_timer(uv_timer_t *t);

static void turn(void)
{
    allm_stream *stream;
    turns++;
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

static allm_engine *make_engine(const char *model, const char *opts)
{
    allm_json *v = allm_json_parse(opts, strlen(opts), NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = model, .adapter_opts = v,
             .net = ALLM(net_opts, .proxy = "")));
    allm_json_free(v);
    return engine;
}

static int is_abc(const allm_stream *s)
{
    const allm_response *r = allm_stream_response(s);
    return r && !strcmp(r->output_text, "abc");
}

/* usage: loop [MODEL OPTS COUNT MOST_TURNS] */
int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    allm_engine *engines[MOST];
    allm_stream *streams[MOST];
    int count = argc > 3 ? atoi(argv[3]) : MOST, good = 0;
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    hub = allm_hub_new(NULL);
    for (int i = 0; i < count; i++) {
        engines[i] = make_engine(argc > 3 ? argv[1] : "fake:m",
                                 argc > 3 ? argv[2] : script);
        streams[i] = allm_generate(
            engines[i], ALLM(request, .message_count = 1, .messages = &hi),
            ALLM(call_opts, .api_key = "k"));
        allm_hub_add(hub, streams[i], NULL);
    }
    uv_timer_init(loop, &timer);
    uv_timer_init(loop, &patience);
    uv_timer_start(&patience, give_up, 30000, 0);
    uv_poll_init(loop, &readable, allm_hub_fd(hub));
    uv_poll_start(&readable, UV_READABLE, on_readable);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_poll_stop(&readable);
    for (int i = 0; i < count; i++) {
        good += is_abc(streams[i]);
        allm_stream_free(streams[i]);
        allm_engine_free(engines[i]);
    }
    allm_hub_free(hub);
    fprintf(stderr, "# %d wake-ups\n", turns);
    printf("%d ended, %d right, %d events, %s, %s\n", ended, good, events,
           stuck ? "stuck" : "in time",
           turns <= (argc > 4 ? atoi(argv[4]) : MOST * 20) ? "asleep"
                                                           : "spins");
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

passed=0 failed=0
expect() { # expect WHY WANT GOT
    if [ "$2" = "$3" ]; then
        echo "ok - $1"
        passed=$((passed + 1))
    else
        echo "not ok - $1: $3"
        failed=$((failed + 1))
    fi
}

expect "50 streams end in the loop of libuv" \
    "50 ended, 50 right, 300 events, in time, asleep" "$("$temp/loop")"

# Per connection: connect, write, and three reads.
mkfifo "$temp/port"
python3 "$source/tests/foreign/server.py" 10 >"$temp/port" &
server=$!
read -r port <"$temp/port"
got=$("$temp/loop" openai:m "{\"base_url\": \"http://127.0.0.1:$port/v1\"}" \
    10 61)
expect "ten answers come over HTTP in the loop of libuv" \
    "10 ended, 10 right, 60 events, in time, asleep" "$got"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
