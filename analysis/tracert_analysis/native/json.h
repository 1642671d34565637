/* A strict JSON scanner over a range of bytes: what RFC 8259 or UTF-8 does not allow is refused. */
#ifndef TRACERT_JSON_H
#define TRACERT_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

typedef struct {
    const unsigned char *at, *end;
    int memory; /* there was none */
} Cursor;

static inline void skip_space(Cursor *cursor) {
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\r'))
        cursor->at++;
}

static inline int take(Cursor *cursor, unsigned char wanted) {
    skip_space(cursor);
    if (cursor->at >= cursor->end || *cursor->at != wanted)
        return 0;
    cursor->at++;
    return 1;
}

static inline int peek(Cursor *cursor) {
    skip_space(cursor);
    return cursor->at < cursor->end ? *cursor->at : 0;
}

static inline int take_word(Cursor *cursor, const char *word, size_t size) {
    if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, word, size) != 0)
        return 0;
    cursor->at += size;
    return 1;
}

/* json.c */
int find_quote(Cursor *cursor, int *escaped);
int64_t unescape(const unsigned char *at, const unsigned char *end, unsigned char *out);
int skip_value(Cursor *cursor, int depth);

#endif
