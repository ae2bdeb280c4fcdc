/*
 * losses.c - what is lost when the schemas of a call are sent to Gemini
 *
 * The losses depend only on the call, so the decoder can compute them without
 * the encoder.
 */
#include "provider/gemini/losses.h"

#include "data/request.h"
#include "provider/gemini/schema.h"
#include "json/json.h"

bool gemini_losses_off(const struct extra *x)
{
    return allm_json_true(extra_get(x, "json_schema"));
}

bool gemini_losses_list(const allm_call *call, struct arena *a,
                        const allm_json **out)
{
    struct extra x;
    const allm_request *r = call->request;
    *out = json_empty_array();
    if (!r || (!r->tool_count && !r->response_format))
        return true;
    if (extra_init(&x, call, a))
        return !a->broken;
    if (gemini_losses_off(&x))
        return true;
    bool ok = true;
    const allm_json *format = request_schema(r);
    struct build list = build_array_in(a);
    if (format)
        ok = gemini_schema_adapt(a, format, true,
                                 (struct gemini_schema_losses){ &list, NULL });
    for (size_t i = 0; ok && i < r->tool_count; i++)
        if (allm_json_count(r->tools[i]->schema))
            ok = gemini_schema_adapt(a, r->tools[i]->schema, false,
                                     (struct gemini_schema_losses){
                                           &list, r->tools[i]->name });
    const allm_json *all = build_finish(&list);
    *out = all ? all : *out;
    return ok && all;
}
