/*
 * allm.h - the whole public interface of liballm
 *
 * A program includes this file alone.  It includes every chapter; each chapter
 * also compiles when it is included by itself.
 *
 *   what do you want to do?      chapter          begin with
 *   ---------------------------  ---------------  ----------------------------
 *   handle errors and strings    allm_base.h      allm_status_name,
 *                                                 allm_error_reasons,
 *                                                 allm_error_json,
 *                                                 allm_text_bytes,
 *                                                 allm_text_free
 *   read, build and check JSON   allm_json.h      allm_json_parse,
 *                                                 allm_json_get,
 *                                                 allm_json_text,
 *                                                 allm_json_build_new,
 *                                                 allm_json_schema_check
 *   hold a conversation          allm_data.h      allm_thread_new,
 *                                                 allm_thread_add,
 *                                                 allm_thread_append,
 *                                                 allm_message_new,
 *                                                 allm_image_from_file
 *   describe one request, read   allm_request.h   allm_request_new,
 *   its response                                  allm_request_from_thread,
 *                                                 allm_response_text,
 *                                                 allm_validate_request,
 *                                                 allm_codec_decode
 *   choose a model, set keys     allm_engine.h    allm_engine_new,
 *                                                 allm_engine_error,
 *                                                 allm_engine_put_param,
 *                                                 allm_keys_new,
 *                                                 allm_keys_put
 *   see what models exist        allm_catalog.h   allm_catalog_new,
 *                                                 allm_catalog_find,
 *                                                 allm_catalog_select,
 *                                                 allm_registry_list,
 *                                                 allm_models
 *   understand events            allm_event.h     allm_event_tag,
 *                                                 allm_event_json,
 *                                                 allm_event_parse,
 *                                                 allm_collector_add,
 *                                                 allm_collector_response
 *   run a call, or many at once  allm_stream.h    allm_generate,
 *                                                 allm_stream_next,
 *                                                 allm_stream_response,
 *                                                 allm_stream_cancel,
 *                                                 allm_hub_wait
 *   let the model call tools     allm_tool.h      allm_tool_new,
 *                                                 allm_tool_ok,
 *                                                 allm_tool_fail,
 *                                                 allm_tool_ask,
 *                                                 allm_tool_defer
 *   run whole turns, an agent    allm_chat.h      allm_step,
 *                                                 allm_chat,
 *                                                 allm_stream_chat_result,
 *                                                 allm_agent,
 *                                                 allm_budget_new
 *   continue and save a talk     allm_session.h   allm_session_new,
 *                                                 allm_session_reply,
 *                                                 allm_session_continue,
 *                                                 allm_session_save,
 *                                                 allm_session_load
 *   embed, draw, moderate        allm_media.h     allm_embed,
 *                                                 allm_stream_embeddings,
 *                                                 allm_image_generate,
 *                                                 allm_stream_image_response,
 *                                                 allm_moderate
 *   test without a provider      allm_testing.h   allm_fake_plain_text,
 *                                                 allm_fake_requests,
 *                                                 allm_recorder_new,
 *                                                 allm_player_new,
 *                                                 allm_player_transport
 *   add a provider, a transport  allm_adapter.h   allm_sink_put,
 *                                                 allm_sink_fail,
 *                                                 allm_http_url,
 *                                                 allm_http_body,
 *                                                 allm_waker_ring
 *   run tools your own way       allm_executor.h  allm_executor_compose,
 *                                                 allm_plan_serial,
 *                                                 allm_plan_parallel,
 *                                                 allm_encoding_text,
 *                                                 allm_encoder_json
 *   let the model run programs   allm_tools.h     allm_toolbox_new,
 *                                                 allm_toolbox_add_program,
 *                                                 allm_toolbox_executor,
 *                                                 allm_sandbox_run,
 *                                                 allm_sandbox_report
 *   offer tools to MCP clients   allm_mcp.h       allm_mcp_server_new,
 *                                                 allm_mcp_server_feed,
 *                                                 allm_mcp_server_next,
 *                                                 allm_mcp_server_answer,
 *                                                 allm_mcp_server_out
 *   change what a turn does      allm_ext.h       allm_pipeline_new,
 *                                                 allm_pipeline_insert,
 *                                                 allm_context_decide,
 *                                                 allm_context_emit,
 *                                                 allm_context_fail
 *
 * Six rules hold everywhere.  The chapters state only the exceptions.
 *
 *  Ownership  The caller frees what a function named _new, _from_..., _copy,
 *             _keep, _parse or _decode returns, once, with the _free function
 *             of its type; likewise any other result that is not const.  A
 *             const result is borrowed: it is valid as long as the object that
 *             it was read from, or for the shorter time that its comment
 *             gives.  Arguments are copied, or shared if they are
 *             reference-counted, so the caller may free its own at once.  What
 *             a function pointer or `ud` refers to is not copied; it must
 *             outlive every object that uses it.
 *  Errors     Constructors never fail: if the input is rejected, they return
 *             an object with an error.  Check it once, with the _error
 *             function of its type.  A constructor returns NULL only when
 *             memory runs out.  Every function accepts a NULL object, and then
 *             returns NULL, 0, false or ALLM_ERR_NOMEM.
 *  Zero       In a struct that the caller fills, zero means "absent" or "the
 *             default", in this version and in every later one; so does NULL
 *             in place of an option struct.  Each such struct begins with its
 *             size, which ALLM() and ALLM_INIT() set.  Members that an older
 *             caller does not have are zero.  Members that an older library
 *             does not have must be zero; else it rejects the struct.
 *  Text       Strings are UTF-8 and NUL-terminated; NULL means absent.  A
 *             string with a length may contain NUL.  ALLM_NUL_ENDED as the
 *             length means "up to the NUL", and so does 0 in a struct that
 *             the caller fills.  Strings are not checked when they are passed
 *             in; bytes that are not UTF-8 are written to JSON as U+FFFD.
 *  JSON form  Types with a function named _json have a JSON form, and so do
 *             the structs inside them.  Options, tables of functions, agent
 *             results, embeddings and moderations have none.  Members have
 *             their C names, unless a comment gives another one in quotes.
 *             `kept` is an object of the members that were read but have no
 *             place in the struct, because they are unknown or of a wrong
 *             type; they are written again.  An element of a list that is not
 *             a struct of the library becomes an empty struct whose `kept` is
 *             an array with that element.
 *  Threads    Only one thread at a time may use an object, unless its comment
 *             says otherwise.  Plain data is immutable: any number of threads
 *             may read it.
 */
#ifndef ALLM_H
#define ALLM_H

#include "allm_base.h"
#include "allm_json.h"
#include "allm_data.h"
#include "allm_request.h"
#include "allm_engine.h"
#include "allm_catalog.h"
#include "allm_event.h"
#include "allm_stream.h"
#include "allm_tool.h"
#include "allm_chat.h"
#include "allm_session.h"
#include "allm_store.h"
#include "allm_media.h"
#include "allm_testing.h"
#include "allm_adapter.h"
#include "allm_executor.h"
#include "allm_tools.h"
#include "allm_ext.h"
#include "allm_mcp.h"

#endif
