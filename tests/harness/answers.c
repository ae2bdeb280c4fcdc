/*
 * answers.c - texts such as models write them, in Markdown
 *
 * An answer is a row of blocks, each filled with sentences.  Both are picked by
 * a generator that begins with the number of the answer.
 */
#include "harness/answers.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct writer {
    char *text;
    size_t len;
    uint64_t state;
};

static const char *const sentences[] = {
    "The **key idea** is that a *hash table* trades memory for time.",
    "Use `malloc()` and check its result; see [the manual]"
    "(https://man7.org/linux/man-pages/man3/malloc.3.html).",
    "That said, it *depends* on your workload.",
    "In short: **yes**, but with caveats.",
    "Set `x_max = a_b * c_d` before the loop, not after it.",
    "It costs about $5 to $10 per month (roughly 3*2 units).",
    "The function `f(x) = x**2` isn't linear, and 2 * 3 * 4 = 24.",
    "Read <https://example.com/a_b_c> or write to <mail@example.com>.",
    "Sch\xc3\xb6ne Gr\xc3\xbc\xc3\x9f"
    "e \xe2\x80\x94 na\xc3\xafve caf\xc3\xa9s \xe2\x80\x9cquoted\xe2\x80\x9d.",
    "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe3\x83\x86\xe3\x82\xad"
    "\xe3\x82\xb9\xe3\x83\x88\xe3\x82\x82\xe3\x81\x82\xe3\x82\x8a\xe3\x81\xbe"
    "\xe3\x81\x99\xe3\x80\x82",
    "Great question! \xf0\x9f\x9a\x80 Let's go step by step.",
    "Compare `a < b` with `a && b`, and escape `\\n` as \\\\n.",
    "***Important:*** ~~never~~ rarely do this in production.",
    "See __init__.py, snake_case_names and *args, **kwargs.",
    "AT&amp;T, &copy; 2024, 5 &lt; 6, and R&D.",
    "![a diagram](https://example.com/d.png) shows the flow.",
    "Press <kbd>Ctrl</kbd>+<kbd>C</kbd> to stop it.",
    "The complexity is O(n log n), so 10^6 items take ~20 * 10^6 steps.",
    "If `ptr == NULL`, *then* it fails with **exit code `1`**.",
    "Footnotes[1] and arrays like a[0] or m[i][j] are common.",
};

static const char *const words[] = {
    "Overview", "Setup", "Performance", "Pitfalls", "Examples", "Summary",
    "Step 2: build it", "Why `const` matters", "Results & discussion",
    "What about *errors*?", "FAQ", "\xe3\x81\xbe\xe3\x81\xa8\xe3\x82\x81",
};

static const char *const programs[] = {
    "python\ndef f(*args, **kwargs):\n    \"\"\"Return # of items.\"\"\"\n"
    "    return [x for x in args if x]  # noqa\n",
    "c\n#include <stdio.h>\n\nint main(void)\n{\n    printf(\"%d\\n\", 1 * 2);"
    "\n}\n",
    "\n$ make test\nok 1 - it works\n\n> quoted output\n* not a list\n",
    "json\n{\"a\": [1, 2, {\"b\": null}], \"c\": \"*x*\"}\n",
    "diff\n- old line\n+ new line\n",
    "sh\ncurl -s https://example.com | jq '.[] | .name'\n",
};

static size_t pick(struct writer *w, size_t count)
{
    w->state = w->state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(w->state >> 33) % count;
}

static void put(struct writer *w, const char *text)
{
    size_t len = strlen(text);
    if (w->len + len + 1 < ANSWER_SIZE) {
        memcpy(w->text + w->len, text, len + 1);
        w->len += len;
    }
}

#define PICK(w, list) (list)[pick(w, sizeof(list) / sizeof *(list))]

static void put_sentences(struct writer *w, size_t most)
{
    for (size_t n = 1 + pick(w, most); n; n--) {
        put(w, PICK(w, sentences));
        put(w, n > 1 ? (pick(w, 6) ? " " : "\n") : "");
    }
}

static void put_heading(struct writer *w)
{
    static const char *const marks[] = { "# ", "## ", "### ", "#### " };
    put(w, PICK(w, marks));
    put(w, PICK(w, words));
    put(w, "\n\n");
}

static void put_paragraph(struct writer *w)
{
    put_sentences(w, 5);
    put(w, "\n\n");
}

static void put_bullets(struct writer *w)
{
    static const char *const marks[] = { "- ", "* ", "- **Note**: ",
                                         "- [ ] ", "- [x] " };
    const char *mark = PICK(w, marks);
    for (size_t n = 2 + pick(w, 4); n; n--) {
        put(w, mark);
        put_sentences(w, 1);
        put(w, "\n");
        if (!pick(w, 3)) {
            put(w, "  - ");
            put(w, PICK(w, words));
            put(w, "\n");
        }
    }
    put(w, "\n");
}

static void put_steps(struct writer *w)
{
    char mark[16];
    size_t count = 2 + pick(w, 11);
    for (size_t i = 1; i <= count; i++) {
        snprintf(mark, sizeof mark, "%zu. **", i);
        put(w, mark);
        put(w, "Do this");
        put(w, "**: ");
        put_sentences(w, 1);
        put(w, "\n");
    }
    put(w, "\n");
}

static void put_code(struct writer *w)
{
    put(w, "```");
    put(w, PICK(w, programs));
    put(w, "```\n\n");
}

static void put_step_with_code(struct writer *w)
{
    put(w, "1. First:\n\n   ```sh\n   make all\n   ```\n\n2. Then:\n\n   ");
    put_sentences(w, 1);
    put(w, "\n\n");
}

static void put_table(struct writer *w)
{
    put(w, "| Name | *Value* | Note |\n|:---|:---:|---:|\n");
    for (size_t n = 1 + pick(w, 5); n; n--) {
        put(w, "| `key` | **");
        put(w, n % 2 ? "1,000" : "2");
        put(w, "** | a \\| b |\n");
    }
    put(w, "\n");
}

static void put_quote(struct writer *w)
{
    put(w, "> ");
    put_sentences(w, 1);
    put(w, "\n> \n> - ");
    put_sentences(w, 1);
    put(w, "\n\n");
}

static void put_rule(struct writer *w)
{
    put(w, "---\n\n");
}

size_t answer_write(size_t n, char text[ANSWER_SIZE])
{
    static void (*const blocks[])(struct writer *) = {
        put_heading, put_paragraph, put_paragraph, put_bullets, put_steps,
        put_code, put_step_with_code, put_table, put_quote, put_rule,
    };
    struct writer w = { .text = text, .state = n + 1 };
    pick(&w, 2);
    put_paragraph(&w);
    for (size_t count = 2 + pick(&w, 8); count; count--)
        PICK(&w, blocks)(&w);
    if (n % 4 == 3)
        text[w.len -= pick(&w, w.len / 4)] = '\0';
    return w.len;
}
