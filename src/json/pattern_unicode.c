/*
 * pattern_unicode.c - the general category of every code point
 *
 * The build makes unicode_runs from data/unicode.txt.  An entry begins a run of
 * code points of one category, which ends at the next entry:
 * (first << 5 | category).
 */
#include "json/pattern_parts.h"

/* tools/embed-unicode has the same order.  ALTERNATE: capital and small letters
 * by turns. */
enum category {
    Lu, Ll, Lt, Lm, Lo, Mn, Mc, Me, Nd, Nl, No, Pc, Pd, Ps, Pe, Pi, Pf, Po,
    Sm, Sc, Sk, So, Zs, Zl, Zp, Cc, Cf, Cs, Co, Cn, ALTERNATE
};

#define BIT(c)      ((uint32_t)1 << (c))
#define BITS(a, b)  ((BIT(b) << 1) - BIT(a))    /* from a to b */

/* The names in Unicode's PropertyValueAliases.txt. */
static const struct {
    const char *short_name, *long_name;
    uint32_t bits;
} names[] = {
    { "L",   "Letter",                BITS(Lu, Lo) },
    { "LC",  "Cased_Letter",          BITS(Lu, Lt) },
    { "Lu",  "Uppercase_Letter",      BIT(Lu) },
    { "Ll",  "Lowercase_Letter",      BIT(Ll) },
    { "Lt",  "Titlecase_Letter",      BIT(Lt) },
    { "Lm",  "Modifier_Letter",       BIT(Lm) },
    { "Lo",  "Other_Letter",          BIT(Lo) },
    { "M",   "Mark",                  BITS(Mn, Me) },
    { "M",   "Combining_Mark",        BITS(Mn, Me) },
    { "Mn",  "Nonspacing_Mark",       BIT(Mn) },
    { "Mc",  "Spacing_Mark",          BIT(Mc) },
    { "Me",  "Enclosing_Mark",        BIT(Me) },
    { "N",   "Number",                BITS(Nd, No) },
    { "Nd",  "Decimal_Number",        BIT(Nd) },
    { "Nd",  "digit",                 BIT(Nd) },
    { "Nl",  "Letter_Number",         BIT(Nl) },
    { "No",  "Other_Number",          BIT(No) },
    { "P",   "Punctuation",           BITS(Pc, Po) },
    { "P",   "punct",                 BITS(Pc, Po) },
    { "Pc",  "Connector_Punctuation", BIT(Pc) },
    { "Pd",  "Dash_Punctuation",      BIT(Pd) },
    { "Ps",  "Open_Punctuation",      BIT(Ps) },
    { "Pe",  "Close_Punctuation",     BIT(Pe) },
    { "Pi",  "Initial_Punctuation",   BIT(Pi) },
    { "Pf",  "Final_Punctuation",     BIT(Pf) },
    { "Po",  "Other_Punctuation",     BIT(Po) },
    { "S",   "Symbol",                BITS(Sm, So) },
    { "Sm",  "Math_Symbol",           BIT(Sm) },
    { "Sc",  "Currency_Symbol",       BIT(Sc) },
    { "Sk",  "Modifier_Symbol",       BIT(Sk) },
    { "So",  "Other_Symbol",          BIT(So) },
    { "Z",   "Separator",             BITS(Zs, Zp) },
    { "Zs",  "Space_Separator",       BIT(Zs) },
    { "Zl",  "Line_Separator",        BIT(Zl) },
    { "Zp",  "Paragraph_Separator",   BIT(Zp) },
    { "C",   "Other",                 BITS(Cc, Cn) },
    { "Cc",  "Control",               BIT(Cc) },
    { "Cc",  "cntrl",                 BIT(Cc) },
    { "Cf",  "Format",                BIT(Cf) },
    { "Cs",  "Surrogate",             BIT(Cs) },
    { "Co",  "Private_Use",           BIT(Co) },
    { "Cn",  "Unassigned",            BIT(Cn) },
    { "Any", "Any",                   BITS(Lu, Cn) },
    { "Assigned", "Assigned",         BITS(Lu, Co) },
};

uint32_t unicode_category(uint32_t point)
{
    size_t low = 0, high = unicode_run_count;
    while (high - low > 1) {    /* runs[low] begins at the point or before it */
        size_t middle = low + (high - low) / 2;
        if (unicode_runs[middle] >> 5 <= point)
            low = middle;
        else
            high = middle;
    }
    uint32_t category = unicode_runs[low] & 31;
    if (category == ALTERNATE)
        category = (point - (unicode_runs[low] >> 5)) % 2 ? Ll : Lu;
    return BIT(category);
}

uint32_t unicode_categories_named(struct slice name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (slice_is(name, names[i].short_name) ||
            slice_is(name, names[i].long_name))
            return names[i].bits;
    return 0;
}
