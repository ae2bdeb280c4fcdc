/* turns.h - scripted tools in steps, chats and agents, and their events */
#pragma once

#include "allm.h"
#include "base/clock.h"
#include "harness/noun.h"

/*
 * An engine whose model plays `scripts` and whose tools are
 * "name=what;name!=what;..." (! is manual, ~ runs in a worker), where `what` is
 *
 *      echo  ok:JSON  text:T  fail:T  raise:T  none  ask:Q  ask2:Q (with opts)
 *      halt:REASON:JSON  later:MS:WHAT  context
 *
 * JSON has ' for ".  The strings must outlive the engine.
 */
allm_engine *turns_engine(const char *scripts, const char *tools,
                          struct clock_manual *clock);

/* How often tools of turns_engine() ran since the last call of this. */
int turns_runs(void);

/* A thread with one user message, "hi". */
allm_thread *turns_thread(void);

/*
 * Pull to the end and write down the events, one word each:
 *
 *      m a:text t=text c:id/name m.finish      the answer
 *      +id  id=result  id>content  id?question  id!reason     tools
 *      e:reason  step[roles]  chat[reason]
 *
 * then "ok" or the kind and reason of the error.  Static.
 */
const char *turns_play(allm_stream *s);

/* "u:hi a:text(c0) t:c0={}": the messages of a thread.  Static. */
const char *turns_messages(const allm_thread *t);

/* Is the metadata equal to this document?  As CHECK_VALUE. */
