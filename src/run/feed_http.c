/* feed_http.c - events decoded from the body of an HTTP answer */
#include "run/feed_http.h"

/* TODO(net): the real one comes with the HTTP client. */
struct feed *feed_http(struct arena *a, const allm_adapter *adapter,
                       const allm_call *call, const struct feed_env *env,
                       struct allm_sink *sink)
{
    static const allm_error none = {
        .size = sizeof(allm_error),
        .kind = ALLM_ERR_ENGINE,
        .reason = "invalid_engine",
        .message = "no transport: this build of the library has no HTTP "
                   "client yet; use the adapter \"fake\" or a source of your "
                   "own",
    };
    (void)a;
    (void)adapter;
    (void)call;
    (void)env;
    sink->status = allm_sink_fail(sink, &none, true);
    return NULL;
}
