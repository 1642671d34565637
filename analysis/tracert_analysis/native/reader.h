/* Lines of a file into columns, a batch at a time. */
#ifndef TRACERT_READER_H
#define TRACERT_READER_H

#include "value.h"

enum { KEYS = 512 };

typedef struct {
    Column *root; /* a STRUCT of all columns */
    Column *required; /* without a value of this one a line is no event */
    Column *keys[KEYS];
    int fd;
    int64_t at, end; /* of the file: what is still to be read */
    unsigned char *text; /* what was read: from `begin` to `filled` is not parsed yet */
    size_t begin, filled, room;
    int64_t bad_lines;
    int failed; /* errno of what went wrong */
    const char *error;
} Reader;

/* Where a key's columns stand in `keys`. */
static inline unsigned hash(const unsigned char *key, size_t size) {
    return ((unsigned)size * 61 + key[0] * 7u + key[size - 1] * 31u + key[size / 2] * 13u) % KEYS;
}

/* Parses lines until the batch is full or nothing is left. Returns an errno, or 0. */
int fill(Reader *self);

/* Remembers what went wrong, and returns `code`. */
int fail(Reader *self, int code, const char *what);

#endif
