/* list.c - scripts with one entry per call */
#include "provider/fake/list.h"

#include "base/attachment.h"
#include "base/buf.h"
#include "provider/fake/script.h"
#include "provider/sink.h"

static allm_status script_refuse(allm_sink *sink, const char *name,
                                 const char *message)
{
    struct buf text = buf_in(sink->arena, 512);
    buf_text(&text, name);
    buf_text(&text, message);
    if (text.broken)
        return sink->status = ALLM_ERR_NOMEM;
    return allm_sink_fail(sink,
                          ALLM(error, .kind = ALLM_ERR_MISUSE,
                               .reason = "invalid_script", .message = text.ptr),
                          true);
}

static allm_status entry_choose(struct fake_list *l, const char *name,
                                const allm_json *entry, allm_sink *sink)
{
    allm_error error;
    struct fake_entry e = fake_entry_read(entry);
    bool fails = e.tag == FAKE_ERROR || e.tag == FAKE_PREFLIGHT_ERROR;
    if (fails && !fake_read_error(&e, &error))
        return allm_sink_fail(sink, &error, true);
    if (e.tag == FAKE_OK && allm_json_type_of(e.value) == ALLM_JSON_ARRAY) {
        l->value = e.value;
        return ALLM_OK;
    }
    return script_refuse(
        sink, name,
        ": an entry must be [\"ok\", [...]] or [\"error\", reason, "
        "{fields}]");
}

allm_status fake_list_open(struct fake_list *l, const allm_call *call,
                           const char *name, allm_sink *sink)
{
    const allm_json *script = allm_json_get(call->adapter_opts, name);
    l->log = fake_log_of(call->attachments, attachment_mem(call->attachments));
    if (!l->log)
        return ALLM_ERR_NOMEM;
    if (script && allm_json_type_of(script) != ALLM_JSON_ARRAY)
        return script_refuse(sink, name,
                             " must be a list with an entry for each "
                             "call");
    fake_log_call(l->log);
    uint64_t index = fake_log_next(l->log);
    if (index >= allm_json_count(script))
        return allm_sink_fail(sink,
                              ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                   .reason = "no_scripted_response",
                                   .message = "no scripted response"),
                              true);
    return entry_choose(l, name, allm_json_at(script, (size_t)index), sink);
}

void fake_list_close(struct fake_list *l)
{
    fake_log_release(l->log);
}
