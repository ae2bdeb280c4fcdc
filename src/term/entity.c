/*
 * entity.c - the character references of HTML
 *
 * The names are those of HTML 4; the other two thousand of HTML 5 are shown as
 * they are written.
 */
#include "term/entity.h"

#include <stdbool.h>
#include <string.h>

/* Sorted by name. */
static const struct {
    const char *name;
    uint32_t point;
} names[] = {
    { "AElig", 198 }, { "Aacute", 193 }, { "Acirc", 194 }, { "Agrave", 192 },
    { "Alpha", 913 }, { "Aring", 197 }, { "Atilde", 195 }, { "Auml", 196 },
    { "Beta", 914 }, { "Ccedil", 199 }, { "Chi", 935 }, { "Dagger", 0x2021 },
    { "Delta", 916 }, { "ETH", 208 }, { "Eacute", 201 }, { "Ecirc", 202 },
    { "Egrave", 200 }, { "Epsilon", 917 }, { "Eta", 919 }, { "Euml", 203 },
    { "Gamma", 915 }, { "Iacute", 205 }, { "Icirc", 206 }, { "Igrave", 204 },
    { "Iota", 921 }, { "Iuml", 207 }, { "Kappa", 922 }, { "Lambda", 923 },
    { "Mu", 924 }, { "Ntilde", 209 }, { "Nu", 925 }, { "OElig", 338 },
    { "Oacute", 211 }, { "Ocirc", 212 }, { "Ograve", 210 }, { "Omega", 937 },
    { "Omicron", 927 }, { "Oslash", 216 }, { "Otilde", 213 }, { "Ouml", 214 },
    { "Phi", 934 }, { "Pi", 928 }, { "Prime", 0x2033 }, { "Psi", 936 },
    { "Rho", 929 }, { "Scaron", 352 }, { "Sigma", 931 }, { "THORN", 222 },
    { "Tau", 932 }, { "Theta", 920 }, { "Uacute", 218 }, { "Ucirc", 219 },
    { "Ugrave", 217 }, { "Upsilon", 933 }, { "Uuml", 220 }, { "Xi", 926 },
    { "Yacute", 221 }, { "Yuml", 376 }, { "Zeta", 918 }, { "aacute", 225 },
    { "acirc", 226 }, { "acute", 180 }, { "aelig", 230 }, { "agrave", 224 },
    { "alefsym", 0x2135 }, { "alpha", 945 }, { "amp", 38 }, { "and", 0x2227 },
    { "ang", 0x2220 }, { "aring", 229 }, { "asymp", 0x2248 }, { "atilde", 227 },
    { "auml", 228 }, { "bdquo", 0x201e }, { "beta", 946 }, { "brvbar", 166 },
    { "bull", 0x2022 }, { "cap", 0x2229 }, { "ccedil", 231 }, { "cedil", 184 },
    { "cent", 162 }, { "chi", 967 }, { "circ", 710 }, { "clubs", 0x2663 },
    { "cong", 0x2245 }, { "copy", 169 }, { "crarr", 0x21b5 }, { "cup", 0x222a },
    { "curren", 164 }, { "dArr", 0x21d3 }, { "dagger", 0x2020 },
    { "darr", 0x2193 }, { "deg", 176 }, { "delta", 948 }, { "diams", 0x2666 },
    { "divide", 247 }, { "eacute", 233 }, { "ecirc", 234 }, { "egrave", 232 },
    { "empty", 0x2205 }, { "emsp", 0x2003 }, { "ensp", 0x2002 },
    { "epsilon", 949 }, { "equiv", 0x2261 }, { "eta", 951 }, { "eth", 240 },
    { "euml", 235 }, { "euro", 0x20ac }, { "exist", 0x2203 }, { "fnof", 402 },
    { "forall", 0x2200 }, { "frac12", 189 }, { "frac14", 188 },
    { "frac34", 190 }, { "frasl", 0x2044 }, { "gamma", 947 }, { "ge", 0x2265 },
    { "gt", 62 }, { "hArr", 0x21d4 }, { "harr", 0x2194 }, { "hearts", 0x2665 },
    { "hellip", 0x2026 }, { "iacute", 237 }, { "icirc", 238 }, { "iexcl", 161 },
    { "igrave", 236 }, { "image", 0x2111 }, { "infin", 0x221e },
    { "int", 0x222b }, { "iota", 953 }, { "iquest", 191 }, { "isin", 0x2208 },
    { "iuml", 239 }, { "kappa", 954 }, { "lArr", 0x21d0 }, { "lambda", 955 },
    { "lang", 0x2329 }, { "laquo", 171 }, { "larr", 0x2190 },
    { "lceil", 0x2308 }, { "ldquo", 0x201c }, { "le", 0x2264 },
    { "lfloor", 0x230a }, { "lowast", 0x2217 }, { "loz", 0x25ca },
    { "lrm", 0x200e }, { "lsaquo", 0x2039 }, { "lsquo", 0x2018 }, { "lt", 60 },
    { "macr", 175 }, { "mdash", 0x2014 }, { "micro", 181 }, { "middot", 183 },
    { "minus", 0x2212 }, { "mu", 956 }, { "nabla", 0x2207 }, { "nbsp", 160 },
    { "ndash", 0x2013 }, { "ne", 0x2260 }, { "ni", 0x220b }, { "not", 172 },
    { "notin", 0x2209 }, { "nsub", 0x2284 }, { "ntilde", 241 }, { "nu", 957 },
    { "oacute", 243 }, { "ocirc", 244 }, { "oelig", 339 }, { "ograve", 242 },
    { "oline", 0x203e }, { "omega", 969 }, { "omicron", 959 },
    { "oplus", 0x2295 }, { "or", 0x2228 }, { "ordf", 170 }, { "ordm", 186 },
    { "oslash", 248 }, { "otilde", 245 }, { "otimes", 0x2297 }, { "ouml", 246 },
    { "para", 182 }, { "part", 0x2202 }, { "permil", 0x2030 },
    { "perp", 0x22a5 }, { "phi", 966 }, { "pi", 960 }, { "piv", 982 },
    { "plusmn", 177 }, { "pound", 163 }, { "prime", 0x2032 },
    { "prod", 0x220f }, { "prop", 0x221d }, { "psi", 968 }, { "quot", 34 },
    { "rArr", 0x21d2 }, { "radic", 0x221a }, { "rang", 0x232a },
    { "raquo", 187 }, { "rarr", 0x2192 }, { "rceil", 0x2309 },
    { "rdquo", 0x201d }, { "real", 0x211c }, { "reg", 174 },
    { "rfloor", 0x230b }, { "rho", 961 }, { "rlm", 0x200f },
    { "rsaquo", 0x203a }, { "rsquo", 0x2019 }, { "sbquo", 0x201a },
    { "scaron", 353 }, { "sdot", 0x22c5 }, { "sect", 167 }, { "shy", 173 },
    { "sigma", 963 }, { "sigmaf", 962 }, { "sim", 0x223c },
    { "spades", 0x2660 }, { "sub", 0x2282 }, { "sube", 0x2286 },
    { "sum", 0x2211 }, { "sup", 0x2283 }, { "sup1", 185 }, { "sup2", 178 },
    { "sup3", 179 }, { "supe", 0x2287 }, { "szlig", 223 }, { "tau", 964 },
    { "there4", 0x2234 }, { "theta", 952 }, { "thetasym", 977 },
    { "thinsp", 0x2009 }, { "thorn", 254 }, { "tilde", 732 }, { "times", 215 },
    { "trade", 0x2122 }, { "uArr", 0x21d1 }, { "uacute", 250 },
    { "uarr", 0x2191 }, { "ucirc", 251 }, { "ugrave", 249 }, { "uml", 168 },
    { "upsih", 978 }, { "upsilon", 965 }, { "uuml", 252 }, { "weierp", 0x2118 },
    { "xi", 958 }, { "yacute", 253 }, { "yen", 165 }, { "yuml", 255 },
    { "zeta", 950 }, { "zwj", 0x200d }, { "zwnj", 0x200c },
};

enum { LONGEST = 10, MOST_DIGITS = 7 };

static bool is_digit(char c, bool hex)
{
    return (c >= '0' && c <= '9') ||
           (hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

static bool is_alphanumeric(char c)
{
    return is_digit(c, false) || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

static uint32_t digit_value(char c)
{
    return (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* What follows "&#". */
static enum entity_found read_number(const char *text, size_t len, size_t *end,
                                     uint32_t *point)
{
    bool hex = len > 2 && (text[2] | 0x20) == 'x';
    size_t at = hex ? 3 : 2, digits = 0;
    uint32_t value = 0;
    for (; at < len && is_digit(text[at], hex); at++, digits++)
        if (digits < MOST_DIGITS)
            value = value * (hex ? 16 : 10) + digit_value(text[at]);
    if (digits > (hex ? MOST_DIGITS - 1 : MOST_DIGITS))
        return ENTITY_NONE;
    if (at == len)
        return ENTITY_CUT;
    if (!digits || text[at] != ';')
        return ENTITY_NONE;
    bool valid = value && value <= 0x10ffff &&
                 (value < 0xd800 || value > 0xdfff);
    *point = valid ? value : 0xfffd;
    *end = at + 1;
    return ENTITY_WHOLE;
}

/* The code point of a name; 0: it is unknown. */
static uint32_t find_name(const char *name, size_t len)
{
    size_t low = 0, high = sizeof names / sizeof *names;
    while (low < high) {
        size_t at = (low + high) / 2;
        int order = strncmp(names[at].name, name, len);
        if (!order && names[at].name[len])
            order = 1;
        if (!order)
            return names[at].point;
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    return 0;
}

enum entity_found entity_read(const char *text, size_t len, size_t *end,
                              uint32_t *point)
{
    size_t at = 1;
    if (len > 1 && text[1] == '#')
        return read_number(text, len, end, point);
    while (at < len && is_alphanumeric(text[at]))
        at++;
    if (at > LONGEST)
        return ENTITY_NONE;
    if (at == len)
        return ENTITY_CUT;
    *point = text[at] == ';' ? find_name(text + 1, at - 1) : 0;
    *end = at + 1;
    return *point ? ENTITY_WHOLE : ENTITY_NONE;
}

size_t entity_bytes(uint32_t point, char bytes[4])
{
    uint32_t c = point;
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(heads[n] | c);
    return n;
}
