/*
 * test_client.c - conversations of the MCP client, fed at every cut
 *
 * harness/talk.h explains the scripts.
 */
#include "harness/check.h"
#include "harness/talk.h"

#include <stdio.h>

#define PROBE "> {'id':1,'method':'server/discover','params':{'_meta':{M{}}}}\n"
#define INITIALIZE                                                        \
    "> {'id':2,'method':'initialize','params':{'protocolVersion':"        \
    "'2025-11-25','capabilities':{},'clientInfo':{'name':'allm',"         \
    "'version':'0.1.0'}}}\n"
#define INITIALIZED "> {'method':'notifications/initialized','params':{}}\n"
#define NO_METHOD "< {'id':1,'error':{'code':-32601,'message':'no'}}\n"

/* Up to the point where the server is ready; ids continue with 3 or 2. */
#define LEGACY                                                            \
    PROBE NO_METHOD INITIALIZE                                            \
    "< {'id':2,'result':{'protocolVersion':'2025-06-18'}}\n" INITIALIZED  \
    "! ready {'revision':'2025-06-18'}\n"
#define MODERN                                                            \
    PROBE "< {'id':1,'result':{'supportedVersions':['2026-07-28']}}\n"    \
    "! ready {'revision':'2026-07-28'}\n"

struct row {
    const char *why;
    const char *script;
};

static const struct mcp_client_opts plain = { .http = false };

static void play_rows(const struct mcp_client_opts *opts,
                      const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_row(rows[i].why);
        talk_play(opts, NULL, rows[i].script, SIZE_MAX);
    }
    check_row(NULL);
}

static void cut_rows(const struct mcp_client_opts *opts, const struct row *rows,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_row(rows[i].why);
        size_t length = talk_length(rows[i].script);
        for (size_t cut = 0; cut < length; cut += check_stride())
            talk_play(opts, NULL, rows[i].script, cut);
    }
    check_row(NULL);
}

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* -------------------------------------------------------------- opening --- */

#define LISTEN(id) \
    "> {'id':" id ",'method':'subscriptions/listen','params':" \
    "{'notifications':{'toolsListChanged':true},'_meta':{M{}}}}\n"

static const struct row opening[] = {
    { "a modern server", MODERN },
    { "a legacy server answers whatever it does not know",
      PROBE "< {'id':1,'result':{}}\n"
      "> {'id':2,'method':'initialize','params':{'protocolVersion':"
      "'2025-11-25','capabilities':{},'clientInfo':{'name':'allm','version':"
      "'0.1.0'}}}\n"
      "< {'id':2,'result':{'protocolVersion':'2025-06-18'}}\n" INITIALIZED
      "! ready {'revision':'2025-06-18'}\n" },
    { "a legacy server answers the probe with an error", LEGACY },
    { "what the server says about itself is kept",
      PROBE
      "< {'id':1,'result':{'resultType':'complete','supportedVersions':"
      "['2026-07-28'],'capabilities':{'tools':{}},'instructions':'be nice',"
      "'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'s'}}}}\n"
      "! ready {'revision':'2026-07-28','serverInfo':{'name':'s'},"
      "'capabilities':{'tools':{}},'instructions':'be nice'}\n" },
    { "a modern server is asked to tell of changes",
      PROBE
      "< {'id':1,'result':{'supportedVersions':['2026-07-28'],'capabilities':"
      "{'tools':{'listChanged':true},'prompts':{'listChanged':false}}}}\n"
      "> {'id':2,'method':'subscriptions/listen','params':{'notifications':"
      "{'toolsListChanged':true},'_meta':{M{}}}}\n"
      "! ready {'revision':'2026-07-28','capabilities':{'tools':"
      "{'listChanged':true},'prompts':{'listChanged':false}}}\n"
      "< {'method':'notifications/subscriptions/acknowledged','params':{}}\n"
      "< {'method':'notifications/tools/list_changed','params':{}}\n"
      "@ 200\n"
      "! changed lists 1\n"
      "< {'id':2,'result':{'resultType':'complete'}}\n" },
    { "it is asked again when it stops, later and later",
      PROBE
      "< {'id':1,'result':{'supportedVersions':['2026-07-28'],'capabilities':"
      "{'tools':{'listChanged':true}}}}\n" LISTEN("2")
      "! ready {'revision':'2026-07-28','capabilities':{'tools':"
      "{'listChanged':true}}}\n"
      "< {'id':2,'result':{'resultType':'complete'}}\n"
      "@ 499\n@ 1\n" LISTEN("3")
      "@ 200\n! changed lists 1\n"
      "broke 3 the connection broke\n"
      "@ 999\n@ 1\n" LISTEN("4")
      "@ 30000\n! changed lists 1\n"
      "refused 4 503 busy\n"
      "@ 500\n" LISTEN("5") "@ 200\n! changed lists 1\n"
      "< {'id':5,'error':{'code':-32601,'message':'no'}}\n"
      "@ 99999\n" },
    { "what is no answer to listening tells of no changes",
      PROBE
      "< {'id':1,'result':{'supportedVersions':['2026-07-28'],'capabilities':"
      "{'tools':{'listChanged':true}}}}\n" LISTEN("2")
      "! ready {'revision':'2026-07-28','capabilities':{'tools':"
      "{'listChanged':true}}}\n"
      "< {'id':2,'result':null}\n"
      "@ 99999\n" },
    { "-32022 names a legacy revision",
      PROBE
      "< {'id':1,'error':{'code':-32022,'message':'x','data':{'supported':"
      "['2025-06-18','2024-11-05']}}}\n"
      "> {'id':2,'method':'initialize','params':{'protocolVersion':"
      "'2025-06-18','capabilities':{},'clientInfo':{'name':'allm','version':"
      "'0.1.0'}}}\n"
      "< {'id':2,'result':{'protocolVersion':'2025-06-18'}}\n" INITIALIZED
      "! ready {'revision':'2025-06-18'}\n" },
    { "-32022 names our revision, again and again",
      PROBE
      "< {'id':1,'error':{'code':-32022,'message':'x','data':{'supported':"
      "['2026-07-28']}}}\n"
      "> {'id':2,'method':'server/discover','params':{'_meta':{M{}}}}\n"
      "< {'id':2,'error':{'code':-32022,'message':'x','data':{'supported':"
      "['2026-07-28']}}}\n"
      "! ready {'revision':'2026-07-28'}\n" },
    { "any reserved error means modern",
      PROBE "< {'id':1,'error':{'code':-32021,'message':'x'}}\n"
      "! ready {'revision':'2026-07-28'}\n" },
    { "a result without a revision of ours",
      PROBE "< {'id':1,'result':{'supportedVersions':['2030-01-01']}}\n"
      "! failed handler_failed: the server speaks 2030-01-01 of MCP, and we "
      "speak revisions from 2024-11-05 to 2026-07-28; use a version of the "
      "server that speaks one of these\n" },
    { "silence: both are sent, and the first answer counts",
      PROBE "@ 10000\n" INITIALIZE
      "< {'id':2,'result':{'protocolVersion':'2024-11-05'}}\n" INITIALIZED
      "! ready {'revision':'2024-11-05'}\n"
      "< {'id':1,'error':{'code':-32601,'message':'late'}}\n" },
    { "silence, then the probe is answered",
      PROBE "@ 10000\n" INITIALIZE
      "< {'id':1,'result':{'supportedVersions':['2026-07-28']}}\n"
      "! ready {'revision':'2026-07-28'}\n"
      "< {'id':2,'error':{'code':-32022,'message':'late'}}\n" },
    { "the error of initialize is not conclusive while the probe is open",
      PROBE "@ 10000\n" INITIALIZE
      "< {'id':2,'error':{'code':-32600,'message':'not now'}}\n"
      "< {'id':1,'result':{'supportedVersions':['2026-07-28']}}\n"
      "! ready {'revision':'2026-07-28'}\n" },
    { "-32022 to initialize means modern",
      PROBE "@ 10000\n" INITIALIZE
      "< {'id':2,'error':{'code':-32022,'message':'x','data':{'supported':"
      "['2026-07-28']}}}\n"
      "> {'id':3,'method':'server/discover','params':{'_meta':{M{}}}}\n"
      "< {'id':3,'result':{'supportedVersions':['2026-07-28']}}\n"
      "! ready {'revision':'2026-07-28'}\n" },
    { "nothing at all",
      PROBE "@ 10000\n" INITIALIZE "@ 10000\n"
      "! failed timeout: the server did not answer within 10000 ms when "
      "asked to begin; is it an MCP server? If it needs longer, raise "
      "start_timeout\n" },
    { "the probe is ignored, and initialize is refused",
      PROBE "@ 10000\n" INITIALIZE
      "< {'id':2,'error':{'code':-32600,'message':'no'}}\n"
      "@ 9999\n@ 1\n"
      "! failed timeout: the server did not answer within 10000 ms when "
      "asked to begin; is it an MCP server? If it needs longer, raise "
      "start_timeout\n" },
    { "initialize is refused",
      PROBE NO_METHOD INITIALIZE
      "< {'id':2,'error':{'code':-32000,'message':'closed'}}\n"
      "! failed handler_failed: the server refused to begin (-32000): "
      "closed\n" },
    { "initialize with a revision that we do not speak",
      PROBE NO_METHOD INITIALIZE
      "< {'id':2,'result':{'protocolVersion':'1999-01-01'}}\n"
      "! failed handler_failed: the server speaks 1999-01-01 of MCP, and we "
      "speak revisions from 2024-11-05 to 2026-07-28; use a version of the "
      "server that speaks one of these\n" },
    { "a request waits until the server is ready",
      PROBE "call f {}\n" NO_METHOD
      "> {'id':3,'method':'initialize','params':{'protocolVersion':"
      "'2025-11-25','capabilities':{},'clientInfo':{'name':'allm',"
      "'version':'0.1.0'}}}\n"
      "< {'id':3,'result':{'protocolVersion':'2025-06-18'}}\n" INITIALIZED
      "> {'id':2,'method':'tools/call','params':{'name':'f','arguments':{},"
      "'_meta':{'progressToken':2}}}\n"
      "! ready {'revision':'2025-06-18'}\n"
      "< {'id':2,'result':{'content':[]}}\n"
      "! answer 2 {'content':[]}\n" },
};

static void finds_the_revision(void)
{
    play_rows(&plain, opening, COUNT(opening));
}

/* It has been updated since. */
#define KNOWN                                                             \
    "> {'id':1,'method':'initialize','params':{'protocolVersion':"        \
    "'2025-06-18','capabilities':{},'clientInfo':{'name':'allm',"         \
    "'version':'0.1.0'}}}\n"
#define PROBE_2                                                           \
    "> {'id':2,'method':'server/discover','params':{'_meta':{M{}}}}\n"

static const char *const updated[] = {
    KNOWN NO_METHOD PROBE_2
    "< {'id':2,'result':{'supportedVersions':['2026-07-28']}}\n"
    "! ready {'revision':'2026-07-28'}\n",
    KNOWN NO_METHOD PROBE_2
    "< {'id':2,'error':{'code':-32601,'message':'no'}}\n"
    "> {'id':3,'method':'initialize','params':{'protocolVersion':"
    "'2025-11-25','capabilities':{},'clientInfo':{'name':'allm','version':"
    "'0.1.0'}}}\n"
    "< {'id':3,'error':{'code':1,'message':'closed'}}\n"
    "! failed handler_failed: the server refused to begin (1): closed\n",
};

static void probes_a_known_server_that_refuses(void)
{
    for (size_t i = 0; i < COUNT(updated); i++)
        talk_play(&plain, revision_find(SLICE("2025-06-18")), updated[i],
                  SIZE_MAX);
}

/* A program that must be downloaded first gets more time, but one that does
 * not answer the probe is not waited for longer. */
static void does_not_wait_longer_for_the_probe(void)
{
    static const struct mcp_client_opts patient = { .start_ms = 120000 };
    talk_play(&patient, NULL,
              PROBE "@ 9999\n"
                    "@ 1\n" INITIALIZE "@ 119999\n"
                    "@ 1\n"
                    "! failed timeout: the server did not answer within 120000 "
                    "ms when asked to begin; is it an MCP server? If it needs "
                    "longer, raise start_timeout\n",
              SIZE_MAX);
}

static void starts_with_a_known_revision(void)
{
    talk_play(&plain, revision_modern(), "! ready {'revision':'2026-07-28'}\n",
              SIZE_MAX);
    talk_play(&plain, revision_find(SLICE("2025-06-18")),
              "> {'id':1,'method':'initialize','params':{'protocolVersion':"
              "'2025-06-18','capabilities':{},'clientInfo':{'name':'allm',"
              "'version':'0.1.0'}}}\n",
              SIZE_MAX);
}

static const struct row http_opening[] = {
    { "a modern error in the body",
      PROBE "refused 1 400 {'jsonrpc':'2.0','id':1,'error':{'code':-32022,"
      "'message':'x','data':{'supported':['2025-03-26']}}}\n"
      "> {'id':2,'method':'initialize','params':{'protocolVersion':"
      "'2025-03-26','capabilities':{},'clientInfo':{'name':'allm','version':"
      "'0.1.0'}}}\n" },
    { "another body: legacy",
      PROBE "refused 1 400 {'jsonrpc':'2.0','error':{'code':-32000,"
      "'message':'Server not initialized'},'id':null}\n" INITIALIZE },
    { "no body: legacy", PROBE "refused 1 405 \n" INITIALIZE },
    { "the probe is refused late: initialize is under way",
      PROBE "@ 10000\n" INITIALIZE "refused 1 404 \n"
      "refused 2 500 \n"
      "! failed handler_failed: the server answers with HTTP status 500; try "
      "again later, or check the URL\n" },
    { "the status of servers in Rust",
      PROBE "refused 1 422 Unexpected message\n" INITIALIZE
      "refused 2 422 Unexpected message\n"
      "! failed handler_failed: the server answers with HTTP status 422; try "
      "again later, or check the URL\n" },
    { "HTML", PROBE "refused 1 404 <html></html>\n" INITIALIZE
      "refused 2 404 <html></html>\n"
      "! failed handler_failed: the server answers with HTTP status 404: there "
      "is no Streamable HTTP endpoint of MCP at this address (HTTP+SSE of "
      "2024-11-05 is not supported); check the URL\n" },
    { "no authorization", PROBE "refused 1 401 \n"
      "! failed handler_failed: the server answers with HTTP status 401; check "
      "its authorization headers\n" },
    { "a redirect", PROBE "refused 1 301 https://b/mcp\n"
      "! failed handler_failed: the server answers with HTTP status 301 and "
      "redirects to https://b/mcp, which is not followed; if that is the "
      "server, use this URL\n" },
    { "a redirect to nowhere", PROBE "refused 1 302 \n"
      "! failed handler_failed: the server answers with HTTP status 302; try "
      "again later, or check the URL\n" },
    { "overloaded", PROBE "refused 1 503 \n"
      "! failed handler_failed: the server answers with HTTP status 503; try "
      "again later, or check the URL\n" },
    { "the connection breaks", PROBE "broke 1 connection reset\n"
      "! failed handler_exit: connection reset\n" },
    { "the server asks to wait: it is not late",
      PROBE "waits 1 15000\n@ 24999\n"
      "< {'id':1,'result':{'supportedVersions':['2026-07-28']}}\n"
      "! ready {'revision':'2026-07-28'}\n"
      "read a:b\n"
      "> {'id':2,'method':'resources/read','params':{'uri':'a:b','_meta':"
      "{'progressToken':2,M{}}}}\n"
      "waits 2 30000\nwaits 9 1\n@ 89999\n@ 1\n"
      "! answer 2 timeout: the server was silent for 60000 ms, without an "
      "answer or a report of progress\n" },
    { "a request is refused, another one breaks", MODERN
      "call f {}\n"
      "> {'id':2,'method':'tools/call','params':{'name':'f','arguments':{},"
      "'_meta':{'progressToken':2,M{}}}}\n"
      "refused 2 404 {'jsonrpc':'2.0','id':2,'error':{'code':-32601,"
      "'message':'no such tool'}}\n"
      "! answer 2 handler_failed: no such tool\n"
      "read a:b\n"
      "> {'id':3,'method':'resources/read','params':{'uri':'a:b','_meta':"
      "{'progressToken':3,M{}}}}\n"
      "refused 3 500 oops\n"
      "! answer 3 handler_failed: the server answered with HTTP status 500\n"
      "read a:b\n"
      "> {'id':4,'method':'resources/read','params':{'uri':'a:b','_meta':"
      "{'progressToken':4,M{}}}}\n"
      "broke 4 connection reset\n"
      "! answer 4 handler_exit: connection reset\n"
      "refused 4 500 late\n"
      "broke 4 late\n" },
    { "cancelling: the transport closes the stream, no message is sent", MODERN
      "read a:b\n"
      "> {'id':2,'method':'resources/read','params':{'uri':'a:b','_meta':"
      "{'progressToken':2,M{}}}}\n"
      "cancel 2\n" },
};

static void opens_over_http(void)
{
    const struct mcp_client_opts opts = { .http = true };
    play_rows(&opts, http_opening, COUNT(http_opening));
}

/* ------------------------------------------------------------- requests --- */

#define CALL_3                                                            \
    "call f {'a':1}\n"                                                    \
    "> {'id':3,'method':'tools/call','params':{'name':'f','arguments':"   \
    "{'a':1},'_meta':{'progressToken':3}}}\n"
#define CANCELLED_3                                                       \
    "> {'method':'notifications/cancelled','params':{'requestId':3,"      \
    "'reason':'"
#define TIMEOUT_3 CANCELLED_3 "timeout'}}\n"
#define UNAWAITED_3 CANCELLED_3 "nobody awaits the result any more'}}\n"

static const struct row requests[] = {
    { "a call", LEGACY CALL_3
      "< {'id':3,'result':{'content':[{'type':'text','text':'x'}]}}\n"
      "! answer 3 {'content':[{'type':'text','text':'x'}]}\n" },
    { "an error", LEGACY CALL_3
      "< {'id':3,'error':{'code':-32602,'message':'bad a'}}\n"
      "! answer 3 handler_failed: bad a (error -32602 of the server)\n" },
    { "a request that the server does not support", LEGACY CALL_3
      "< {'id':3,'error':{'code':-32601,'message':'Method not found'}}\n"
      "! answer 3 handler_failed: tools/call is not supported: Method not "
      "found (error -32601 of the server)\n" },
    { "answers in another order", LEGACY CALL_3
      "prompt p {'b':'2'}\n"
      "> {'id':4,'method':'prompts/get','params':{'name':'p','arguments':"
      "{'b':'2'},'_meta':{'progressToken':4}}}\n"
      "< {'id':4,'result':{'messages':[]}}\n"
      "! answer 4 {'messages':[]}\n"
      "< {'id':3,'result':{}}\n"
      "! answer 3 {}\n" },
    { "all pages of a list",
      LEGACY "list tools\n"
             "> {'id':3,'method':'tools/list','params':{}}\n"
             "< {'id':3,'result':{'tools':[{'name':'a'}],'nextCursor':'1'}}\n"
             "> {'id':4,'method':'tools/list','params':{'cursor':'1'}}\n"
             "< {'id':4,'result':{'tools':[{'name':'b'}],'nextCursor':'2'}}\n"
             "> {'id':5,'method':'tools/list','params':{'cursor':'2'}}\n"
             "< {'id':5,'result':{'tools':[]}}\n"
             "! answer 3 [{'name':'a'},{'name':'b'}]\n" },
    { "a cursor that repeats ends the list",
      LEGACY "list prompts\n"
             "> {'id':3,'method':'prompts/list','params':{}}\n"
             "< {'id':3,'result':{'prompts':[1],'nextCursor':'x'}}\n"
             "> {'id':4,'method':'prompts/list','params':{'cursor':'x'}}\n"
             "< {'id':4,'result':{'prompts':[2],'nextCursor':'x'}}\n"
             "! answer 3 [1,2] cut\n" },
    { "no list in the answer",
      LEGACY "list templates\n"
             "> {'id':3,'method':'resources/templates/list','params':{}}\n"
             "< {'id':3,'result':{'resourceTemplates':{}}}\n"
             "! answer 3 handler_failed: the answer of the server has no list "
             "\"resourceTemplates\"\n" },
    { "progress resets the silence, but not the total time",
      LEGACY "within 100000\n" CALL_3 "@ 59999\n"
             "< {'method':'notifications/progress','params':{'progressToken':3,"
             "'progress':1,'total':2}}\n"
             "! progress 3 {'progressToken':3,'progress':1,'total':2}\n"
             "@ 40000\n"
             "@ 1\n" TIMEOUT_3
             "! answer 3 timeout: the server did not answer in time\n" },
    { "silence", LEGACY CALL_3
      "@ 60000\n" TIMEOUT_3
      "! answer 3 timeout: the server was silent for 60000 ms, without an "
      "answer or a report of progress\n"
      "< {'id':3,'result':{}}\n" },
    { "cancelled: a late answer is ignored",
      LEGACY CALL_3 "cancel 3\n" UNAWAITED_3 "< {'id':3,'result':{}}\n"
                    "cancel 3\n" },
    { "the server dies",
      LEGACY CALL_3 "gone it exited with status 1\n"
                    "! answer 3 handler_exit: it exited with status 1\n"
                    "! failed handler_exit: it exited with status 1\n"
                    "call g {}\n"
                    "< {'id':3,'result':{}}\n" },
    { "changes within 200 ms are one",
      LEGACY "< {'method':'notifications/tools/list_changed'}\n"
             "< {'method':'notifications/tools/list_changed'}\n"
             "@ 199\n"
             "< {'method':'notifications/prompts/list_changed'}\n"
             "@ 1\n"
             "! changed lists 5\n"
             "< {'method':'notifications/resources/list_changed'}\n"
             "@ 200\n"
             "! changed lists 2\n" },
    { "messages for the log, which nobody reads",
      LEGACY "< {'method':'notifications/message','params':{}}\n" },
    { "an unknown type of result", MODERN
      "call f {}\n"
      "> {'id':2,'method':'tools/call','params':{'name':'f','arguments':{},"
      "'_meta':{'progressToken':2,M{}}}}\n"
      "< {'id':2,'result':{'resultType':'task'}}\n"
      "! answer 2 handler_failed: the answer of the server is of a type that "
      "is not supported: task\n" },
};

static void sends_requests(void)
{
    play_rows(&plain, requests, COUNT(requests));
}

#define DEBUG ",'io.modelcontextprotocol/logLevel':'debug'"
#define PROBE_FOR_LOG \
    "> {'id':1,'method':'server/discover','params':{'_meta':{M{}" DEBUG "}}}\n"

/* A modern server logs only what a request asks for. */
static void asks_for_the_log(void)
{
    static const struct mcp_client_opts opts = { .logs = true };
    static const struct row rows[] = {
        { "of a legacy server",
          PROBE_FOR_LOG NO_METHOD INITIALIZE
          "< {'method':'notifications/message','params':{'level':'info',"
          "'data':'x'}}\n"
          "! log {'level':'info','data':'x'}\n" },
        { "of a modern server",
          PROBE_FOR_LOG
          "< {'id':1,'result':{'supportedVersions':['2026-07-28']}}\n"
          "! ready {'revision':'2026-07-28'}\n"
          "call f {}\n"
          "> {'id':2,'method':'tools/call','params':{'name':'f','arguments':{},"
          "'_meta':{'progressToken':2,M{}" DEBUG "}}}\n"
          "< {'method':'notifications/message','params':{'data':['x']}}\n"
          "! log {'data':['x']}\n" },
    };
    play_rows(&opts, rows, COUNT(rows));
}

/* ---------------------------------------------------- the server's asks --- */

#define WITH_FORMS                                                        \
    PROBE_F NO_METHOD                                                     \
    "> {'id':2,'method':'initialize','params':{'protocolVersion':"        \
    "'2025-11-25','capabilities':{'roots':{},'elicitation':{'form':{}}}," \
    "'clientInfo':{'name':'allm','version':'0.1.0'}}}\n"                  \
    "< {'id':2,'result':{'protocolVersion':'2025-11-25'}}\n" INITIALIZED  \
    "! ready {'revision':'2025-11-25'}\n"
#define CAN "{'roots':{},'elicitation':{'form':{}}}"
#define PROBE_F                                                           \
    "> {'id':1,'method':'server/discover','params':{'_meta':{M" CAN "}}}\n"
#define MODERN_F                                                          \
    PROBE_F "< {'id':1,'result':{'supportedVersions':['2026-07-28']}}\n"  \
    "! ready {'revision':'2026-07-28'}\n"                                 \
    "call f {}\n"                                                         \
    "> {'id':2,'method':'tools/call','params':{'name':'f','arguments':{}," \
    "'_meta':{'progressToken':2,M" CAN "}}}\n"
#define FORM                                                              \
    "{'message':'who?','requestedSchema':{'type':'object','properties':"  \
    "{'n':{'type':'string'},'c':{'type':'integer','default':7}},"         \
    "'required':['n']}}"

static const struct row asks[] = {
    { "ping", WITH_FORMS
      "< {'id':'p','method':'ping'}\n"
      "> {'id':'p','result':{}}\n" },
    { "roots, with a path that must be encoded", WITH_FORMS
      "< {'id':0,'method':'roots/list'}\n"
      "> {'id':0,'result':{'roots':[{'uri':'file:///a/b%20%C3%A9'}]}}\n" },
    { "what we do not support", WITH_FORMS
      "< {'id':5,'method':'sampling/createMessage','params':{}}\n"
      "> {'id':5,'error':{'code':-32601,'message':'this client does not "
      "support it'}}\n"
      "< {'id':6,'method':'elicitation/create','params':{'mode':'url'}}\n"
      "> {'id':6,'error':{'code':-32602,'message':'this client does not "
      "support this kind of elicitation, or too many are open'}}\n" },
    { "a form: defaults are filled in, the content is checked", WITH_FORMS
      "< {'id':'e','method':'elicitation/create','params':" FORM "}\n"
      "! elicit ?1 " FORM "\n"
      "answer 1 accept {'n':1}\n"
      "! faults /n\n"
      "answer 1 accept {'n':'x'}\n"
      "> {'id':'e','result':{'action':'accept','content':{'n':'x','c':7}}}\n"
      "answer 1 accept {'n':'again'}\n" },
    { "a form is declined", WITH_FORMS
      "< {'id':9,'method':'elicitation/create','params':" FORM "}\n"
      "! elicit ?1 " FORM "\n"
      "answer 1 decline\n"
      "> {'id':9,'result':{'action':'decline'}}\n" },
    { "a form is withdrawn", WITH_FORMS
      "< {'id':9,'method':'elicitation/create','params':" FORM "}\n"
      "! elicit ?1 " FORM "\n"
      "< {'method':'notifications/cancelled','params':{'requestId':9}}\n"
      "! withdrawn ?1\n"
      "answer 1 cancel\n" },
    { "while a user thinks, the call is not silent", WITH_FORMS CALL_3
      "< {'id':9,'method':'elicitation/create','params':" FORM "}\n"
      "! elicit ?1 " FORM "\n"
      "@ 600000\n"
      "answer 1 cancel\n"
      "> {'id':9,'result':{'action':'cancel'}}\n"
      "@ 59999\n"
      "@ 1\n"
      TIMEOUT_3
      "! answer 3 timeout: the server was silent for 60000 ms, without an "
      "answer or a report of progress\n" },
    { "the time of a user is no time of the call", WITH_FORMS
      "within 100000\n" CALL_3
      "< {'id':9,'method':'elicitation/create','params':" FORM "}\n"
      "! elicit ?1 " FORM "\n"
      "@ 600000\n"
      "answer 1 cancel\n"
      "> {'id':9,'result':{'action':'cancel'}}\n"
      "@ 59999\n"
      "< {'method':'notifications/progress','params':{'progressToken':3}}\n"
      "! progress 3 {'progressToken':3}\n"
      "@ 40000\n"
      "@ 1\n"
      TIMEOUT_3
      "! answer 3 timeout: the server did not answer in time\n" },
    { "nor is that of a form that was withdrawn", WITH_FORMS CALL_3
      "< {'id':9,'method':'elicitation/create','params':" FORM "}\n"
      "! elicit ?1 " FORM "\n"
      "@ 600000\n"
      "< {'method':'notifications/cancelled','params':{'requestId':9}}\n"
      "! withdrawn ?1\n"
      "@ 59999\n"
      "@ 1\n"
      TIMEOUT_3
      "! answer 3 timeout: the server was silent for 60000 ms, without an "
      "answer or a report of progress\n" },
    { "the server dies while a user thinks", WITH_FORMS
      "< {'id':9,'method':'elicitation/create','params':" FORM "}\n"
      "! elicit ?1 " FORM "\n"
      "gone x\n"
      "! withdrawn ?1\n"
      "! failed handler_exit: x\n" },
    { "modern: the request is sent again, with the answers and the state",
      MODERN_F
      "< {'id':2,'result':{'resultType':'input_required','inputRequests':"
      "{'k':{'method':'elicitation/create','params':" FORM "},'r':{'method':"
      "'roots/list'}},'requestState':'s\\n'}}\n"
      "! elicit 2 ?1 " FORM "\n"
      "answer 1 accept {'n':'x'}\n"
      "> {'id':3,'method':'tools/call','params':{'name':'f','arguments':{},"
      "'inputResponses':{'k':{'action':'accept','content':{'n':'x','c':7}},"
      "'r':{'roots':[{'uri':'file:///a/b%20%C3%A9'}]}},'requestState':'s\\n',"
      "'_meta':{'progressToken':3,M" CAN "}}}\n"
      "< {'id':2,'result':{'content':['wrong id']}}\n"
      "< {'id':3,'result':{'content':[]}}\n"
      "! answer 2 {'content':[]}\n" },
    { "modern: a state alone is returned at once", MODERN_F
      "< {'id':2,'result':{'resultType':'input_required','requestState':"
      "'s'}}\n"
      "> {'id':3,'method':'tools/call','params':{'name':'f','arguments':{},"
      "'requestState':'s','_meta':{'progressToken':3,M" CAN "}}}\n" },
    { "modern: two forms", MODERN_F
      "< {'id':2,'result':{'resultType':'input_required','inputRequests':"
      "{'x':{'method':'elicitation/create','params':{'message':'1'}},'y':"
      "{'method':'elicitation/create','params':{'message':'2'}}}}}\n"
      "! elicit 2 ?1 {'message':'1'}\n"
      "! elicit 2 ?2 {'message':'2'}\n"
      "answer 2 decline\n"
      "answer 1 accept\n"
      "> {'id':3,'method':'tools/call','params':{'name':'f','arguments':{},"
      "'inputResponses':{'x':{'action':'accept','content':{}},'y':{'action':"
      "'decline'}},'_meta':{'progressToken':3,M" CAN "}}}\n" },
    { "modern: cancelled while a user thinks", MODERN_F
      "< {'id':2,'result':{'resultType':'input_required','inputRequests':"
      "{'x':{'method':'elicitation/create','params':{'message':'1'}}}}}\n"
      "! elicit 2 ?1 {'message':'1'}\n"
      "cancel 2\n"
      "! withdrawn 2 ?1\n"
      "answer 1 accept\n" },
    { "modern: input that we do not offer", MODERN_F
      "< {'id':2,'result':{'resultType':'input_required','inputRequests':"
      "{'x':{'method':'sampling/createMessage','params':{}}}}}\n"
      "! answer 2 handler_failed: the server asks for input "
      "(sampling/createMessage) that is not available here\n" },
    { "modern: input that is not named", MODERN_F
      "< {'id':2,'result':{'resultType':'input_required'}}\n"
      "! answer 2 handler_failed: the server asks for input, but not for "
      "what\n" },
};

static const struct mcp_client_opts with_forms = { .elicits = true,
                                                   .root = "/a/b \xC3\xA9" };

static void answers_the_server(void)
{
    play_rows(&with_forms, asks, COUNT(asks));
}

/* At most 8 rounds. */
static void ends_endless_questions(void)
{
    struct mcp_client *c = mcp_client_new(mem_default(), &plain);
    struct mcp_ask ask = { .method = MCP_TOOLS_CALL, .name = "f" };
    struct mcp_event ev = { .kind = MCP_READY };
    if (!c)
        return;
    mcp_client_start(c, revision_modern(), 0);
    CHECK_INT(mcp_client_request(c, &ask, 0), 1);
    for (int i = 1; i <= 9; i++) {
        char line[128];
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"resultType\":"
                 "\"input_required\",\"requestState\":\"s\"}}",
                 i);
        mcp_client_hear(c, slice_of(line), 0);
        CHECK(mcp_client_next(c, &ev) == (i == 1 || i == 9));
    }
    CHECK_TEXT(ev.error ? ev.error->message : NULL,
               "the server asked for input more than 8 times");
    mcp_client_free(c);
}

/* At most 100 forms are open at once. */
static void refuses_a_flood_of_questions(void)
{
    struct mcp_client *c = mcp_client_new(mem_default(), &with_forms);
    struct mcp_event ev;
    size_t asked = 0, answers = 0;
    if (!c)
        return;
    mcp_client_start(c, revision_legacy(), 0);
    mcp_client_sent(c);
    for (int i = 0; i < 150; i++) {
        char line[128];
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":"
                 "\"elicitation/create\",\"params\":{\"message\":\"?\"}}",
                 i);
        mcp_client_hear(c, slice_of(line), 0);
    }
    while (mcp_client_next(c, &ev))
        asked += ev.kind == MCP_ELICIT;
    for (; mcp_client_out(c); mcp_client_sent(c))
        answers++;
    CHECK_INT(asked, 100);
    CHECK_INT(answers, 50);
    mcp_client_free(c);
}

/* -------------------------------------------------------------- hostile --- */

static const struct row hostile[] = {
    { "answers that nobody awaits",
      LEGACY CALL_3 "< {'id':99,'result':{}}\n"
                    "< {'id':'3','result':{}}\n"
                    "< {'id':-3,'result':{}}\n"
                    "< {'id':2,'result':{'protocolVersion':'2025-06-18'}}\n"
                    "< {'id':3,'result':{}}\n"
                    "! answer 3 {}\n"
                    "< {'id':3,'result':{'twice':true}}\n" },
    { "halves of surrogate pairs become U+FFFD", LEGACY CALL_3
      "<< {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":\"\\uD83D\\\\ud83d"
      "\\udc00\\ud83d\\ude00\\ud83d\"}}\n"
      "! answer 3 {'a':'\xef\xbf\xbd\\\\ud83d\xef\xbf\xbd\xf0\x9f\x98\x80"
      "\xef\xbf\xbd'}\n" },
    { "lines that are not messages", LEGACY CALL_3
      "<< Server started on port 3\n"
      "<< [1,2]\n"
      "<< [{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}]\n"
      "<< {\"id\":3,\"result\":{}}\n"
      "<< {\"jsonrpc\":\"1.0\",\"id\":3,\"result\":{}}\n"
      "<< {\"jsonrpc\":\"2.0\",\"id\":4}\n"
      "<< {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{},\"error\":{}}\n"
      "<< {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"\xff\"}\n"
      "<< {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":7}\n"
      "<< {\"jsonrpc\":\"2.0\",\"id\":4,\"error\":7}\n"
      "<< {\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}\n"
      "<< {\"jsonrpc\":\"2.0\",\"method\":5}\n"
      "<< {\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":1,\"params\":[]}\n"
      "<< \n"
      "<< {\"jsonrpc\":\"2.0\",\"id\":3,\"res\n"
      "< {'id':3,'result':{}}\n"
      "! answer 3 {}\n" },
    { "notifications without a meaning", LEGACY CALL_3
      "< {'method':'notifications/x'}\n"
      "< {'method':'notifications/progress'}\n"
      "< {'method':'notifications/progress','params':{'progressToken':4}}\n"
      "< {'method':'notifications/cancelled','params':{'requestId':3}}\n"
      "< {'method':'notifications/cancelled'}\n"
      "< {'id':3,'result':{}}\n"
      "! answer 3 {}\n" },
    { "the server answers a request that waits for a page twice",
      LEGACY "list tools\n"
             "> {'id':3,'method':'tools/list','params':{}}\n"
             "< {'id':3,'result':{'tools':[1],'nextCursor':'1'}}\n"
             "> {'id':4,'method':'tools/list','params':{'cursor':'1'}}\n"
             "< {'id':3,'result':{'tools':[1],'nextCursor':'1'}}\n"
             "< {'id':4,'result':{'tools':[2]}}\n"
             "! answer 3 [1,2]\n" },
};

static void survives_hostile_servers(void)
{
    play_rows(&plain, hostile, COUNT(hostile));
}

static void ends_a_request_whose_answer_is_not_valid(void)
{
    static const char call[] = LEGACY CALL_3;
    static const char list[] = LEGACY
        "list tools\n> {'id':3,'method':'tools/list','params':{}}\n";
    static const char start[] = PROBE "< {'id':1,'result':null}\n" INITIALIZE;
    static const struct {
        const char *before, *answer, *event, *fault;
    } rows[] = {
        { call, "3,'result':null", "answer 3", "its result is not an object" },
        { call, "3,'result':[]", "answer 3", "its result is not an object" },
        { call, "3", "answer 3", "it has no method, result or error" },
        { call, "3,'result':{},'error':{'code':1}", "answer 3",
          "it has a result and an error" },
        { call, "3,'error':'no'", "answer 3", "its error has no code" },
        { list, "3,'result':null", "answer 3", "its result is not an object" },
        { start, "2,'result':null", "failed", "its result is not an object" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char script[1024];
        check_row(rows[i].answer);
        snprintf(script, sizeof script,
                 "%s< {'id':%s}\n! %s handler_failed: the answer of the server "
                 "is not valid: %s\n",
                 rows[i].before, rows[i].answer, rows[i].event, rows[i].fault);
        talk_play(&plain, NULL, script, SIZE_MAX);
    }
    check_row(NULL);
}

/* The events of a client, until it fails; the reason of its failure. */
static const char *last_failure(struct mcp_client *c)
{
    static char text[256];
    struct mcp_event ev;
    text[0] = '\0';
    while (mcp_client_next(c, &ev))
        if (ev.kind == MCP_FAILED)
            snprintf(text, sizeof text, "%s", ev.error->message);
    return text;
}

static struct mcp_client *ready_client(void)
{
    struct mcp_client *c = mcp_client_new(mem_default(), &plain);
    if (c)
        mcp_client_start(c, revision_modern(), 0);
    return c;
}

static void gives_up_after_100_bad_lines(void)
{
    struct mcp_client *c = ready_client();
    if (!c)
        return;
    for (int i = 0; i < 99; i++)
        mcp_client_feed(c, SLICE("x\n"), 0);
    mcp_client_feed(c, SLICE("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n"), 0);
    for (int i = 0; i < 99; i++)
        mcp_client_feed(c, SLICE("x\n"), 0);
    CHECK_TEXT(last_failure(c), "");
    CHECK_INT(mcp_client_counts(c).bad, 198);
    CHECK_INT(mcp_client_counts(c).ignored, 1);
    mcp_client_feed(c, SLICE("x\nx\n"), 0);
    CHECK_TEXT(last_failure(c),
               "the server wrote 100 lines in a row that are not MCP messages; "
               "its standard output must carry nothing else");
    mcp_client_free(c);
}

static void gives_up_at_a_long_line(void)
{
    struct mcp_client *c = ready_client();
    static char block[64 * 1024];
    memset(block, 'x', sizeof block);
    if (!c)
        return;
    for (size_t n = 0; n <= 16 * 1024 * 1024; n += sizeof block)
        mcp_client_feed(c, (struct slice){ block, sizeof block }, 0);
    CHECK_TEXT(last_failure(c), "the server wrote a line of more than 16 MiB");
    mcp_client_free(c);
}

static void gives_up_if_its_replies_are_not_read(void)
{
    struct mcp_client *c = ready_client();
    static const char ping[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    if (!c)
        return;
    for (int i = 0; i < 1000; i++)
        mcp_client_feed(c, slice_of(ping), 0);
    CHECK_TEXT(last_failure(c), "");
    mcp_client_feed(c, slice_of(ping), 0);
    CHECK_TEXT(last_failure(c),
               "the server sends requests and does not read the answers");
    CHECK_ALWAYS(!mcp_client_out(c));
    mcp_client_free(c);
}

/* A flood of notifications keeps no memory. */
static void a_flood_keeps_no_memory(void)
{
    struct mcp_client *c = ready_client();
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
        "\"params\":{\"progressToken\":77,\"progress\":1}}\n";
    struct mcp_event ev;
    if (!c)
        return;
    while (mcp_client_next(c, &ev))
        ;
    size_t before = check_live_bytes();
    for (int i = 0; i < 10000; i++)
        mcp_client_feed(c, slice_of(line), 0);
    CHECK_INT(check_live_bytes(), before);
    CHECK_INT(mcp_client_counts(c).ignored, 10000);
    mcp_client_free(c);
}

/* A list that never ends is read for 1000 pages. */
static void ends_an_endless_list(void)
{
    struct mcp_client *c = ready_client();
    struct mcp_ask ask = { .method = MCP_TOOLS_LIST };
    struct mcp_event ev = { .cut = false };
    if (!c)
        return;
    mcp_client_request(c, &ask, 0);
    for (int i = 1; i <= 1001; i++) {
        char line[160];
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"tools\":[%d],"
                 "\"nextCursor\":\"%d\"}}\n",
                 i, i, i);
        mcp_client_feed(c, slice_of(line), 0);
        if (mcp_client_out(c))
            mcp_client_sent(c);
    }
    while (mcp_client_next(c, &ev) && ev.kind != MCP_ANSWER)
        ;
    CHECK(ev.cut);
    CHECK_INT(allm_json_count(ev.value), 1000);
    CHECK_INT(mcp_client_counts(c).stray, 1);
    mcp_client_free(c);
}

/* An idle client has nothing to do, and takes little memory. */
static void an_idle_client_is_small(void)
{
    size_t before = check_live_bytes();
    struct mcp_client *c = ready_client();
    struct mcp_event ev;
    if (!c)
        return;
    while (mcp_client_next(c, &ev))
        ;
    while (mcp_client_out(c))
        mcp_client_sent(c);
    CHECK(mcp_client_deadline(c) == INT64_MAX);
    CHECK(check_live_bytes() - before < 8 * 1024);
    mcp_client_free(c);
}

/* ----------------------------------------------------------------- cuts --- */

static void is_the_same_at_every_cut(void)
{
    cut_rows(&plain, opening, COUNT(opening));
    cut_rows(&plain, requests, COUNT(requests));
    cut_rows(&with_forms, asks, COUNT(asks));
    cut_rows(&plain, hostile, COUNT(hostile));
}

TESTS = {
    TEST(finds_the_revision),
    TEST(starts_with_a_known_revision),
    TEST(does_not_wait_longer_for_the_probe),
    TEST(probes_a_known_server_that_refuses),
    TEST(opens_over_http),
    TEST(sends_requests),
    TEST(asks_for_the_log),
    TEST(answers_the_server),
    TEST(ends_endless_questions),
    TEST(refuses_a_flood_of_questions),
    TEST(survives_hostile_servers),
    TEST(ends_a_request_whose_answer_is_not_valid),
    TEST(gives_up_after_100_bad_lines),
    TEST_ONCE(gives_up_at_a_long_line),
    TEST_ONCE(gives_up_if_its_replies_are_not_read),
    TEST_ONCE(a_flood_keeps_no_memory),
    TEST_ONCE(ends_an_endless_list),
    TEST(an_idle_client_is_small),
    TEST_ONCE(is_the_same_at_every_cut),
    TESTS_END,
};
