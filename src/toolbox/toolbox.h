/* toolbox.h - all external tools as one object, for the files of this layer */
#pragma once

#include "allm.h"
#include "base/clock.h"
#include "base/home.h"
#include "toolbox/crew.h"
#include "toolbox/gatekeeper.h"
#include "toolbox/list.h"

struct allm_toolbox {
    struct allm_home *home;     /* owns everything below; the count of it is
                                   that of the toolbox */
    const char *root;           /* absolute */
    enum orders_mode mode;
    const allm_json *grants;    /* a copy, or NULL */
    struct clock clock;
    allm_net_opts net;
    struct crew *crew;
    struct builtins *builtins;
    struct gatekeeper *keeper;
    allm_gate gate;
    struct servers *servers;
    allm_executor executor;
    pthread_mutex_t lock;       /* guards the home's arena and the next three */
    const allm_error *error;    /* the last one; or NULL */
    struct fault {
        const char *source;
        const allm_error *error;
        struct fault *next;
    } * faults, **faults_end;
    struct tool_list list;
    int pid;                    /* of the process that made it */
};
