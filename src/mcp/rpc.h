/*
 * rpc.h - JSON-RPC 2.0 messages: text in, a message out, and back
 *
 * Both sides of MCP read and write their messages with these functions.
 */
#pragma once

#include "json/emit.h"
#include "json/json.h"

/* The longest message; a longer one ends the connection. */
enum { RPC_LIMIT = 16 * 1024 * 1024 };

/* The codes of errors (JSON-RPC 2.0, section 5.1; MCP). */
enum {
    RPC_PARSE = -32700,
    RPC_INVALID = -32600,
    RPC_NO_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_RESERVED_FIRST = -32099,    /* MCP reserves the codes between these */
    RPC_RESERVED_LAST = -32020,     /* two; only modern servers send them */
    RPC_NO_REVISION = -32022,
    RPC_NO_RESOURCE = -32002        /* legacy: the resource does not exist */
};

enum rpc_kind {
    RPC_BAD,                        /* not a message; `fault` says why */
    RPC_REQUEST,
    RPC_NOTIFICATION,
    RPC_RESULT,
    RPC_ERROR
};

struct rpc {
    enum rpc_kind kind;
    int code;                       /* of a BAD message or an ERROR */
    const char *fault;
    const allm_json *id;            /* a string or a number; or NULL */
    struct slice method;
    const allm_json *params;        /* an object, or NULL */
    const allm_json *result;        /* an object */
    bool is_answer;                 /* even if BAD: it has a result or error */
    bool has_no_method;             /* even if BAD: it is meant as an answer */
    struct slice message;           /* of an ERROR */
    const allm_json *data;
};

/* Read a message; its parts are in the arena.  False: out of memory. */
bool rpc_read(struct arena *a, struct slice text, struct rpc *out);

/* The keys of _meta that modern requests and results carry. */
#define RPC_META(name) "io.modelcontextprotocol/" name

/*
 * Write a message: begin one, then its body, then end it.
 *
 *      {"jsonrpc": "2.0", "id": ID, "method": M, "params": { ... }}
 *      {"jsonrpc": "2.0", "id": ID, "result": { ... }}
 */
void rpc_begin_request(struct emit *e, struct buf *out, uint64_t id,
                       const char *method);
void rpc_begin_notification(struct emit *e, struct buf *out,
                            const char *method);
void rpc_begin_result(struct emit *e, struct buf *out, const allm_json *id);
void rpc_end(struct emit *e);

/* A whole message {"id": ID, "error": {...}}; id and data may be NULL. */
void rpc_write_error(struct buf *out, const allm_json *id, int code,
                     const char *message, const allm_json *data);

/* The members of an object, inside an object that is being written. */
void rpc_emit_members(struct emit *e, const allm_json *object);
