/*
 * answer.c - print an answer while it arrives
 *
 *      stream --events--> text        --Markdown--> stdout
 *                         reasoning   --dim-------> stderr
 *                         tool calls  --a line----> stderr
 *
 * On a terminal the call runs in a hub, so that keys are read and the spinner
 * turns meanwhile.  Nothing wakes up the program unless something arrives, or
 * the spinner is visible.
 */
#include "cli/answer.h"

#include "cli/console.h"
#include "cli/form_queue.h"
#include "cli/output.h"
#include "cli/print.h"
#include "cli/timing.h"
#include "cli/tool_lines.h"
#include "term/clipboard.h"
#include "term/escape.h"
#include "term/markdown.h"
#include "term/style.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPINNER_AFTER_MS = 400, SPINNER_FRAME_MS = 125, WIDEST = 100 };

static struct {
    const struct answer_look *look;
    struct markdown *markdown; /* NULL: plain text */
    bool notes;                /* stderr is a terminal */
    bool color;                /* on stderr */
    struct bytes out, err, text;
    struct escape thought;
    bool running;
    bool silent;               /* print nothing */
    bool open;                 /* stdout is within a line */
    bool thinking;             /* stderr is */
    bool begun;                /* something was printed */
    int frame;                 /* of the spinner; -1: it is not visible */
    int64_t since;             /* the call began, or the last frame */
} answer;

static size_t line_width(void)
{
    size_t columns = console_columns(STDOUT_FILENO);
    if (answer.look->width)
        return answer.look->width;
    return !columns ? 80 : columns < WIDEST ? columns : WIDEST;
}

static bool wants_markdown(const struct answer_look *look)
{
    if (look->raw || (look->markdown && !strcmp(look->markdown, "off")))
        return false;
    return print_is_terminal() ||
           (look->markdown && !strcmp(look->markdown, "on"));
}

static enum markdown_look markdown_look(const struct answer_look *look)
{
    bool terminal = print_is_terminal();
    return !style_wanted(look->color, terminal)        ? MARKDOWN_PLAIN
           : style_links_wanted(look->links, terminal) ? MARKDOWN_LINKS
                                                       : MARKDOWN_COLOR;
}

static void begin_answer(const struct answer_look *look)
{
    answer.look = look;
    answer.notes = isatty(STDERR_FILENO) && !look->quiet;
    answer.color = style_wanted(look->color, isatty(STDERR_FILENO));
    if (wants_markdown(look))
        answer.markdown = markdown_new(line_width(), markdown_look(look));
    bytes_clear(&answer.text);
    tool_lines_clear();
    answer.open = answer.thinking = answer.begun = false;
    answer.frame = -1;
    answer.running = true;
    answer.since = timing_now();
}

/* ------------------------------------------------------------ spinner --- */

static void write_error_bytes(const char *bytes, size_t len)
{
    print_flush();
    (void)output_write(STDERR_FILENO, bytes, len);
}

static void erase_spinner(void)
{
    if (answer.frame >= 0)
        write_error_bytes("\r \r", 3);
    answer.frame = -1;
}

static bool has_spinner(void)
{
    return answer.notes && answer.color && !answer.begun;
}

/* How long to wait until the spinner turns; -1: it does not. */
static int spinner_timeout(void)
{
    int64_t left = answer.since - timing_now() +
                   (answer.frame < 0 ? SPINNER_AFTER_MS : SPINNER_FRAME_MS);
    return !has_spinner() ? -1 : left > 0 ? (int)left : 0;
}

static void turn_spinner(void)
{
    static const char frames[] = "|/-\\";
    if (!has_spinner() || spinner_timeout() > 0)
        return;
    answer.since = timing_now();
    answer.frame = (answer.frame + 1) % 4;
    char line[2] = { '\r', frames[answer.frame] };
    write_error_bytes(line, sizeof line);
}

/* --------------------------------------------------------------- text --- */

/* The reasoning ends its line before something else is printed. */
static void end_thought(void)
{
    if (!answer.thinking)
        return;
    if (answer.color)
        style_sequence(&answer.err, 0);
    bytes_byte(&answer.err, '\n');
    write_error_bytes(answer.err.ptr, answer.err.len);
    bytes_clear(&answer.err);
    answer.thinking = false;
}

static void begin_output(void)
{
    erase_spinner();
    end_thought();
    answer.begun = true;
}

static void write_markdown(void)
{
    if (answer.out.len)
        answer.open = answer.out.ptr[answer.out.len - 1] != '\n';
    print_raw(bytes_string(&answer.out), answer.out.len);
    bytes_clear(&answer.out);
}

static void show_text_piece(const char *text, size_t len)
{
    begin_output();
    bytes_add(&answer.text, text, len);
    if (answer.markdown) {
        markdown_resize(answer.markdown, line_width()); /* of the window now */
        markdown_feed(answer.markdown, text, len, &answer.out);
        write_markdown();
    } else {
        (answer.look->raw ? print_raw : print_bytes)(text, len);
        answer.open = text[len - 1] != '\n';
    }
    print_flush();
}

/* One message of the answer is complete. */
static void end_text(void)
{
    if (answer.markdown) {
        markdown_end(answer.markdown, &answer.out);
        write_markdown();
    }
    if (answer.open && !answer.look->raw)
        print_text("\n");
    answer.open = false;
    print_flush();
}

static void end_answer(void)
{
    erase_spinner();
    end_thought();
    end_text();
    markdown_free(answer.markdown);
    answer.markdown = NULL;
    answer.running = false;
}

void answer_pause(void)
{
    struct bytes line = { NULL, 0, 0 };
    if (!answer.running)
        return;
    erase_spinner();
    end_thought();
    end_text();
    tool_lines_break(&line);
    if (line.len && answer.notes)
        write_error_bytes(line.ptr, line.len);
    bytes_release(&line);
}

static void show_thought(const char *text, size_t len)
{
    bool wanted = !answer.look->hide_reasoning &&
                  (answer.look->verbose || isatty(STDERR_FILENO));
    if (!wanted)
        return;
    erase_spinner();
    if (!answer.thinking && answer.color)
        style_sequence(&answer.err, STYLE_DIM);
    answer.thinking = answer.begun = true;
    struct bytes safe = { NULL, 0, 0 };
    escape_feed(&answer.thought, text, len, &safe);
    for (size_t i = 0; i < safe.len; i++) {
        bool end = safe.ptr[i] == '\n' && answer.color;
        if (end)
            style_sequence(&answer.err, 0);
        bytes_byte(&answer.err, safe.ptr[i]);
        if (end)
            style_sequence(&answer.err, STYLE_DIM);
    }
    write_error_bytes(bytes_string(&answer.err), answer.err.len);
    bytes_clear(&answer.err);
    bytes_release(&safe);
}

/* -------------------------------------------------------------- tools --- */

static void show_tool(const allm_event *event)
{
    struct bytes line = { NULL, 0, 0 };
    tool_lines_note(event, &line);
    if (line.len && answer.notes) {
        if (answer.open)
            end_text();
        begin_output();
        write_error_bytes(line.ptr, line.len);
    }
    bytes_release(&line);
}

static void show_event(const allm_event *event)
{
    if (answer.silent)
        show_tool(event);
    else if (event->type == ALLM_EV_TEXT_DELTA && event->text_len)
        show_text_piece(event->text, event->text_len);
    else if (event->type == ALLM_EV_REASONING_DELTA && event->text_len)
        show_thought(event->text, event->text_len);
    else
        show_tool(event);
}

/* --------------------------------------------------------------- loop --- */

static void run_alone(allm_stream *stream)
{
    const allm_event *event;
    while (!print_broken() && allm_stream_next(stream, &event) == ALLM_EVENT)
        show_event(event);
}

/* Show what has arrived; false: the call has ended. */
static bool show_arrived(allm_hub *hub, allm_stream *stream)
{
    const allm_event *event;
    void *tag;
    while (!print_broken() && allm_hub_wait(hub, 0, &tag)) {
        allm_status status = allm_stream_next(stream, &event);
        if (status == ALLM_EVENT)
            show_event(event);
        else if (status != ALLM_AGAIN)
            return false;
    }
    return !print_broken() && allm_hub_count(hub);
}

static int smaller_timeout(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* Run the call in a hub, next to the keyboard, the spinner, and whoever reads
 * the answer: once that has ended, so does the call. */
static int run_in_hub(allm_hub *hub, allm_stream *stream)
{
    int signal = 0, reader = print_pipe();
    while (show_arrived(hub, stream)) {
        struct pollfd wait[4] = {
            { .fd = allm_hub_fd(hub), .events = POLLIN },
            { .fd = console_fd(), .events = POLLIN },
            { .fd = form_queue_fd(), .events = POLLIN },
            { .fd = reader },
        };
        int n = poll(wait, 4,
                     smaller_timeout(allm_hub_timeout(hub), spinner_timeout()));
        turn_spinner();
        if (n > 0 && wait[3].revents)
            print_break();
        else if (n > 0 && wait[2].revents)
            form_queue_answer();
        else if (n > 0 && wait[1].revents && console_read()) {
            signal = SIGINT;
            allm_stream_cancel(stream);
        }
    }
    return signal;
}

int answer_run(allm_stream *stream, const struct answer_look *look)
{
    int signal = 0;
    begin_answer(look);
    bool busy = answer.notes || console_fd() >= 0 || form_queue_fd() >= 0 ||
                print_pipe() >= 0;
    allm_hub *hub = busy ? allm_hub_new(NULL) : NULL;
    if (hub && allm_hub_add(hub, stream, NULL) == ALLM_OK)
        signal = run_in_hub(hub, stream);
    run_alone(stream);
    end_answer();
    allm_hub_free(hub);
    return signal;
}

int answer_wait(allm_stream *stream)
{
    static const struct answer_look look = { .quiet = true };
    answer.silent = true;
    int signal = answer_run(stream, &look);
    answer.silent = false;
    return signal;
}

void answer_print(const char *text, size_t len, const struct answer_look *look)
{
    begin_answer(look);
    if (len)
        show_text_piece(text, len);
    end_answer();
}

const char *answer_last_text(size_t *len)
{
    *len = answer.text.len;
    return bytes_string(&answer.text);
}

void answer_copy(void)
{
    const char *term = getenv("TERM");
    bool dumb = !term || !*term || !strcmp(term, "dumb");
    struct bytes sequence = { NULL, 0, 0 };
    if (!answer.text.len) {
        print_fault("there is no answer yet");
    } else if (dumb || !isatty(STDERR_FILENO)) {
        print_fault("the answer is not copied: that needs a terminal that is "
                    "not dumb");
    } else {
        clipboard_sequence(answer.text.ptr, answer.text.len, &sequence);
        console_write(bytes_string(&sequence));
        print_note("(%zu bytes were sent to the clipboard of the terminal)",
                   answer.text.len);
    }
    bytes_release(&sequence);
}
