/* demo_script.c - the script of the demo's model */
#include "cli/demo_script.h"

#include "conf/member.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MS = 35 }; /* about 100 words take 3.5 seconds */

static void put_entry(allm_json_build *b, const char *tag, const char *text,
                      size_t len)
{
    allm_json_build_array(b);
    allm_json_build_text(b, tag, ALLM_NUL_ENDED);
    allm_json_build_text(b, text, len);
    allm_json_build_end(b);
}

/* A text, word by word, with delays at reading speed. */
static void put_words(allm_json_build *b, const char *text, bool slowly)
{
    while (*text) {
        size_t len = strcspn(text, " ") + 1;
        if (len > strlen(text))
            len = strlen(text);
        put_entry(b, "text", text, len);
        text += len;
        if (!slowly)
            continue;
        allm_json_build_array(b);
        allm_json_build_text(b, "delay", 5);
        allm_json_build_int(b, WORD_MS);
        allm_json_build_end(b);
    }
}

static void put_call(allm_json_build *b, const char *id, const char *tool)
{
    allm_json_build_array(b);
    allm_json_build_text(b, "tool_call", ALLM_NUL_ENDED);
    allm_json_build_object(b);
    member_text(b, "id", id);
    member_text(b, "name", tool);
    member_object(b, "arguments");
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_json_build_end(b);
}

/* One answer: its text, its tool calls, its finish reason. */
static void put_answer(allm_json_build *b, bool slowly, const char *text,
                       const char *first, const char *second)
{
    allm_json_build_array(b);
    put_words(b, text, slowly);
    if (first)
        put_call(b, "call_0", first);
    if (second)
        put_call(b, "call_1", second);
    put_entry(b, "finish", first ? "tool_calls" : "stop", ALLM_NUL_ENDED);
    allm_json_build_end(b);
}

static allm_json_build *begin_scripts(void)
{
    allm_json_build *b = member_new_object();
    member_array(b, "scripts");
    return b;
}

static allm_json *end_scripts(allm_json_build *b)
{
    allm_json_build_end(b);
    return member_done(b);
}

allm_json *demo_script_first(bool slowly)
{
    allm_json_build *b = begin_scripts();
    put_answer(b, slowly,
               "To find out where I am, I need two tools.  Both can run at "
               "the same time.\n",
               "clock", "folder");
    put_answer(b, slowly,
               "These results come from this machine, not from my script.\n"
               "One thing only you can tell me.\n",
               "favourite", NULL);
    return end_scripts(b);
}

allm_json *demo_script_last(bool slowly, const char *answer)
{
    char text[1024];
    snprintf(text, sizeof text,
             "Thank you.  I remember: %s.\nA real model would continue from "
             "here: every word was an event of a stream,\nevery tool ran in a "
             "worker thread, and the loop stopped to ask you.\n",
             answer);
    allm_json_build *b = begin_scripts();
    put_answer(b, slowly, text, NULL, NULL);
    return end_scripts(b);
}
