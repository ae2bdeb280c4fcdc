/* engine_core.c - what engines that are derived from each other share */
#include "engine/engine_core.h"

#include "base/attachment.h"
#include "base/caller_struct.h"

enum { MAX_STATE = 16 * 1024 * 1024 };  /* of an adapter, per call */

static int64_t core_now(void *ud)
{
    return clock_now_ns(((const struct engine_core *)ud)->clock);
}

static int64_t core_unix(void *ud)
{
    return clock_unix_ms(((const struct engine_core *)ud)->clock);
}

struct shared_core *engine_core_new(const allm_engine_opts *o)
{
    struct mem mem = mem_from(o->allocator);
    struct shared_core *s = mem_alloc(mem, sizeof *s);
    allm_attachments *attachments = s ? attachment_new(mem) : NULL;
    if (!attachments) {
        mem_free(mem, s, sizeof *s);
        return NULL;
    }
    *s = (struct shared_core){ .flags = o->flags, .core = { .mem = mem } };
    atomic_init(&s->count, 1);
    struct engine_core *c = &s->core;
    c->answer_limit = ENGINE_ANSWER_LIMIT;
    c->clock = clock_from(o->clock);
    c->public_clock = (allm_clock){ .size = sizeof(allm_clock),
                                    .now_ns = core_now,
                                    .unix_ms = core_unix,
                                    .ud = c };
    c->random = random_from(o->random);
    c->attachments = attachments;
    arena_init(&c->strings, mem);
    c->keys = allm_keys_keep(o->keys);
    c->catalog = allm_catalog_keep(o->catalog);
    c->pacer = allm_pacer_keep(o->pacer);
    c->trace = o->trace;
    c->trace_ud = o->trace_ud;
    return s;
}

struct shared_core *engine_core_keep(struct shared_core *s)
{
    atomic_fetch_add_explicit(&s->count, 1, memory_order_relaxed);
    return s;
}

void engine_core_drop(struct shared_core *s)
{
    if (!s ||
        atomic_fetch_sub_explicit(&s->count, 1, memory_order_acq_rel) != 1)
        return;
    struct mem mem = s->core.mem;
    attachment_drop(s->core.attachments);
    allm_keys_free(s->core.keys);
    allm_catalog_free(s->core.catalog);
    allm_pacer_free(s->core.pacer);
    arena_release(&s->core.strings);
    mem_free(mem, s, sizeof *s);
}

/* The caller's own adapter gets a row like those of the registry. */
static bool take_adapter(struct engine_core *c, const allm_adapter *from)
{
    if (!from)
        return true;
    if (!caller_struct_take(&c->own_adapter, sizeof c->own_adapter, from) ||
        c->own_adapter.state_size > MAX_STATE)
        return false;
    if (!c->own_adapter.name)
        c->own_adapter.name = "custom";
    c->own = (struct registry_row){ .name = c->own_adapter.name,
                                    .adapter = &c->own_adapter };
    return true;
}

/* Copy the options of the HTTP client. */
static bool take_net(struct engine_core *c, const allm_net_opts *from)
{
    if (!caller_struct_take(&c->net, sizeof c->net, from))
        return false;
    c->net.ca_file = arena_text(&c->strings, c->net.ca_file);
    c->net.proxy = arena_text(&c->strings, c->net.proxy);
    c->net.user_agent = arena_text(&c->strings, c->net.user_agent);
    return !c->strings.broken;
}

static bool take_transport(struct engine_core *c, const allm_transport *from)
{
    if (!from)
        return true;
    if (!caller_struct_take(&c->own_transport, sizeof c->own_transport, from))
        return false;
    const allm_transport *t = c->transport = &c->own_transport;
    return (t->open || t->open_over) && t->read && t->head && t->close;
}

/* Copy the tables that run tools and encode their results. */
static bool take_tables(struct engine_core *c, const allm_engine_opts *o)
{
    if (!caller_struct_take(&c->own_executor, sizeof c->own_executor,
                            o->executor) ||
        !caller_struct_take(&c->own_encoder, sizeof c->own_encoder,
                            o->encoder) ||
        !caller_struct_take(&c->own_gate, sizeof c->own_gate, o->gate))
        return false;
    c->executor = o->executor ? &c->own_executor : NULL;
    c->encoder = o->encoder ? &c->own_encoder : NULL;
    c->gate = o->gate ? &c->own_gate : NULL;
    return true;
}

const char *engine_core_take(struct shared_core *s, const allm_engine_opts *o)
{
    struct engine_core *c = &s->core;
    if (!take_adapter(c, o->adapter_table))
        return "fill the adapter_table with ALLM(adapter, ...); the header "
               "must not be newer than the library, and state_size must be at "
               "most 16 MiB";
    if (!take_tables(c, o))
        return "fill the executor and the encoder with ALLM(...); the header "
               "must not be newer than the library";
    if (!take_net(c, o->net))
        return "fill the network options with ALLM(net_opts, ...); the header "
               "must not be newer than the library";
    if (c->pacer && allm_pacer_error(c->pacer))
        return "fill the options of the pacer with ALLM(pacer_opts, ...); the "
               "header must not be newer than the library";
    if (!take_transport(c, o->transport))
        return "fill the transport with ALLM(transport, ...); the header must "
               "not be newer than the library; the transport must have open "
               "or open_over, and read, head and close";
    return NULL;
}
