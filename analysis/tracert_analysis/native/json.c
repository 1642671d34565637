#include "json.h"

/* The length of a UTF-8 sequence that is well formed (no overlong forms, no surrogates), or 0. */
static int sequence(const unsigned char *at, const unsigned char *end) {
    int size = at[0] < 0x80    ? 1
               : at[0] < 0xC2 ? 0
               : at[0] < 0xE0 ? 2
               : at[0] < 0xF0 ? 3
               : at[0] < 0xF5 ? 4
                              : 0;
    if (!size || end - at < size)
        return 0;
    for (int index = 1; index < size; index++)
        if ((at[index] & 0xC0) != 0x80)
            return 0;
    if (size == 3 && ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F)))
        return 0;
    if (size == 4 && ((at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F)))
        return 0;
    return size;
}

/* Behind the opening quote: finds the closing one. Returns 0 for what JSON or UTF-8 does not allow. */
int find_quote(Cursor *cursor, int *escaped) {
    const unsigned char *at = cursor->at;
    *escaped = 0;
    while (at < cursor->end) {
        if (*at == '"') {
            cursor->at = at;
            return 1;
        }
        if (*at < 0x20)
            return 0;
        if (*at == '\\') {
            *escaped = 1;
            if (cursor->end - at < 2)
                return 0;
            at += 2;
        } else if (*at < 0x80) {
            at++;
        } else {
            int size = sequence(at, cursor->end);
            if (!size)
                return 0;
            at += size;
        }
    }
    return 0;
}

static int hex4(const unsigned char *at, const unsigned char *end) {
    int value = 0;
    if (end - at < 4)
        return -1;
    for (int index = 0; index < 4; index++) {
        unsigned char one = at[index];
        unsigned char small = one | 32;
        int digit = one >= '0' && one <= '9' ? one - '0' : small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* Writes a text without its escapes, which never makes it longer. Returns the size, -1 for a wrong escape. */
int64_t unescape(const unsigned char *at, const unsigned char *end, unsigned char *out) {
    unsigned char *to = out;
    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
        const char *plain = at[1] ? strchr(from, at[1]) : NULL;
        if (plain) {
            *to++ = (unsigned char)into[plain - from];
            at += 2;
            continue;
        }
        int code = at[1] == 'u' ? hex4(at + 2, end) : -1;
        if (code < 0 || (code >= 0xDC00 && code < 0xE000))
            return -1;
        at += 6;
        if (code >= 0xD800 && code < 0xDC00) {
            int low = end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? hex4(at + 2, end) : -1;
            if (low < 0xDC00 || low >= 0xE000)
                return -1;
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            at += 6;
        }
        if (code < 0x80) {
            *to++ = (unsigned char)code;
        } else if (code < 0x800) {
            *to++ = (unsigned char)(0xC0 | code >> 6);
            *to++ = (unsigned char)(0x80 | (code & 63));
        } else if (code < 0x10000) {
            *to++ = (unsigned char)(0xE0 | code >> 12);
            *to++ = (unsigned char)(0x80 | (code >> 6 & 63));
            *to++ = (unsigned char)(0x80 | (code & 63));
        } else {
            *to++ = (unsigned char)(0xF0 | code >> 18);
            *to++ = (unsigned char)(0x80 | (code >> 12 & 63));
            *to++ = (unsigned char)(0x80 | (code >> 6 & 63));
            *to++ = (unsigned char)(0x80 | (code & 63));
        }
    }
    return to - out;
}

static int skip_text(Cursor *cursor) {
    int escaped;
    cursor->at++;
    const unsigned char *begin = cursor->at;
    if (!find_quote(cursor, &escaped))
        return 0;
    for (const unsigned char *at = begin; escaped && at < cursor->at; at++)
        if (*at == '\\') {
            if (*++at == 'u' && hex4(at + 1, cursor->at) < 0)
                return 0;
            if (!*at || !strchr("\"\\/bfnrtu", *at))
                return 0;
        }
    cursor->at++;
    return 1;
}

static int skip_digits(Cursor *cursor) {
    const unsigned char *begin = cursor->at;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
        cursor->at++;
    return cursor->at > begin;
}

static int skip_number(Cursor *cursor) {
    take_word(cursor, "-", 1);
    if (!take_word(cursor, "0", 1) && !skip_digits(cursor))
        return 0;
    if (take_word(cursor, ".", 1) && !skip_digits(cursor))
        return 0;
    if (take_word(cursor, "e", 1) || take_word(cursor, "E", 1)) {
        if (!take_word(cursor, "-", 1))
            take_word(cursor, "+", 1);
        return skip_digits(cursor);
    }
    return 1;
}

int skip_value(Cursor *cursor, int depth) {
    if (depth > DEPTH_MAX)
        return 0;
    switch (peek(cursor)) {
    case '"':
        return skip_text(cursor);
    case 't':
        return take_word(cursor, "true", 4);
    case 'f':
        return take_word(cursor, "false", 5);
    case 'n':
        return take_word(cursor, "null", 4);
    case '[':
        cursor->at++;
        if (take(cursor, ']'))
            return 1;
        do
            if (!skip_value(cursor, depth + 1))
                return 0;
        while (take(cursor, ','));
        return take(cursor, ']');
    case '{':
        cursor->at++;
        if (take(cursor, '}'))
            return 1;
        do
            if (peek(cursor) != '"' || !skip_text(cursor) || !take(cursor, ':') || !skip_value(cursor, depth + 1))
                return 0;
        while (take(cursor, ','));
        return take(cursor, '}');
    default:
        return skip_number(cursor);
    }
}
