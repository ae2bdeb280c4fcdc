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
 *   keep a conversation          allm_data.h      allm_thread_new,
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
 *   change what a turn does      allm_ext.h       allm_pipeline_new,
 *                                                 allm_pipeline_insert,
 *                                                 allm_context_decide,
 *                                                 allm_context_emit,
 *                                                 allm_context_fail
 *
 * Six rules hold everywhere, so the chapters do not repeat them.
 *
 *  Ownership  What a function named _new, _from..., _copy, _keep, _parse or
 *             _decode returns, and every result that is not const, is a root:
 *             free it once with its _free.  Every const pointer is lent by a
 *             root and dies with it, or sooner if its comment says so.  What
 *             you pass in is copied, or shared where it is counted; you may
 *             free yours at once.
 *  Errors     A constructor always returns an object; ask the object how it
 *             is.  NULL means out of memory and is accepted by every function,
 *             which then answers NULL, 0, false or ALLM_ERR_NOMEM.
 *  Zero       In a struct that you fill, zero means "the default", today and
 *             in every later version; so does NULL instead of an option
 *             struct.  Each begins with its size: ALLM() fills it in.
 *  Text       UTF-8, NUL-terminated.  Where a length stands beside it, NUL may
 *             occur inside; ALLM_NUL_ENDED means "up to the NUL", and so does
 *             length 0 in a struct that you fill.  NULL means absent.  Text is
 *             not checked on the way in; what is not UTF-8 is written to JSON
 *             as U+FFFD.
 *  JSON form  Each struct has one: the members carry their C names unless the
 *             comment gives another in quotes.  `kept` holds the members of a
 *             document that have no place in the struct, unknown ones and ones
 *             of a wrong type, as an object; they are written out again.  An
 *             element of a list that is no struct of ours becomes an empty one
 *             whose `kept` is an array of it alone.
 *  Threads    One object, one thread at a time.  Plain data is immutable, and
 *             roots of plain data may be read by any number of threads.
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
#include "allm_media.h"
#include "allm_testing.h"
#include "allm_adapter.h"
#include "allm_executor.h"
#include "allm_ext.h"

#endif
