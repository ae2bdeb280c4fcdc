/* tools.h - scripted tools, and batches of their calls */
#pragma once

#include "base/clock.h"
#include "tool/batch.h"

/*
 * What a tool does, as text ('...' for "..." in JSON):
 *
 *      ok:JSON  text:T  fail:T  ask:Q  ask2:Q (with opts)  halt:REASON:JSON
 *      raise:T  none  twice  bad (an invalid value)  echo  context
 *      see (ids and call)  later:MS:SCRIPT
 */
void tools_do(allm_tool_run *run, const allm_json *args, void *script);
#define TOOLS_SCRIPT(script) ((void *)(uintptr_t)(script))

enum { TOOLS_MOST = 32 };

struct tools_bench {
    struct clock_manual clock;
    struct tool_env env;            /* with the clock above, without threads */
    struct batch_opts opts;
    size_t tool_count, call_count;
    allm_tool *tools[TOOLS_MOST];
    allm_tool_call *calls[TOOLS_MOST];
    struct batch *batch;
    bool started;                   /* also when out of memory */
    int rings;
};

void tools_init(struct tools_bench *t);
void tools_release(struct tools_bench *t);

/* Add a tool that never blocks; the script must stay valid.  NULL: no
 * function. */
void tools_add(struct tools_bench *t, const char *name, const char *script);
void tools_add_fields(struct tools_bench *t, const allm_tool *fields);

/* Add a call with the next id, c0, c1, ...; args as for noun_json(). */
void tools_call(struct tools_bench *t, const char *name, const char *args);
/* The same with the arguments only as the provider's text. */
void tools_call_raw(struct tools_bench *t, const char *name, const char *raw);

/* Create the batch. */
void tools_start(struct tools_bench *t);

/*
 * Pull to the end, advancing the clock to the batch's deadlines:
 *
 *      +c0  c0={"ok":"hi"}  c0>hi  c0?question{}  c0!reason/result/content
 *      error:unknown_tool
 *
 * and how it ended: "ok" or the error's reason.  The result is static.
 */
const char *tools_play(struct tools_bench *t);

/* The result of a call; NULL: it is not done. */
const struct tool_result *tools_at(const struct tools_bench *t, size_t index);

/* The messages, "c0=hi c1=there", then the halt if there is one.  Static. */
const char *tools_results(struct tools_bench *t);

/* Calls of one tool with one script: init, add, call, play, release. */
const char *tools_once(const char *script, allm_tool_policy policy);

/* A value as text, static. */
const char *tools_json(const allm_json *v);
