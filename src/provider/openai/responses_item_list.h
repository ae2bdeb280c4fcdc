/*
 * responses_item_list.h - the items of a response, found by their events
 *
 * An event belongs to the item with its index.  The id decides only between
 * several of them, or where there is no index.
 */
#pragma once

#include "provider/answer.h"

/* The item that an event belongs to, as far as the event says. */
struct responses_place {
    bool has_index;
    int64_t index;              /* of the item */
    struct slice id;            /* some servers invent one for every event */
    int64_t part;               /* of the item's content, or summary */
};

/* What a piece belongs to. */
enum responses_piece {
    RESPONSES_TEXT, RESPONSES_REFUSAL, RESPONSES_SUMMARY, RESPONSES_THOUGHT,
    RESPONSES_ARGUMENTS, RESPONSES_INPUT
};

enum responses_kind {
    RESPONSES_MESSAGE, RESPONSES_CALL, RESPONSES_REASONING, RESPONSES_OPAQUE,
    RESPONSES_KINDS
};

/* The most items, and the most parts of an item: a server may announce any
 * number of them, and the lists are searched from one end to the other. */
enum { RESPONSES_MOST = 8192 };

/* A part of an item that has been emitted, at least in part. */
struct responses_part {
    struct responses_part *next;
    enum responses_piece what;
    int64_t number;
};

struct responses_item {
    struct responses_item *next;
    enum responses_kind kind;
    bool has_index, begun, done;
    bool custom;                /* CALL: its input is plain text */
    bool cited;                 /* MESSAGE: its sources were emitted */
    int64_t index;
    struct slice id;
    struct responses_part *parts;   /* the newest first */
    size_t part_count;
    size_t emitted;             /* bytes of text or reasoning */
    struct buf refusal;         /* MESSAGE */
    const char *phase;          /* MESSAGE; or NULL */
    struct calls_slot *slot;    /* CALL; NULL: not started yet */
    struct buf pending;         /* CALL: arguments before it was started */
    struct slice name;          /* CALL: known before it was started */
    const allm_json *held;      /* CALL: as it began, with arguments; or NULL */
    const allm_json *raw;       /* REASONING, OPAQUE: as received; or NULL */
};

struct responses_items {        /* it begins zeroed */
    struct answer *answer;      /* receives everything */
    struct responses_item *first, *last;
    size_t count;
};

enum responses_kind openai_item_kind(const allm_json *item);
bool openai_item_has_id(const struct responses_item *i, struct slice id);
bool openai_item_has_index(const struct responses_item *i,
                           const struct responses_place *p);

/* The item at a place; NULL: there is none. */
struct responses_item *openai_item_find(const struct responses_items *all,
                                        const struct responses_place *p,
                                        enum responses_kind kind);

/* Append a new item to the list; NULL: out of memory, or too many. */
struct responses_item *openai_item_append(struct responses_items *all,
                                          const struct responses_place *p,
                                          enum responses_kind kind);

/* A copy that lives as long as the response. */
struct slice openai_item_keep(struct responses_items *all, struct slice text);

void openai_item_no_memory(struct responses_items *all);
void openai_item_refuse_more(struct responses_items *all);
