// cplusplus.cc - a C++17 program that uses several chapters
#include <allm.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

static int passed, failed;

static void check(const char *why, bool holds)
{
    std::printf("%sok - %s\n", holds ? "" : "not ", why);
    (holds ? passed : failed)++;
}

template <class T> using owned = std::unique_ptr<T, void (*)(T *)>;

static void fills_structs()
{
    allm_message fields = ALLM_INIT(message);
    fields.role = ALLM_ROLE_USER;
    fields.text = "hello";
    owned<allm_message> m(allm_message_new(&fields), allm_message_free);
    check("data: a message", m && !allm_message_error(m.get()) &&
                                 !std::strcmp(m->text, "hello"));
    check("base: its size", fields.size == sizeof(allm_message));

    allm_error why = ALLM_INIT(error);
    why.kind = ALLM_ERR_ADAPTER;
    why.reason = "timeout";
    owned<allm_error> e(allm_error_new(&why), allm_error_free);
    check("base: an error", e && e->kind == ALLM_ERR_ADAPTER);
}

static void add(allm_tool_run *run, const allm_json *args, void *)
{
    int64_t a = 0, b = 0;
    allm_json_int64(allm_json_get(args, "a"), &a);
    allm_json_int64(allm_json_get(args, "b"), &b);
    std::string sum = std::to_string(a + b);
    allm_tool_text(run, sum.data(), sum.size());
}

static owned<allm_tool> make_tool()
{
    allm_tool fields = ALLM_INIT(tool);
    fields.name = "add";
    fields.description = "Adds two numbers.";
    fields.schema_text = "{\"type\":\"object\"}";
    fields.call = add;
    fields.flags = ALLM_TOOL_INLINE;
    return owned<allm_tool>(allm_tool_new(&fields), allm_tool_free);
}

static owned<allm_engine> make_engine(const allm_tool *tool)
{
    static const char script[] =
        "{\"scripts\":[[[\"tool_call\",{\"id\":\"c\",\"name\":\"add\","
        "\"arguments\":{\"a\":2,\"b\":3}}],[\"finish\",\"tool_calls\"]],"
        "[[\"text\",\"five\"],[\"finish\",\"stop\"]]]}";
    owned<allm_json> opts(allm_json_parse(script, ALLM_NUL_ENDED, nullptr),
                          allm_json_free);
    allm_engine_opts fields = ALLM_INIT(engine_opts);
    fields.model = "fake:m";
    fields.tools = &tool;
    fields.tool_count = 1;
    fields.adapter_opts = opts.get();
    return owned<allm_engine>(allm_engine_new(&fields), allm_engine_free);
}

static void runs_a_chat()
{
    owned<allm_tool> tool = make_tool();
    owned<allm_engine> engine = make_engine(tool.get());
    owned<allm_thread> thread(allm_thread_new(nullptr), allm_thread_free);
    allm_thread_add(thread.get(), ALLM_ROLE_USER, "2 + 3?");
    allm_call_opts opts = ALLM_INIT(call_opts);
    opts.mode = ALLM_MODE_AUTO;
    opts.on_tool_error = ALLM_TOOL_POLICY_HALT;
    opts.temperature = ALLM_NUM(0.5);
    check("engine: it is accepted", !allm_engine_error(engine.get()));

    owned<allm_stream> s(allm_chat(engine.get(), thread.get(), &opts),
                         allm_stream_free);
    check("stream: a chat with a tool", allm_stream_wait(s.get()) == ALLM_OK);
    const allm_chat_result *r = allm_stream_chat_result(s.get());
    check("chat: it has two steps", r && r->step_count == 2);
    check("chat: the model has answered",
          r && !std::strcmp(allm_response_text(r->final_response, nullptr),
                            "five"));
    check("base: the library has this member",
          r && ALLM_HAS(r, manual_tool_calls));
    check("chat: no calls are left", r && r->manual_tool_call_count == 0);
}

static void saves_a_session()
{
    allm_session_record fields = ALLM_INIT(session_record);
    fields.id = "s";
    fields.status = ALLM_SESSION_IDLE;
    owned<allm_session> s(allm_session_new(&fields), allm_session_free);
    owned<allm_text> json(allm_session_record_json(
                              allm_session_fields(s.get()), ALLM_FORM_PLAIN),
                          allm_text_free);
    const char *bytes = allm_text_bytes(json.get(), nullptr);
    check("session: as JSON", bytes && std::strstr(bytes, "\"id\":\"s\""));
}

// The options of an agent contain those of its calls.
static void runs_an_agent()
{
    owned<allm_tool> tool = make_tool();
    owned<allm_engine> engine = make_engine(tool.get());
    owned<allm_thread> thread(allm_thread_new(nullptr), allm_thread_free);
    allm_thread_add(thread.get(), ALLM_ROLE_USER, "2 + 3?");
    allm_call_opts call = ALLM_INIT(call_opts);
    call.request_id = "r";
    allm_agent_opts opts = ALLM_INIT(agent_opts);
    opts.call = &call;
    opts.max_iterations = 4;
    owned<allm_stream> s(allm_agent(engine.get(), thread.get(), &opts),
                         allm_stream_free);
    check("chat: an agent", allm_stream_wait(s.get()) == ALLM_OK);
    const allm_agent_result *r = allm_stream_agent_result(s.get());
    check("chat: it has called the tool", r && r->tool_calls == 1);
    check("stream: the options in the options",
          !std::strcmp(allm_stream_request_id(s.get()), "r"));
}

int main()
{
    fills_structs();
    runs_a_chat();
    runs_an_agent();
    saves_a_session();
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
