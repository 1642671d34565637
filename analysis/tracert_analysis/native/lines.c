#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 20, LINE_BYTES_MAX = 1 << 24, TOUCHED_MAX = 128, KIND_BYTES_MAX = 256 };

static int look(Cursor *cursor) {
    int first = peek(cursor);
    if (first != '[')
        return first == '-' || (first >= '0' && first <= '9') ? NUMBER : ANY;
    Cursor ahead = {cursor->at + 1, cursor->end, 0};
    int inner = peek(&ahead);
    return inner == '{' ? OBJECTS : inner == '[' || inner == ']' ? LISTS : ANY;
}

/* The column of a key, when the value looks like it. */
static Column *column_of(const Table *table, const unsigned char *key, size_t size, Cursor *cursor) {
    if (!size)
        return NULL;
    for (Column *column = table->keys[hash(key, size)]; column; column = column->next)
        if (column->key_size == size && memcmp(column->key, key, size) == 0 &&
            (column->look == ANY || column->look == look(cursor)))
            return column;
    return NULL;
}

/* Takes a key and its colon. */
static int take_key(Cursor *cursor, const unsigned char **key, size_t *size) {
    int escaped;
    if (!take(cursor, '"'))
        return 0;
    *key = cursor->at;
    if (!find_quote(cursor, &escaped))
        return 0;
    *size = (size_t)(cursor->at++ - *key);
    return take(cursor, ':');
}

/* Takes a key and its colon, when it is the one that the last line of the kind had here. */
static Column *take_expected(Cursor *cursor, Column *expected) {
    if (!expected || !take_word(cursor, expected->quoted, expected->key_size + 3))
        return NULL;
    if (expected->look == ANY || expected->look == look(cursor))
        return expected;
    cursor->at -= expected->key_size + 3;
    return NULL;
}

/* Takes what stands before the kind in the lines that a recorder writes: whatever follows is looked at again. */
static int take_usual_start(Cursor *cursor) {
    static const char *const parts[] = {"{\"seq\":", ",\"t\":", ",\"kind\":\""};
    for (int part = 0; part < 3; part++) {
        if (!take_word(cursor, parts[part], strlen(parts[part])))
            return 0;
        while (part < 2 && cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
            cursor->at++;
    }
    return 1;
}

/* Behind the opening quote of a kind. NULL for what is no text. */
static Kind *read_kind(Tables *tables, Cursor *cursor) {
    int escaped;
    unsigned char plain[KIND_BYTES_MAX];
    const unsigned char *name = cursor->at;
    if (!find_quote(cursor, &escaped))
        return NULL;
    int64_t size = cursor->at - name;
    if (escaped) {
        size = size < KIND_BYTES_MAX ? unescape(name, cursor->at, plain) : 0;
        name = plain;
    }
    return size < 0 ? NULL : kind_of(tables, name, (size_t)size);
}

/* Looks ahead to the kind of a line's event; NULL when it has none. */
static Kind *kind_ahead(Tables *tables, Cursor cursor) {
    Cursor usual = cursor;
    if (take_usual_start(&usual))
        return read_kind(tables, &usual);
    const unsigned char *key;
    size_t size;
    if (!take(&cursor, '{'))
        return NULL;
    do {
        if (!take_key(&cursor, &key, &size))
            return NULL;
        if (size == 4 && memcmp(key, "kind", 4) == 0 && peek(&cursor) == '"') {
            cursor.at++;
            return read_kind(tables, &cursor);
        }
        if (!skip_value(&cursor, 1))
            return NULL;
    } while (take(&cursor, ','));
    return NULL;
}

/* One line as a row behind the last of its table. Returns 0, and leaves no trace of it, when it is no event. */
static int put_line(Tables *tables, Cursor *cursor) {
    Kind *kind = kind_ahead(tables, *cursor);
    if (!kind || !take(cursor, '{'))
        return 0;
    Column *root = kind->table->root, *touched[TOUCHED_MAX];
    int count = 0;
    int64_t row = root->length;
    for (int place = 0; !place || take(cursor, ','); place++) {
        Column *column = place < ORDER_MAX ? take_expected(cursor, kind->order[place]) : NULL;
        if (!column) {
            const unsigned char *key;
            size_t size;
            if (!take_key(cursor, &key, &size))
                goto wrong;
            column = column_of(kind->table, key, size, cursor);
            if (place < ORDER_MAX)
                kind->order[place] = column;
        }
        if (column && column->length <= row && count < TOUCHED_MAX) {
            if (!pad(column, row)) {
                cursor->memory = 1;
                goto wrong;
            }
            touched[count++] = column;
            const unsigned char *value = cursor->at;
            if (!put_value(column, cursor, 1)) {
                cut(column, row);
                tables->refused++;
                cursor->at = value;
                if (cursor->memory || !skip_value(cursor, 1))
                    goto wrong;
            }
        } else if (!skip_value(cursor, 1)) {
            goto wrong;
        }
    }
    if (!take(cursor, '}'))
        goto wrong;
    skip_space(cursor);
    if (cursor->at == cursor->end) {
        root->length++;
        return 1;
    }
wrong:
    for (int index = 0; index < count; index++)
        cut(touched[index], row);
    return 0;
}

static void fail(Outcome *outcome, int code, const char *what) {
    outcome->failed = code;
    outcome->error = what;
}

static void put_range(Tables *tables, const unsigned char *begin, const unsigned char *end, Outcome *outcome) {
    Cursor cursor = {begin, end, 0};
    if (begin < end && !put_line(tables, &cursor)) {
        if (cursor.memory)
            fail(outcome, ENOMEM, "out of memory");
        else
            outcome->bad++;
    }
}

Outcome put_lines(Tables *tables, const unsigned char *text, size_t size) {
    Outcome outcome = {0};
    const unsigned char *end = text + size;
    while (text < end && !outcome.failed) {
        const unsigned char *newline = memchr(text, '\n', (size_t)(end - text));
        put_range(tables, text, newline ? newline : end, &outcome);
        text = newline ? newline + 1 : end;
    }
    return outcome;
}

/* What was read of a file: from `begin` to `filled` is not parsed yet. */
typedef struct {
    unsigned char *text;
    size_t begin, filled, room;
} Window;

/* Reads on behind what is there. Returns 0 at the end of the range or of the file. */
static int read_on(Window *window, int fd, int64_t *at, int64_t end, Outcome *outcome) {
    if (window->begin) {
        memmove(window->text, window->text + window->begin, window->filled - window->begin);
        window->filled -= window->begin;
        window->begin = 0;
    }
    if (window->room - window->filled < CHUNK_BYTES) {
        unsigned char *text = realloc(window->text, window->filled + 2 * CHUNK_BYTES);
        if (!text) {
            fail(outcome, ENOMEM, "out of memory");
            return 0;
        }
        window->text = text;
        window->room = window->filled + 2 * CHUNK_BYTES;
    }
    int64_t left = end - *at;
    if (left <= 0)
        return 0;
    ssize_t got = pread(fd, window->text + window->filled, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES, *at);
    if (got < 0)
        fail(outcome, errno, "the dump can't be read");
    if (got <= 0)
        return 0;
    *at += got;
    window->filled += (size_t)got;
    return 1;
}

Outcome read_lines(Tables *tables, int fd, int64_t begin, int64_t end) {
    Outcome outcome = {0};
    Window window = {0};
    int64_t at = begin;
    size_t searched = 0; /* no newline in so many of the bytes that wait */
    while (!outcome.failed) {
        unsigned char *line = window.text + window.begin;
        size_t waiting = window.filled - window.begin;
        unsigned char *newline = waiting > searched ? memchr(line + searched, '\n', waiting - searched) : NULL;
        if (!newline && waiting <= LINE_BYTES_MAX) {
            searched = waiting;
            if (read_on(&window, fd, &at, end, &outcome))
                continue;
            line = window.text + window.begin;
            if (!outcome.failed)
                put_range(tables, line, line + waiting, &outcome); /* The last line breaks off. */
            break;
        }
        if (!newline) {
            fail(&outcome, EINVAL, "a line is longer than any event");
            break;
        }
        put_range(tables, line, newline, &outcome);
        window.begin = (size_t)(newline - window.text) + 1;
        searched = 0;
    }
    free(window.text);
    return outcome;
}
