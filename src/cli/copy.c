/* copy.c - copy a text to the clipboard of the terminal */
#include "cli/copy.h"

#include "cli/console.h"
#include "cli/print.h"
#include "term/clipboard.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void copy_to_clipboard(const char *text, size_t len)
{
    const char *term = getenv("TERM");
    bool dumb = !term || !*term || !strcmp(term, "dumb");
    struct bytes sequence = { NULL, 0, 0 };
    if (!len) {
        print_fault("there is no answer yet");
    } else if (dumb || !isatty(STDERR_FILENO)) {
        print_fault("the answer is not copied: that needs a terminal that is "
                    "not dumb");
    } else {
        clipboard_sequence(text, len, &sequence);
        console_write(bytes_string(&sequence));
        print_note("(%zu bytes were sent to the clipboard of the terminal)",
                   len);
    }
    bytes_release(&sequence);
}
