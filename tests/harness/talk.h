/*
 * talk.h - a conversation between an MCP client and a server, as a script
 *
 *      < {'id':1,'result':{}}      the server says this
 *      << bytes                    the same, exactly as it is
 *      > {'id':1,'method':...}     then the client must say this
 *      ! answer 2 {...}            ...and tell of this
 *      @ 200                       milliseconds pass
 *      call NAME ARGUMENTS         the caller asks: call, list tools, read URI,
 *                                  prompt NAME ARGUMENTS
 *      within MS                   ...the next request has this total time
 *      cancel NUMBER
 *      answer QUESTION accept|decline|cancel CONTENT
 *      gone WHY
 *      refused ID STATUS BODY
 *      broke ID WHY
 *      waits ID MS
 *
 * A ' stands for a ", and every message begins with 'jsonrpc':'2.0', which is
 * left out.  M stands for what every modern request says about the client.
 */
#pragma once

#include "allm_mcp.h"
#include "mcp/client.h"

/* The client sees the server's bytes in two parts, cut at this position of all
 * its bytes (SIZE_MAX: never; 0: before every byte). */
void talk_play(const struct mcp_client_opts *opts, const struct revision *known,
               const char *script, size_t cut);

/*
 * The same for a server of ours: the client's lines begin with <, the server's
 * with >.  A request for its caller is one of
 *
 *      ! call 1 NAME ARGUMENTS [answer ANSWER]         or read, prompt
 *      ! cancel 1
 *
 * and the caller's answers are
 *
 *      text ID TEXT        failed ID TEXT      result ID JSON
 *      fail ID MESSAGE     ask ID SCHEMA       progress ID N TOTAL
 */
void talk_serve(const allm_mcp_server_opts *opts, const char *script,
                size_t cut);

/* The number of bytes that the other side says. */
size_t talk_length(const char *script);
