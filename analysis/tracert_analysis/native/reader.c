#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH_LINES = 1 << 15, BATCH_BYTES = 1 << 28, CHUNK_BYTES = 1 << 22, LINE_BYTES_MAX = 1 << 24 };
enum { TOUCHED_MAX = 128 };

static int look(Cursor *cursor) {
    int first = peek(cursor);
    if (first != '[')
        return first == '-' || (first >= '0' && first <= '9') ? NUMBER : ANY;
    Cursor ahead = {cursor->at + 1, cursor->end, 0};
    int inner = peek(&ahead);
    return inner == '{' ? OBJECTS : inner == '[' ? LISTS : ANY;
}

/* The column of a key, when the value looks like it. */
static Column *column_of(const Reader *self, const unsigned char *key, size_t size, Cursor *cursor) {
    if (!size)
        return NULL;
    for (Column *column = self->keys[hash(key, size)]; column; column = column->next)
        if (column->key_size == size && memcmp(column->key, key, size) == 0 &&
            (column->look == ANY || column->look == look(cursor)))
            return column;
    return NULL;
}

/* One line as the row behind the last. Returns 0, and leaves no trace of it, when it is no such object. */
static int put_line(Reader *self, Cursor *cursor) {
    Column *root = self->root, *touched[TOUCHED_MAX];
    int count = 0, right = 0;
    int64_t row = root->length;
    if (!take(cursor, '{'))
        return 0;
    if (take(cursor, '}'))
        goto ended;
    do {
        int escaped;
        if (!take(cursor, '"'))
            goto wrong;
        const unsigned char *key = cursor->at;
        if (!find_quote(cursor, &escaped))
            goto wrong;
        size_t size = (size_t)(cursor->at++ - key);
        if (!take(cursor, ':'))
            goto wrong;
        Column *column = column_of(self, key, size, cursor);
        if (column && column->length <= row && count < TOUCHED_MAX) {
            if (!pad(column, row)) {
                cursor->memory = 1;
                goto wrong;
            }
            touched[count++] = column;
            const unsigned char *value = cursor->at;
            if (!put_value(column, cursor, 1)) {
                cut(column, row);
                cursor->at = value;
                if (cursor->memory || !skip_value(cursor, 1))
                    goto wrong;
            }
        } else if (!skip_value(cursor, 1)) {
            goto wrong;
        }
    } while (take(cursor, ','));
    if (!take(cursor, '}'))
        goto wrong;
ended:
    skip_space(cursor);
    right = cursor->at == cursor->end && self->required->length > row && !is_null(self->required, row);
wrong:
    if (right) {
        root->length++;
        return 1;
    }
    for (int index = 0; index < count; index++)
        cut(touched[index], row);
    return 0;
}

int fail(Reader *self, int code, const char *what) {
    self->failed = code;
    self->error = what;
    return code;
}

/* Reads on behind what is there. Returns 0 at the end of the range or of the file. */
static int read_on(Reader *self) {
    if (self->begin) {
        memmove(self->text, self->text + self->begin, self->filled - self->begin);
        self->filled -= self->begin;
        self->begin = 0;
    }
    if (self->room - self->filled < CHUNK_BYTES) {
        unsigned char *text = realloc(self->text, self->filled + 2 * CHUNK_BYTES);
        if (!text) {
            fail(self, ENOMEM, "out of memory");
            return 0;
        }
        self->text = text;
        self->room = self->filled + 2 * CHUNK_BYTES;
    }
    int64_t left = self->end - self->at;
    if (left <= 0)
        return 0;
    ssize_t got = pread(self->fd, self->text + self->filled, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES, self->at);
    if (got < 0)
        fail(self, errno, "the dump can't be read");
    if (got <= 0)
        return 0;
    self->at += got;
    self->filled += (size_t)got;
    return 1;
}

int fill(Reader *self) {
    size_t parsed = 0;
    while (self->root->length < BATCH_LINES && parsed < BATCH_BYTES) {
        unsigned char *begin = self->text + self->begin;
        unsigned char *newline = self->filled > self->begin ? memchr(begin, '\n', self->filled - self->begin) : NULL;
        if (!newline && self->filled - self->begin <= LINE_BYTES_MAX && read_on(self))
            continue;
        if (self->failed)
            return self->failed;
        begin = self->text + self->begin;
        if (!newline) {
            if (self->filled == self->begin)
                return 0;
            if (self->at < self->end && self->filled - self->begin > LINE_BYTES_MAX)
                return fail(self, EINVAL, "a line is longer than any event");
            newline = self->text + self->filled; /* The last line breaks off. */
        }
        Cursor cursor = {begin, newline, 0};
        parsed += (size_t)(newline - begin);
        self->begin = (size_t)(newline - self->text) + (newline < self->text + self->filled);
        if (begin < newline && !put_line(self, &cursor)) {
            if (cursor.memory)
                return fail(self, ENOMEM, "out of memory");
            self->bad_lines++;
        }
    }
    return 0;
}
