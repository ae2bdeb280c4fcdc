/*
 * test_server.c - conversations of the MCP server, fed at every cut
 *
 * harness/talk.h explains the scripts.
 */
#include "harness/check.h"
#include "harness/talk.h"

#include <stdio.h>

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* What a modern request says about its client, and a modern result about us. */
#define ABOUT(can)                                                        \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"    \
    "'io.modelcontextprotocol/clientCapabilities':" can "}"
#define ME                                                                \
    "'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'s',"          \
    "'version':'1'}}"
#define CACHED "'ttlMs':0,'cacheScope':'private',"
#define INITIALIZE(version, can)                                          \
    "< {'id':0,'method':'initialize','params':{'protocolVersion':'" version \
    "','capabilities':" can "}}\n"
#define GREETING(version)                                                 \
    "> {'id':0,'result':{'protocolVersion':'" version "','capabilities':" \
    "{'tools':{},'resources':{},'prompts':{}},'instructions':'be nice',"  \
    "'serverInfo':{'name':'s','version':'1'}}}\n"
#define LEGACY                                                            \
    INITIALIZE("2025-06-18", "{}") GREETING("2025-06-18")                 \
    "< {'method':'notifications/initialized'}\n"
#define TEXT(text) "'content':[{'type':'text','text':'" text "'}]"

static const char tools[] =
    "[{\"name\":\"a\"},{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}},"
    "{\"name\":\"c\",\"outputSchema\":{\"type\":\"object\",\"required\":"
    "[\"x\"]}}]";
#define TOOL_A "{'name':'a'}"
#define TOOL_B                                                            \
    "{'name':'b','inputSchema':{'type':'object','properties':{'n':"       \
    "{'type':'integer'}},'required':['n']}}"
#define TOOL_C "{'name':'c','outputSchema':{'type':'object','required':['x']}}"

struct row {
    const char *why, *script;
};

static const struct row rows[] = {
    { "legacy: the revision of the client", LEGACY },
    { "legacy: a revision that we do not speak",
      INITIALIZE("1999-01-01", "{}") GREETING("2025-11-25") },
    { "legacy: a modern revision is not for initialize",
      INITIALIZE("2026-07-28", "{}") GREETING("2025-11-25") },
    { "legacy: ping, even before initialize",
      "< {'id':'x','method':'ping'}\n"
      "> {'id':'x','result':{}}\n" },
    { "legacy: initialize first",
      "< {'id':1,'method':'tools/list'}\n"
      "> {'id':1,'error':{'code':-32600,'message':'send initialize first, or "
      "name the protocol version in _meta of each request'}}\n" },
    { "modern: discover",
      "< {'id':1,'method':'server/discover','params':{" ABOUT("{}") "}}\n"
      "> {'id':1,'result':{'resultType':'complete','supportedVersions':"
      "['2026-07-28','2025-11-25','2025-06-18','2025-03-26','2024-11-05'],"
      "'capabilities':{'tools':{},'resources':{},'prompts':{}},"
      "'instructions':'be nice'," CACHED ME "}}\n" },
    { "modern: a revision that we do not speak",
      "< {'id':1,'method':'tools/list','params':{'_meta':{"
      "'io.modelcontextprotocol/protocolVersion':'2030-01-01'}}}\n"
      "> {'id':1,'error':{'code':-32022,'message':'this protocol version is "
      "not supported here','data':{'supported':['2026-07-28','2025-11-25',"
      "'2025-06-18','2025-03-26','2024-11-05'],'requested':'2030-01-01'}}}\n" },
    { "modern: no capabilities",
      "< {'id':1,'method':'tools/list','params':{'_meta':{"
      "'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}\n"
      "> {'id':1,'error':{'code':-32602,'message':'_meta has no "
      "clientCapabilities'}}\n" },
    { "modern: no initialize, no ping",
      "< {'id':1,'method':'ping','params':{" ABOUT("{}") "}}\n"
      "> {'id':1,'error':{'code':-32601,'message':'this server has no such "
      "method'}}\n"
      "< {'id':2,'method':'initialize','params':{" ABOUT("{}") "}}\n"
      "> {'id':2,'error':{'code':-32601,'message':'this server has no such "
      "method'}}\n" },
    { "modern: listen",
      "< {'id':'l','method':'subscriptions/listen','params':{'notifications':"
      "{'toolsListChanged':true}," ABOUT("{}") "}}\n"
      "> {'method':'notifications/subscriptions/acknowledged','params':"
      "{'notifications':{},'_meta':{'io.modelcontextprotocol/subscriptionId':"
      "'l'}}}\n" },
    { "pages of a list", LEGACY
      "< {'id':1,'method':'tools/list'}\n"
      "> {'id':1,'result':{'tools':[" TOOL_A "," TOOL_B "],'nextCursor':"
      "'2'}}\n"
      "< {'id':2,'method':'tools/list','params':{'cursor':'2'}}\n"
      "> {'id':2,'result':{'tools':[" TOOL_C "]}}\n" },
    { "modern pages",
      "< {'id':1,'method':'tools/list','params':{'cursor':'2'," ABOUT("{}")
      "}}\n"
      "> {'id':1,'result':{'resultType':'complete','tools':[" TOOL_C "],"
      CACHED ME "}}\n" },
    { "cursors that are not ours", LEGACY
      "< {'id':1,'method':'tools/list','params':{'cursor':'9'}}\n"
      "> {'id':1,'error':{'code':-32602,'message':'the cursor is not valid'}}\n"
      "< {'id':1,'method':'tools/list','params':{'cursor':'x'}}\n"
      "> {'id':1,'error':{'code':-32602,'message':'the cursor is not valid'}}\n"
      "< {'id':1,'method':'tools/list','params':{'cursor':7}}\n"
      "> {'id':1,'error':{'code':-32602,'message':'the cursor is not valid'}}\n"
      "< {'id':1,'method':'tools/list','params':{'cursor':'0'}}\n"
      "> {'id':1,'error':{'code':-32602,'message':'the cursor is not "
      "valid'}}\n" },
    { "lists of what there is", LEGACY
      "< {'id':1,'method':'resources/list'}\n"
      "> {'id':1,'result':{'resources':[{'uri':'r:1'}]}}\n"
      "< {'id':2,'method':'resources/templates/list'}\n"
      "> {'id':2,'result':{'resourceTemplates':[]}}\n"
      "< {'id':3,'method':'prompts/list'}\n"
      "> {'id':3,'result':{'prompts':[{'name':'p'}]}}\n"
      "< {'id':4,'method':'completion/complete'}\n"
      "> {'id':4,'error':{'code':-32601,'message':'this server has no such "
      "method'}}\n" },
    { "calls, answered in another order", LEGACY
      "< {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
      "! call 1 a {}\n"
      "< {'id':'2','method':'tools/call','params':{'name':'b','arguments':"
      "{'n':1}}}\n"
      "! call 2 b {'n':1}\n"
      "failed 2 no\n"
      "> {'id':'2','result':{" TEXT("no") ",'isError':true}}\n"
      "text 1 yes\n"
      "> {'id':1,'result':{" TEXT("yes") "}}\n"
      "text 1 again\n"
      "text 77 unknown\n" },
    { "a modern call",
      "< {'id':1,'method':'tools/call','params':{'name':'a'," ABOUT("{}")
      "}}\n"
      "! call 1 a {}\n"
      "text 1 yes\n"
      "> {'id':1,'result':{'resultType':'complete'," TEXT("yes") "," ME
      "}}\n" },
    { "calls that are not valid", LEGACY
      "< {'id':1,'method':'tools/call','params':{'name':'z'}}\n"
      "> {'id':1,'error':{'code':-32602,'message':'there is nothing of this "
      "name'}}\n"
      "< {'id':2,'method':'tools/call','params':{'name':'a','arguments':[]}}\n"
      "> {'id':2,'error':{'code':-32602,'message':'the arguments are not an "
      "object'}}\n"
      "< {'id':3,'method':'tools/call'}\n"
      "> {'id':3,'error':{'code':-32602,'message':'there is nothing of this "
      "name'}}\n"
      "< {'id':4,'method':'tools/call','params':{'name':'b','arguments':{'n':"
      "'x'}}}\n"
      "> {'id':4,'result':{" TEXT("The arguments do not fit the schema of the "
      "tool.\\n/n: expected integer, got string \\'x\\'") ",'isError':true}}\n"
      "< {'id':5,'method':'tools/call','params':{'name':'a'}}\n"
      "! call 1 a {}\n"
      "< {'id':5,'method':'tools/call','params':{'name':'a'}}\n"
      "> {'id':5,'error':{'code':-32600,'message':'a request with this id is "
      "under way'}}\n" },
    { "structured results", LEGACY
      "< {'id':1,'method':'tools/call','params':{'name':'c'}}\n"
      "! call 1 c {}\n"
      "result 1 {'content':[],'structuredContent':{'x':1},'resultType':'?'}\n"
      "> {'id':1,'result':{'content':[],'structuredContent':{'x':1}}}\n"
      "< {'id':2,'method':'tools/call','params':{'name':'c'}}\n"
      "! call 2 c {}\n"
      "result 2 {'content':[]}\n"
      "> {'id':2,'result':{" TEXT("The tool failed: its result has no "
      "structuredContent.") ",'isError':true}}\n"
      "< {'id':3,'method':'tools/call','params':{'name':'c'}}\n"
      "! call 3 c {}\n"
      "result 3 7\n"
      "! misuse\n"
      "result 3 {'content':[],'isError':true}\n"
      "> {'id':3,'result':{'content':[],'isError':true}}\n" },
    { "resources", LEGACY
      "< {'id':1,'method':'resources/read','params':{'uri':'r:1'}}\n"
      "! read 1 r:1 {}\n"
      "result 1 {'contents':[{'uri':'r:1','text':'t'}]}\n"
      "> {'id':1,'result':{'contents':[{'uri':'r:1','text':'t'}]}}\n"
      "< {'id':2,'method':'resources/read','params':{'uri':'r:2'}}\n"
      "> {'id':2,'error':{'code':-32002,'message':'there is nothing of this "
      "name'}}\n"
      "< {'id':3,'method':'resources/read','params':{'uri':'r:1'}}\n"
      "! read 2 r:1 {}\n"
      "fail 2 it is gone\n"
      "> {'id':3,'error':{'code':-32002,'message':'it is gone'}}\n"
      "< {'id':4,'method':'resources/read','params':{'uri':'r:1',"
      ABOUT("{}") "}}\n"
      "! read 3 r:1 {}\n"
      "result 3 {'contents':[]}\n"
      "> {'id':4,'result':{'resultType':'complete','contents':[]," CACHED ME
      "}}\n" },
    { "prompts", LEGACY
      "< {'id':1,'method':'prompts/get','params':{'name':'p','arguments':"
      "{'k':'v'}}}\n"
      "! prompt 1 p {'k':'v'}\n"
      "result 1 {'messages':[]}\n"
      "> {'id':1,'result':{'messages':[]}}\n" },
    { "progress", LEGACY
      "< {'id':1,'method':'tools/call','params':{'name':'a','_meta':"
      "{'progressToken':'t'}}}\n"
      "! call 1 a {}\n"
      "progress 1 1 4\n"
      "> {'method':'notifications/progress','params':{'progressToken':'t',"
      "'progress':1.0,'total':4.0,'message':'m'}}\n"
      "progress 1 nan 0\n"
      "! misuse\n"
      "progress 1 1 inf\n"
      "! misuse\n"
      "text 1 done\n"
      "> {'id':1,'result':{" TEXT("done") "}}\n"
      "progress 1 2 4\n"
      "< {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
      "! call 2 a {}\n"
      "progress 2 1 4\n" },
    { "cancellation", LEGACY
      "< {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
      "! call 1 a {}\n"
      "< {'method':'notifications/cancelled','params':{'requestId':1}}\n"
      "! cancel 1\n"
      "text 1 late\n"
      "< {'method':'notifications/cancelled','params':{'requestId':1}}\n"
      "< {'method':'notifications/cancelled'}\n" },
    { "a legacy client asks its user",
      INITIALIZE("2025-11-25", "{'elicitation':{}}") GREETING("2025-11-25")
      "< {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
      "! call 1 a {}\n"
      "ask 1 {'type':'object'}\n"
      "> {'id':2,'method':'elicitation/create','params':{'message':'who?',"
      "'requestedSchema':{'type':'object'}}}\n"
      "ask 1 {'type':'object'}\n"
      "! misuse\n"
      "< {'id':2,'result':{'action':'accept','content':{}}}\n"
      "! call 1 a {} answer {'action':'accept','content':{}}\n"
      "< {'id':2,'result':{'action':'accept','content':{}}}\n"
      "text 1 ok\n"
      "> {'id':1,'result':{" TEXT("ok") "}}\n" },
    { "a legacy client refuses to ask",
      INITIALIZE("2025-11-25", "{'elicitation':{'form':{}}}")
      GREETING("2025-11-25")
      "< {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
      "! call 1 a {}\n"
      "ask 1 {'type':'object'}\n"
      "> {'id':2,'method':'elicitation/create','params':{'message':'who?',"
      "'requestedSchema':{'type':'object'}}}\n"
      "< {'id':2,'error':{'code':-32601,'message':'no'}}\n"
      "! call 1 a {} answer {'action':'cancel'}\n" },
    { "a legacy client whose answer is malformed",
      INITIALIZE("2025-11-25", "{'elicitation':{'form':{}}}")
      GREETING("2025-11-25")
      "< {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
      "! call 1 a {}\n"
      "ask 1 {'type':'object'}\n"
      "> {'id':2,'method':'elicitation/create','params':{'message':'who?',"
      "'requestedSchema':{'type':'object'}}}\n"
      "< {'id':2,'result':'yes'}\n"
      "! call 1 a {} answer {'action':'cancel'}\n" },
    { "a client that cannot ask", LEGACY
      "< {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
      "! call 1 a {}\n"
      "ask 1 {'type':'object'}\n"
      "! misuse\n"
      "text 1 ok\n"
      "> {'id':1,'result':{" TEXT("ok") "}}\n" },
    { "a modern client asks its user",
      "< {'id':1,'method':'tools/call','params':{'name':'a',"
      ABOUT("{'elicitation':{'form':{}}}") "}}\n"
      "! call 1 a {}\n"
      "ask 1 {'type':'object'}\n"
      "> {'id':1,'result':{'resultType':'input_required','inputRequests':"
      "{'answer':{'method':'elicitation/create','params':{'mode':'form',"
      "'message':'who?','requestedSchema':{'type':'object'}}}}," ME "}}\n"
      "< {'id':2,'method':'tools/call','params':{'name':'a','inputResponses':"
      "{'answer':{'action':'decline'}}," ABOUT("{'elicitation':{}}") "}}\n"
      "! call 2 a {} answer {'action':'decline'}\n"
      "text 2 no\n"
      "> {'id':2,'result':{'resultType':'complete'," TEXT("no") "," ME
      "}}\n" },
    { "both eras over one connection", LEGACY
      "< {'id':1,'method':'prompts/list','params':{" ABOUT("{}") "}}\n"
      "> {'id':1,'result':{'resultType':'complete','prompts':[{'name':'p'}],"
      CACHED ME "}}\n"
      "< {'id':2,'method':'prompts/list'}\n"
      "> {'id':2,'result':{'prompts':[{'name':'p'}]}}\n" },
    { "lines that are not messages",
      "<< x\n"
      "> {'error':{'code':-32700,'message':'it is not JSON'}}\n"
      "<< []\n"
      "> {'error':{'code':-32600,'message':'it is a batch, which is not "
      "supported'}}\n"
      "<< {\"id\":7}\n"
      "> {'id':7,'error':{'code':-32600,'message':'it is not a JSON-RPC 2.0 "
      "message'}}\n"
      "<< {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":[]}\n"
      "> {'id':7,'error':{'code':-32602,'message':'its params are not an "
      "object'}}\n"
      "<< \n"
      "< {'method':'notifications/unknown'}\n"
      "< {'id':7,'result':{}}\n" },
};

struct lists {
    allm_json *tools, *resources, *prompts;
};

static struct lists make_lists(void)
{
    return (struct lists){
        allm_json_parse(tools, ALLM_NUL_ENDED, NULL),
        allm_json_parse("[{\"uri\":\"r:1\"}]", ALLM_NUL_ENDED, NULL),
        allm_json_parse("[{\"name\":\"p\"}]", ALLM_NUL_ENDED, NULL),
    };
}

static void free_lists(struct lists l)
{
    allm_json_free(l.tools);
    allm_json_free(l.resources);
    allm_json_free(l.prompts);
}

static allm_mcp_server_opts make_opts(struct lists l)
{
    allm_mcp_server_opts opts = ALLM_INIT(mcp_server_opts);
    opts.name = "s";
    opts.version = "1";
    opts.instructions = "be nice";
    opts.page = 2;
    opts.tools = l.tools;
    opts.resources = l.resources;
    opts.prompts = l.prompts;
    return opts;
}

static void serves_clients(void)
{
    struct lists l = make_lists();
    allm_mcp_server_opts opts = make_opts(l);
    if (l.tools && l.resources && l.prompts)
        for (size_t i = 0; i < COUNT(rows); i++) {
            check_row(rows[i].why);
            talk_serve(&opts, rows[i].script, SIZE_MAX);
        }
    check_row(NULL);
    free_lists(l);
}

static void is_the_same_at_every_cut(void)
{
    struct lists l = make_lists();
    allm_mcp_server_opts opts = make_opts(l);
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(rows[i].why);
        size_t length = talk_length(rows[i].script);
        for (size_t cut = 0; cut < length; cut += check_stride())
            talk_serve(&opts, rows[i].script, cut);
    }
    check_row(NULL);
    free_lists(l);
}

static void offers_only_what_it_has(void)
{
    talk_serve(ALLM(mcp_server_opts, .name = "s", .version = "1"),
               "< {'id':0,'method':'initialize','params':{}}\n"
               "> {'id':0,'result':{'protocolVersion':'2025-11-25',"
               "'capabilities':{},'serverInfo':{'name':'s','version':'1'}}}\n"
               "< {'id':1,'method':'tools/list'}\n"
               "> {'id':1,'error':{'code':-32601,'message':'this server has no "
               "such method'}}\n"
               "< {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
               "> {'id':2,'error':{'code':-32601,'message':'this server has no "
               "such method'}}\n",
               SIZE_MAX);
}

static void needs_the_address_of_a_resource(void)
{
    allm_json *any = allm_json_parse("[{\"uriTemplate\":\"r:{x}\"}]",
                                     ALLM_NUL_ENDED, NULL);
    allm_mcp_server_opts opts = ALLM_INIT(mcp_server_opts);
    opts.name = "s";
    opts.version = "1";
    opts.templates = any;
    talk_serve(&opts,
               "< {'id':0,'method':'initialize','params':{}}\n"
               "> {'id':0,'result':{'protocolVersion':'2025-11-25',"
               "'capabilities':{'resources':{}},'serverInfo':{'name':'s',"
               "'version':'1'}}}\n"
               "< {'id':1,'method':'resources/read'}\n"
               "> {'id':1,'error':{'code':-32602,'message':'there is nothing "
               "of this name'}}\n"
               "< {'id':2,'method':'resources/read','params':{'uri':7}}\n"
               "> {'id':2,'error':{'code':-32602,'message':'there is nothing "
               "of this name'}}\n",
               SIZE_MAX);
    allm_json_free(any);
}

static void check_error(allm_mcp_server *s, const char *message)
{
    const allm_error *error = allm_mcp_server_error(s);
    CHECK_TEXT(error ? error->message : NULL, message);
    allm_mcp_server_free(s);
}

static void rejects_what_it_cannot_serve(void)
{
    allm_json *seven = allm_json_parse("7", 1, NULL);
    allm_json *nameless = allm_json_parse("[{}]", 4, NULL);
    allm_json *wrong =
        allm_json_parse("[{\"name\":\"t\",\"outputSchema\":{\"type\":\"x\"}}]",
                        ALLM_NUL_ENDED, NULL);
    check_error(allm_mcp_server_new(NULL),
                "the server has no name or no version; set both");
    check_error(allm_mcp_server_new(ALLM(mcp_server_opts, .name = "s",
                                         .version = "1", .tools = seven)),
                "a list of the server is not an array; give arrays of objects, "
                "or NULL");
    check_error(allm_mcp_server_new(ALLM(mcp_server_opts, .name = "s",
                                         .version = "1", .tools = nameless)),
                "a tool has no name; give each a name");
    allm_mcp_server *s = allm_mcp_server_new(
        ALLM(mcp_server_opts, .name = "s", .version = "1", .tools = wrong));
    const allm_error *error = allm_mcp_server_error(s);
    CHECK(error && strstr(error->message, "a schema of the tool \"t\": "));
    CHECK(allm_mcp_server_feed(s, "x\n", 2) != ALLM_OK);
    CHECK(!allm_mcp_server_next(s) && !allm_mcp_server_out(s, NULL));
    allm_mcp_server_free(s);
    allm_json_free(seven);
    allm_json_free(nameless);
    allm_json_free(wrong);
}

static void accepts_no_server(void)
{
    CHECK(allm_mcp_server_feed(NULL, "", 0) == ALLM_ERR_NOMEM);
    CHECK(!allm_mcp_server_next(NULL) && !allm_mcp_server_out(NULL, NULL));
    CHECK(allm_mcp_server_text(NULL, 1, "", 0, false) == ALLM_ERR_NOMEM);
    CHECK(allm_mcp_server_answer(NULL, 1, NULL) == ALLM_ERR_NOMEM);
    CHECK(allm_mcp_server_fail(NULL, 1, "") == ALLM_ERR_NOMEM);
    CHECK(allm_mcp_server_elicit(NULL, 1, "", NULL) == ALLM_ERR_NOMEM);
    CHECK(allm_mcp_server_notify(NULL, 1, 1, 2, "") == ALLM_ERR_NOMEM);
    CHECK(allm_mcp_server_error(NULL)->kind == ALLM_ERR_NOMEM);
    allm_mcp_server_sent(NULL, 1);
    allm_mcp_server_free(NULL);
}

static void gives_up_at_a_long_line(void)
{
    static char block[64 * 1024];
    memset(block, 'x', sizeof block);
    allm_mcp_server *s =
        allm_mcp_server_new(ALLM(mcp_server_opts, .name = "s", .version = "1"));
    allm_status status = ALLM_OK;
    for (size_t n = 0; n <= 16 * 1024 * 1024; n += sizeof block)
        status = allm_mcp_server_feed(s, block, sizeof block);
    CHECK_INT(status, ALLM_ERR_STREAM);
    check_error(s, "the client sent a line of more than 16 MiB");
}

static void gives_up_if_its_answers_are_not_read(void)
{
    allm_mcp_server *s =
        allm_mcp_server_new(ALLM(mcp_server_opts, .name = "s", .version = "1"));
    static const char ping[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    static char many[sizeof ping * 1000];
    for (size_t i = 0; i < 1000; i++)
        memcpy(many + i * (sizeof ping - 1), ping, sizeof ping);
    allm_status status = ALLM_OK;
    for (int i = 0; i < 3000 && status == ALLM_OK; i++)
        status = allm_mcp_server_feed(s, many, ALLM_NUL_ENDED);
    CHECK_INT(status, ALLM_ERR_STREAM);
    check_error(s, "the client does not read the answers: more than 64 MiB of "
                   "them are not sent");
}

TESTS = {
    TEST(serves_clients),
    TEST_ONCE(is_the_same_at_every_cut),
    TEST(offers_only_what_it_has),
    TEST(needs_the_address_of_a_resource),
    TEST(rejects_what_it_cannot_serve),
    TEST(accepts_no_server),
    TEST_ONCE(gives_up_at_a_long_line),
    TEST_ONCE(gives_up_if_its_answers_are_not_read),
    TESTS_END,
};
