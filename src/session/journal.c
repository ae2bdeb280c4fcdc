/*
 * journal.c - the journal of an operation in a store: entries to records
 *
 *      MODEL_CALL    (begin) call        TOOL_RESULT   result
 *      RESPONSE      response            TURN_END      turn
 *      TOOL_INTENT   intent              END           end
 *
 * Invariants
 *   (1) An entry without `more` ends a commit.  It takes effect only when the
 *       commit is durable.
 *   (2) `begin` is in the first commit of the operation, `end` in its last.
 *   (3) After a failure nothing more is written: the operation stays open.
 */
#include "session/journal.h"

#include "base/status.h"
#include "data/encode.h"
#include "data/response.h"
#include "data/tool_call.h"
#include "session/commit.h"
#include "json/json.h"

#include <stdio.h>

/* --------------------------------------------------------------- life --- */

static const char *make_prefix(struct arena *a, const struct place *d,
                               uint64_t begin)
{
    char text[STORE_UID_LEN + 32];
    snprintf(text, sizeof text, "%s/%llu", store_session_uid(d->store),
             (unsigned long long)begin);
    return arena_text(a, text);
}

/* The calls of the resumed turn, for the note about interrupted ones. */
static bool note_resumed(struct op_journal *j, const struct fold *f)
{
    bool ok = true;
    for (size_t i = 0; ok && i < f->call_count; i++) {
        const struct fold_call *c = &f->calls[i];
        if (c->begun)
            ok = fold_note_call(&j->calls, c->id, c->name ? c->name : "",
                                false) &&
                 (!c->done || fold_note_call(&j->calls, c->id,
                                             c->name ? c->name : "", true));
    }
    return ok;
}

/* The answer and the results that are written again. */
static bool copy_again(struct op_journal *j, const allm_journal_replay *again)
{
    if (!again)
        return true;
    j->answer = allm_response_new(again->response);
    j->results = arena_zero(&j->arena,
                            (again->tool_count + 1) * sizeof *j->results);
    for (size_t i = 0; j->results && i < again->tool_count; i++)
        if (again->tools[i]->done) {
            allm_journal_tool *t = &j->results[j->result_count++];
            *t = *again->tools[i];
            t->tool_call_id = arena_text(&j->arena, t->tool_call_id);
            t->content = arena_copy(
                &j->arena, (struct slice){
                                                   t->content,
                                                   t->content_len });
            t->value = json_copy(&j->arena, t->value);
        }
    return j->results && j->answer && !allm_response_error(j->answer);
}

static bool copy_start(struct op_journal *j, const struct journal_start *start)
{
    struct arena *a = &j->arena;
    const struct fold *f = start->resumed;
    j->start = *start;
    j->start.resumed = NULL;
    j->start.again = NULL;
    j->start.thread = j->thread = allm_thread_copy(start->thread);
    j->start.op = arena_text(a, start->op);
    j->start.model = arena_text(a, start->model);
    j->start.options = json_copy(a, start->options);
    j->begun = f != NULL;
    j->begin = f ? f->begin : commit_next_seq(j->place);
    j->key_prefix = make_prefix(a, j->place, j->begin);
    fold_init(&j->calls, a);
    return (!f || note_resumed(j, f)) && copy_again(j, start->again) &&
           !a->broken && j->thread;
}

struct op_journal *journal_open(struct place *d,
                                const struct journal_start *start)
{
    struct op_journal *j = mem_alloc(d->mem, sizeof *j);
    if (!j)
        return NULL;
    *j = (struct op_journal){ .mem = d->mem, .place = d };
    arena_init(&j->arena, d->mem);
    if (copy_start(j, start))
        return j;
    journal_free(j);
    return NULL;
}

void journal_free(struct op_journal *j)
{
    if (!j)
        return;
    struct mem mem = j->mem;
    if (j->open)
        j->place->stale = true;   /* its records were never written */
    store_append_free(j->open);
    store_append_free(j->waiting);
    allm_session_record_free(j->after);
    allm_thread_free(j->thread);
    allm_response_free(j->answer);
    arena_release(&j->arena);
    mem_free(mem, j, sizeof *j);
}

/* ------------------------------------------------------------ members --- */

/* A string, or null. */
static void put_word(struct emit *e, const char *name, const char *word)
{
    emit_at(e, name);
    if (word)
        emit_text(e, slice_of(word));
    else
        emit_null(e);
}

/* A struct in its tagged form; false: out of memory. */
static bool put_struct(struct store_append *p, struct emit *e, const char *name,
                       const struct shape *shape, const void *value)
{
    emit_at(e, name);
    size_t from = emit_len(e);
    const allm_error *error = encode_to_emit(e, store_append_arena(p), shape,
                                             value, ALLM_FORM_TAGGED);
    store_append_pack(p, from);
    return !error;
}

/* ------------------------------------------------------------ records --- */

static bool put_call(struct op_journal *j, struct store_append *p,
                     const allm_journal_entry *entry)
{
    struct emit *e = store_append_open(p, "call", NULL);
    emit_member_uint(e, "turn", entry->turn);
    emit_member_uint(e, "pass", entry->pass ? entry->pass : 1);
    bool ok = commit_thread(j->place, p, entry->thread, true);
    emit_member_uint(e, "messages", allm_thread_count(entry->thread));
    emit_member_open(e, "tools", '[');
    for (size_t i = 0; i < entry->tool_count; i++)
        emit_text(e, slice_of(entry->tools[i]->name));
    emit_close(e, ']');
    store_append_value(p, "counts",
                       entry->counts ? entry->counts : json_empty_object());
    store_append_close(p);
    fold_note_turn(&j->calls);
    return ok;
}

static bool put_response(struct store_append *p, uint32_t turn,
                         const allm_response *response)
{
    struct emit *e = store_append_open(p, "response", NULL);
    emit_member_uint(e, "turn", turn);
    bool ok = put_struct(p, e, "response", &response_shape, response);
    store_append_close(p);
    return ok;
}

static const char *effect_word(allm_effect effect)
{
    return effect == ALLM_EFFECT_PURE         ? "pure"
           : effect == ALLM_EFFECT_IDEMPOTENT ? "idempotent"
                                              : "write";
}

static bool put_intent(struct op_journal *j, struct store_append *p,
                       const allm_journal_entry *entry)
{
    struct emit *e = store_append_open(p, "intent", NULL);
    emit_member_uint(e, "turn", entry->turn);
    emit_member_uint(e, "index", entry->index);
    bool ok = put_struct(p, e, "call", &tool_call_shape, entry->call);
    emit_member_word(e, "effect", effect_word(entry->effect));
    put_word(e, "key", entry->key);
    store_append_close(p);
    return fold_note_call(&j->calls, entry->call->id, entry->call->name,
                          false) &&
           ok;
}

static bool put_result(struct op_journal *j, struct store_append *p,
                       const allm_journal_entry *entry)
{
    struct slice content = { entry->content, entry->content_len };
    struct emit *e = store_append_open(p, "result", NULL);
    emit_member_uint(e, "turn", entry->turn);
    put_word(e, "id", entry->call->id);
    put_word(e, "key", entry->key);
    emit_member_bool(e, "is_error", entry->is_error);
    store_append_text(p, "content", content);
    put_word(e, "reason", entry->reason);
    store_append_value(p, "value", entry->value);
    emit_member_word(e, "by", "tool");
    store_append_close(p);
    return fold_note_call(&j->calls, entry->call->id, entry->call->name, true);
}

/* A result that an earlier operation recorded, in the same form. */
static bool put_known_result(struct op_journal *j, struct store_append *p,
                             const allm_journal_tool *t)
{
    const allm_tool_call call = { .size = sizeof call, .id = t->tool_call_id,
                                  .name = "" };
    return put_result(j, p,
                      &(allm_journal_entry){ .call = &call,
                                             .content = t->content,
                                             .content_len = t->content_len,
                                             .value = t->reason ? NULL
                                                                : t->value });
}

/* The operation holds everything that a resume of it needs. */
static bool put_again(struct op_journal *j, struct store_append *p)
{
    bool ok = !j->answer || put_response(p, 0, j->answer);
    for (size_t i = 0; ok && i < j->result_count; i++)
        ok = put_known_result(j, p, &j->results[i]);
    fold_note_turn(&j->calls);      /* they did not begin here */
    return ok;
}

static bool put_begin(struct op_journal *j, struct store_append *p)
{
    struct backend_append *c = store_append_columns(p);
    uint64_t seq = 0;
    struct emit *e = store_append_open(p, "begin", &seq);
    emit_member_word(e, "op", j->start.op);
    put_word(e, "request_id", j->request_id);
    put_word(e, "model", j->start.model);
    bool ok = commit_thread(j->place, p, j->thread, false);
    store_append_value(p, "options", j->start.options);
    store_append_close(p);
    c->open = seq;
    c->inbox_upto = j->start.inbox_upto;
    if (j->start.model)
        c->model = j->start.model;
    j->begun = true;
    return ok && seq == j->begin && put_again(j, p);
}

static bool put_turn(struct op_journal *j, struct store_append *p,
                     const allm_journal_entry *entry)
{
    const allm_step_result *step = entry->step;
    struct emit *e = store_append_open(p, "turn", NULL);
    emit_member_uint(e, "turn", entry->turn);
    bool ok = commit_thread(j->place, p, step->thread, false);
    emit_member_open(e, "manual", '[');
    for (size_t i = 0; i < step->manual_tool_call_count; i++)
        emit_text(e, slice_of(step->manual_tool_calls[i]->id));
    emit_close(e, ']');
    store_append_close(p);
    fold_note_turn(&j->calls);
    return ok;
}

static bool put_end(struct op_journal *j, struct store_append *p,
                    const char *halted, const allm_session_record *record)
{
    struct backend_append *c = store_append_columns(p);
    struct emit *e = store_append_open(p, "end", &j->end);
    put_word(e, "halted", halted);
    bool ok = commit_thread(j->place, p, record->thread, false) &&
              commit_state(p, record);
    store_append_close(p);
    c->open = 0;
    c->due = false;
    j->ended = true;
    return ok;
}

/* Why a chat or step has ended. */
static const char *halted_word(const allm_journal_entry *entry)
{
    const allm_json *m = entry->step ? entry->step->metadata : NULL;
    struct slice reason = json_text_at(m, "halted_reason");
    if (entry->chat_result)
        return entry->chat_result->halted_reason;
    return reason.ptr ? reason.ptr : "completed";
}

static bool put_result_of_all(struct op_journal *j, struct store_append *p,
                              const allm_journal_entry *entry)
{
    allm_session_record_free(j->after);
    j->after = j->project(j->project_ud, entry);
    return j->after && put_end(j, p, halted_word(entry), j->after);
}

static bool put_entry(struct op_journal *j, struct store_append *p,
                      const allm_journal_entry *entry)
{
    if (!j->begun && !put_begin(j, p))
        return false;           /* keeps (2) */
    switch (entry->kind) {
    case ALLM_JOURNAL_MODEL_CALL:  return put_call(j, p, entry);
    case ALLM_JOURNAL_RESPONSE:
        return put_response(p, entry->turn, entry->response);
    case ALLM_JOURNAL_TOOL_INTENT: return put_intent(j, p, entry);
    case ALLM_JOURNAL_TOOL_RESULT: return put_result(j, p, entry);
    case ALLM_JOURNAL_TURN_END:    return put_turn(j, p, entry);
    case ALLM_JOURNAL_END:         return put_result_of_all(j, p, entry);
    }
    return true;
}

/* ------------------------------------------------------------ commits --- */

static allm_status fail(struct op_journal *j, const allm_error *error)
{
    j->error = status_retell(&j->arena, error ? error : status_nomem());
    j->place->stale = true;   /* keeps (3) */
    return j->error->kind;
}

/* The first commit says that the operation runs: it waits for nobody, and it is
 * due if its holder goes.  It also says whether events for followers are
 * written. */
static struct store_append *begin_commit(struct op_journal *j)
{
    struct store_append *p = commit_begin(j->place);
    if (p && !j->marked) {
        struct backend_append *c = store_append_columns(p);
        c->waits = NULL;
        c->due = true;
        c->live_op = j->begin;
        c->marks_live = store_live_ms(store_session_store(j->place->store)) !=
                        UINT32_MAX;
        j->marked = true;
    }
    return p;
}

/* Is the commit durable? */
static allm_status poll_commit(struct op_journal *j)
{
    const allm_error *error = NULL;
    allm_status status = store_append_status(j->waiting, &error);
    if (status == ALLM_AGAIN)
        return status;
    if (status < 0)
        status = fail(j, error);
    store_append_free(j->waiting);
    j->waiting = NULL;
    return status;
}

static void submit(struct op_journal *j, allm_waker *waker)
{
    struct store_append *p = j->open;
    j->open = NULL;
    store_session_watch(j->place->store, waker);
    store_append_submit(p);
    j->waiting = p;
}

allm_status journal_take(const allm_journal_entry *entry, void *ud)
{
    struct op_journal *j = ud;
    if (j->error)
        return j->error->kind;
    if (j->waiting)             /* the same entry again */
        return poll_commit(j);
    if (!j->open)
        j->open = begin_commit(j);
    if (!j->open || !put_entry(j, j->open, entry))
        return fail(j, status_nomem());
    if (entry->more)
        return ALLM_OK;
    submit(j, entry->waker);    /* keeps (1) */
    return poll_commit(j);
}

bool journal_close(struct op_journal *j, const char *halted,
                   const allm_session_record *record)
{
    if (j->error)
        return false;
    if (!j->open)
        j->open = begin_commit(j);
    bool ok = j->open && (j->begun || put_begin(j, j->open)) &&
              put_end(j, j->open, halted, record);
    if (!ok) {
        fail(j, status_nomem());
        return false;
    }
    commit_leave(j->place, j->open);
    j->open = NULL;
    return true;
}

void journal_leave(struct op_journal *j)
{
    if (j->open && !j->error)
        commit_leave(j->place, j->open);
    else
        store_append_free(j->open);
    j->open = NULL;
}

uint64_t journal_head(const struct op_journal *j)
{
    uint64_t head = store_session_head(j->place->store);
    return j->end && j->end <= head ? j->end - 1 : head;
}
