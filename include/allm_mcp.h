/*
 * allm_mcp.h - offer tools, resources and prompts to MCP clients
 *
 *    1  The server            what it offers
 *    2  Requests              what a client wants, and the answers to it
 *    3  Bytes                 what arrives, and what is to be sent
 *
 * The Model Context Protocol lets other programs use your tools.  A server is
 * a state machine without I/O: you feed it the bytes of a client, run what it
 * tells you to run, and send the bytes that it returns.  It speaks the
 * revisions from 2024-11-05 to 2026-07-28; the client chooses.
 *
 *      while ((n = read(0, bytes, 4096)) > 0) {
 *          allm_mcp_server_feed(s, bytes, n);
 *          while ((r = allm_mcp_server_next(s)))
 *              answer(s, r);
 *          while ((out = allm_mcp_server_out(s, &len)))
 *              allm_mcp_server_sent(s, write(1, out, len));
 *      }
 */
#ifndef ALLM_MCP_H
#define ALLM_MCP_H

#include "allm_json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------- 1  The server --- */

/* A server for one client.  It serves one thread at a time. */
typedef struct allm_mcp_server allm_mcp_server;

/*
 * What a server offers.  The lists are arrays of objects as in the protocol;
 * NULL offers none.  They are copied.
 */
typedef struct allm_mcp_server_opts {
    size_t                size;
    const char           *name;       /* required                           */
    const char           *version;    /* required                           */
    const char           *instructions;   /* for the model; or NULL         */
    const allm_json      *tools;      /* {"name", "description",
                                         "inputSchema", "outputSchema", ..} */
    const allm_json      *resources;  /* {"uri", "name", "mimeType", ...}   */
    const allm_json      *templates;  /* {"uriTemplate", "name", ...}       */
    const allm_json      *prompts;    /* {"name", "description",
                                         "arguments": [{"name", ...}]}      */
    uint32_t              page;       /* items in one answer; 0: 100        */
    uint32_t              reserved;
    const allm_allocator *allocator;
} allm_mcp_server_opts;

/*
 * Creates a server.  The caller frees it.  allm_mcp_server_error() returns why
 * it was rejected (a list that is not an array, a tool without a name, a schema
 * that does not compile), why the connection was lost, or NULL.
 */
ALLM_API allm_mcp_server *allm_mcp_server_new(const allm_mcp_server_opts *);
ALLM_API void allm_mcp_server_free(allm_mcp_server *);
ALLM_API const allm_error *allm_mcp_server_error(const allm_mcp_server *);

/* ---------------------------------------------------------- 2  Requests --- */

/* What a client wants. */
typedef enum allm_mcp_request_kind {
    ALLM_MCP_REQUEST_CALL = 1,  /* call a tool                              */
    ALLM_MCP_REQUEST_READ,      /* read a resource                          */
    ALLM_MCP_REQUEST_PROMPT,    /* fill in a prompt                         */
    ALLM_MCP_REQUEST_CANCEL     /* the request with this id needs no answer
                                   any more                                 */
} allm_mcp_request_kind;

/*
 * A request.  The names of tools and prompts exist, and the arguments of a tool
 * fit its schema: other requests are answered by the server itself.
 */
typedef struct allm_mcp_request {
    size_t                size;
    allm_mcp_request_kind kind;
    uint32_t              elicits;    /* 1: the client can ask its user     */
    uint64_t              id;
    const char           *name;       /* of a tool or prompt, or a URI      */
    const allm_json      *arguments;  /* an object                          */
    const allm_json      *answer;     /* of the user, after an elicitation:
                                         {"action": "accept", "content": {}},
                                         "decline" or "cancel"; or NULL     */
} allm_mcp_request;

/*
 * The next request, or NULL.  It is borrowed until it is answered; one of kind
 * CANCEL until the next call of this function.
 */
ALLM_API const allm_mcp_request *allm_mcp_server_next(allm_mcp_server *);

/*
 * These answer requests, at any time and in any order.  An id that is not
 * known, or was cancelled, is ignored, which is ALLM_OK.
 *
 * allm_mcp_server_answer() takes the result as the protocol has it: {"content":
 * [{"type": "text", "text": ...}], "structuredContent": ..., "isError": ...} of
 * a tool, {"contents": [...]} of a resource, {"messages": [...]} of a prompt.
 * A tool with an outputSchema must give a structuredContent that fits it;
 * otherwise the client is told that the tool has failed.
 */
ALLM_API allm_status allm_mcp_server_answer(allm_mcp_server *, uint64_t id,
                                            const allm_json *result);
/* Answers the call of a tool with a text; failed: the text says why. */
ALLM_API allm_status allm_mcp_server_text(allm_mcp_server *, uint64_t id,
                                          const char *text, size_t len,
                                          bool failed);
/* Refuses a request: no such resource, wrong arguments of a prompt. */
ALLM_API allm_status allm_mcp_server_fail(allm_mcp_server *, uint64_t id,
                                          const char *message);

/*
 * Asks the client's user to fill in a form: an object schema with strings,
 * numbers and booleans.  The request ends here.  It comes again, with the same
 * arguments and `answer`, perhaps under another id.  If the client cannot ask
 * (elicits is 0), the result is ALLM_ERR_MISUSE and the request is still open.
 */
ALLM_API allm_status allm_mcp_server_elicit(allm_mcp_server *, uint64_t id,
                                            const char *message,
                                            const allm_json *schema);

/*
 * Reports progress, if the client wants to know; a total of 0 is unknown, and
 * the message may be NULL.  ALLM_ERR_MISUSE: a number is not finite.
 */
ALLM_API allm_status allm_mcp_server_notify(allm_mcp_server *, uint64_t id,
                                            double progress, double total,
                                            const char *message);

/* ------------------------------------------------------------- 3  Bytes --- */

/*
 * Takes bytes from the client: messages of one line each.  After an error
 * (ALLM_ERR_STREAM: a line of more than 16 MiB, or a client that does not read
 * its answers; ALLM_ERR_NOMEM) the server takes no more.
 */
ALLM_API allm_status allm_mcp_server_feed(allm_mcp_server *, const char *bytes,
                                          size_t len);
/*
 * The bytes to send, borrowed until the next call with this server; NULL if
 * there are none.  allm_mcp_server_sent() says how many of them were sent.
 */
ALLM_API const char *allm_mcp_server_out(const allm_mcp_server *, size_t *len);
ALLM_API void allm_mcp_server_sent(allm_mcp_server *, size_t len);

#ifdef __cplusplus
}
#endif
#endif
