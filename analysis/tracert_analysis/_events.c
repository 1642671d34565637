/* JSON Lines to Arrow columns, a batch of lines at a time: the strict reader of a dump's events.
 *
 * A line that is no JSON object, or lacks the column that is required, is left out and counted. A value that is not
 * of its column's type is none; keys that no column has are passed over. Reads a range of an open file, and never holds more of it than a batch and a
 * line. The stream is the Arrow C data interface (arrow.apache.org/docs/format/CStreamInterface.html), so that
 * DuckDB takes it as it is. The interpreter's lock is not needed once reading has begun.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_LINES = 1 << 15, BATCH_BYTES = 1 << 28, CHUNK_BYTES = 1 << 22, LINE_BYTES_MAX = 1 << 24 };
enum { DEPTH_MAX = 64, KEYS = 512, TOUCHED_MAX = 128 };

/* ---- Arrow's structures, as its specification lays them out ---- */

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

enum { NULLABLE = 2 };

/* ---- columns ---- */

typedef enum { U64, U32, U16, I64, I32, FLAG, TEXT, RAW, LIST, STRUCT, TYPES } Type;
static const char *const FORMATS[TYPES] = {"L", "I", "S", "l", "i", "b", "u", "u", "+l", "+s"};
static const int WIDTHS[TYPES] = {8, 4, 2, 8, 4, 0, 0, 0, 0, 0};

/* What a value looks like: a key may have a column for each look. */
enum { ANY, NUMBER, LISTS, OBJECTS };

typedef struct {
    unsigned char *data;
    size_t room;
} Buffer;

typedef struct Column Column;
struct Column {
    char *name, *key;
    size_t key_size;
    Type type;
    int look, children;
    Column **child;
    int64_t length, nulls;
    size_t text_used;
    Buffer valid, data, offsets; /* data: values, or a text's bytes */
    Column *next; /* another column whose key has the same hash */
};

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

/* Makes room for `size` bytes, new ones zero. */
static int ensure(Buffer *buffer, size_t size) {
    if (size <= buffer->room)
        return 1;
    size_t room = buffer->room ? buffer->room : 64;
    while (room < size)
        room *= 2;
    unsigned char *data = realloc(buffer->data, room);
    if (!data)
        return 0;
    memset(data + buffer->room, 0, room - buffer->room);
    buffer->data = data;
    buffer->room = room;
    return 1;
}

static void column_free(Column *column) {
    if (!column)
        return;
    for (int index = 0; index < column->children; index++)
        column_free(column->child[index]);
    free(column->child);
    free(column->valid.data);
    free(column->data.data);
    free(column->offsets.data);
    free(column->name);
    free(column->key);
    free(column);
}

static inline int is_text(Type type) { return type == TEXT || type == RAW; }

static inline int32_t *offsets(Column *column) { return (int32_t *)column->offsets.data; }

/* Where the next value of a text or a list begins. */
static inline int32_t filled(const Column *column) {
    return (int32_t)(column->type == LIST ? (size_t)column->child[0]->length : column->text_used);
}

/* Room for one more value than there are. */
static int grow(Column *column) {
    size_t count = (size_t)column->length + 1;
    if (!ensure(&column->valid, (count + 7) / 8))
        return 0;
    if (WIDTHS[column->type])
        return ensure(&column->data, count * (size_t)WIDTHS[column->type]);
    if (column->type == FLAG)
        return ensure(&column->data, (count + 7) / 8);
    if (is_text(column->type) || column->type == LIST)
        return ensure(&column->offsets, (count + 1) * 4);
    return 1;
}

static inline void set_bit(unsigned char *bits, int64_t index, int on) {
    if (on)
        bits[index / 8] |= (unsigned char)(1 << index % 8);
    else
        bits[index / 8] &= (unsigned char)~(1 << index % 8);
}

static inline int is_null(const Column *column, int64_t index) {
    return !(column->valid.data[index / 8] >> index % 8 & 1);
}

/* The value at the end is there or it isn't: ends every append. */
static inline void close_value(Column *column, int there) {
    set_bit(column->valid.data, column->length, there);
    column->nulls += !there;
    column->length++;
    if (is_text(column->type) || column->type == LIST)
        offsets(column)[column->length] = filled(column);
}

/* Nulls up to `length` values: most columns of most events are. */
static int pad(Column *column, int64_t length) {
    int64_t from = column->length;
    if (length <= from)
        return 1;
    size_t count = (size_t)length, width = (size_t)WIDTHS[column->type], bits = (count + 7) / 8;
    if (!ensure(&column->valid, bits))
        return 0;
    /* Beyond the last value a bit may be left of one that was taken back. */
    column->valid.data[from / 8] &= (unsigned char)((1 << from % 8) - 1);
    memset(column->valid.data + from / 8 + 1, 0, bits - (size_t)(from / 8) - 1);
    if (width) {
        if (!ensure(&column->data, count * width))
            return 0;
        memset(column->data.data + (size_t)from * width, 0, (count - (size_t)from) * width);
    } else if (column->type == FLAG) {
        if (!ensure(&column->data, bits))
            return 0;
    } else if (column->type == STRUCT) {
        for (int index = 0; index < column->children; index++)
            if (!pad(column->child[index], length))
                return 0;
    } else {
        if (!ensure(&column->offsets, (count + 1) * 4))
            return 0;
        int32_t used = filled(column);
        for (int64_t index = from + 1; index <= length; index++)
            offsets(column)[index] = used;
    }
    column->nulls += length - from;
    column->length = length;
    return 1;
}

static void cut(Column *column, int64_t length);

/* Takes back what belongs to a value that was begun and not closed. */
static void settle(Column *column) {
    int64_t used = column->offsets.data ? offsets(column)[column->length] : 0;
    if (is_text(column->type))
        column->text_used = (size_t)used;
    else if (column->type == LIST)
        cut(column->child[0], used);
    else if (column->type == STRUCT)
        for (int index = 0; index < column->children; index++)
            cut(column->child[index], column->length);
}

/* Takes back what came after the first `length` values. */
static void cut(Column *column, int64_t length) {
    for (int64_t index = length; index < column->length; index++)
        column->nulls -= is_null(column, index);
    if (column->length > length)
        column->length = length;
    settle(column);
}

/* ---- JSON ---- */

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

static int take_word(Cursor *cursor, const char *word, size_t size) {
    if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, word, size) != 0)
        return 0;
    cursor->at += size;
    return 1;
}

/* The length of a UTF-8 sequence that is well formed (no overlong forms, no surrogates), or 0. */
static int sequence(const unsigned char *at, const unsigned char *end) {
    int size = at[0] < 0x80 ? 1 : at[0] >= 0xC2 && at[0] < 0xE0 ? 2 : (at[0] & 0xF0) == 0xE0 ? 3 : at[0] >= 0xF0 && at[0] < 0xF5 ? 4 : 0;
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
static int find_quote(Cursor *cursor, int *escaped) {
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
        int digit = one >= '0' && one <= '9' ? one - '0' : (one | 32) >= 'a' && (one | 32) <= 'f' ? (one | 32) - 'a' + 10 : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* Writes a text without its escapes, which never makes it longer. Returns the size, -1 for a wrong escape. */
static int64_t unescape(const unsigned char *at, const unsigned char *end, unsigned char *out) {
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

static int skip_value(Cursor *cursor, int depth) {
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

/* ---- values into columns: each returns 0 for a value that is not the column's ---- */

static int put_value(Column *column, Cursor *cursor, int depth);

static int put_number(Column *column, Cursor *cursor) {
    static const uint64_t most[] = {UINT64_MAX, UINT32_MAX, UINT16_MAX, INT64_MAX, INT32_MAX};
    int negative = take_word(cursor, "-", 1);
    const unsigned char *begin = cursor->at;
    uint64_t value = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        uint64_t digit = (uint64_t)(*cursor->at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return 0;
        value = value * 10 + digit;
        cursor->at++;
    }
    if (cursor->at == begin || (*begin == '0' && cursor->at - begin > 1) || value > most[column->type])
        return 0;
    if (cursor->at < cursor->end && (*cursor->at == '.' || (*cursor->at | 32) == 'e'))
        return 0;
    if (negative) {
        if (column->type < I64 && value)
            return 0;
        value = 0 - value;
    }
    memcpy(column->data.data + column->length * WIDTHS[column->type], &value, (size_t)WIDTHS[column->type]);
    close_value(column, 1);
    return 1;
}

static int put_text(Column *column, Cursor *cursor) {
    int escaped;
    if (*cursor->at != '"')
        return 0;
    const unsigned char *begin = ++cursor->at;
    if (!find_quote(cursor, &escaped))
        return 0;
    size_t size = (size_t)(cursor->at - begin);
    if (!ensure(&column->data, column->text_used + size)) {
        cursor->memory = 1;
        return 0;
    }
    if (escaped) {
        int64_t plain = unescape(begin, cursor->at, column->data.data + column->text_used);
        if (plain < 0)
            return 0;
        size = (size_t)plain;
    } else {
        memcpy(column->data.data + column->text_used, begin, size);
    }
    column->text_used += size;
    cursor->at++;
    close_value(column, 1);
    return 1;
}

static int put_raw(Column *column, Cursor *cursor, int depth) {
    const unsigned char *begin = cursor->at;
    if (!skip_value(cursor, depth))
        return 0;
    size_t size = (size_t)(cursor->at - begin);
    if (!ensure(&column->data, column->text_used + size)) {
        cursor->memory = 1;
        return 0;
    }
    memcpy(column->data.data + column->text_used, begin, size);
    column->text_used += size;
    close_value(column, 1);
    return 1;
}

static int put_list(Column *column, Cursor *cursor, int depth) {
    if (!take(cursor, '['))
        return 0;
    if (!take(cursor, ']')) {
        do
            if (!put_value(column->child[0], cursor, depth + 1))
                return 0;
        while (take(cursor, ','));
        if (!take(cursor, ']'))
            return 0;
    }
    close_value(column, 1);
    return 1;
}

static int put_struct(Column *column, Cursor *cursor, int depth) {
    if (!take(cursor, '{'))
        return 0;
    if (!take(cursor, '}')) {
        do {
            int escaped;
            if (!take(cursor, '"'))
                return 0;
            const unsigned char *key = cursor->at;
            if (!find_quote(cursor, &escaped))
                return 0;
            size_t size = (size_t)(cursor->at++ - key);
            if (!take(cursor, ':'))
                return 0;
            Column *found = NULL;
            for (int index = 0; index < column->children && !found; index++)
                if (column->child[index]->key_size == size && memcmp(column->child[index]->key, key, size) == 0)
                    found = column->child[index];
            if (!(found && found->length == column->length ? put_value(found, cursor, depth + 1) : skip_value(cursor, depth + 1)))
                return 0;
        } while (take(cursor, ','));
        if (!take(cursor, '}'))
            return 0;
    }
    for (int index = 0; index < column->children; index++)
        if (!pad(column->child[index], column->length + 1)) {
            cursor->memory = 1;
            return 0;
        }
    close_value(column, 1);
    return 1;
}

static int put_value(Column *column, Cursor *cursor, int depth) {
    if (depth > DEPTH_MAX)
        return 0;
    int first = peek(cursor);
    if (first == 'n') {
        if (!take_word(cursor, "null", 4))
            return 0;
        cursor->memory |= !pad(column, column->length + 1);
        return !cursor->memory;
    }
    if (!grow(column)) {
        cursor->memory = 1;
        return 0;
    }
    switch (column->type) {
    case FLAG:
        if (first != 't' && first != 'f')
            return 0;
        if (!(first == 't' ? take_word(cursor, "true", 4) : take_word(cursor, "false", 5)))
            return 0;
        set_bit(column->data.data, column->length, first == 't');
        close_value(column, 1);
        return 1;
    case TEXT:
        return put_text(column, cursor);
    case RAW:
        return put_raw(column, cursor, depth);
    case LIST:
        return put_list(column, cursor, depth);
    case STRUCT:
        return put_struct(column, cursor, depth);
    default:
        return put_number(column, cursor);
    }
}

/* ---- lines ---- */

static inline unsigned hash(const unsigned char *key, size_t size) {
    return ((unsigned)size * 61 + key[0] * 7u + key[size - 1] * 31u + key[size / 2] * 13u) % KEYS;
}

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

/* ---- the file ---- */

static int fail(Reader *self, int code, const char *what) {
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

/* Parses lines until the batch is full or nothing is left. Returns an errno, or 0. */
static int fill(Reader *self) {
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

/* ---- Arrow ---- */

static void release_array(struct ArrowArray *array) {
    for (int64_t index = 0; index < array->n_buffers; index++)
        free((void *)array->buffers[index]);
    for (int64_t index = 0; index < array->n_children; index++) {
        if (array->children[index]->release)
            array->children[index]->release(array->children[index]);
        free(array->children[index]);
    }
    free(array->buffers);
    free(array->children);
    array->release = NULL;
}

static unsigned char *hand_over(Buffer *buffer) {
    unsigned char *data = buffer->data;
    *buffer = (Buffer){0};
    return data;
}

/* A column's values as an array, which owns their memory from here on; the column is empty again. */
static int export_column(Column *column, struct ArrowArray *array) {
    int is_root_like = column->type == STRUCT;
    *array = (struct ArrowArray){.length = column->length, .null_count = column->nulls, .release = release_array};
    array->buffers = calloc(3, sizeof(void *));
    array->children = calloc((size_t)column->children + 1, sizeof(void *));
    if (!array->buffers || !array->children)
        return 0;
    if ((is_text(column->type) || column->type == LIST) && !ensure(&column->offsets, 4))
        return 0;
    if (!is_root_like && !ensure(&column->data, 1))
        return 0;
    array->buffers[array->n_buffers++] = column->nulls ? hand_over(&column->valid) : NULL;
    if (is_text(column->type) || column->type == LIST)
        array->buffers[array->n_buffers++] = hand_over(&column->offsets);
    if (!is_root_like && column->type != LIST)
        array->buffers[array->n_buffers++] = hand_over(&column->data);
    for (int index = 0; index < column->children; index++) {
        struct ArrowArray *child = calloc(1, sizeof(*child));
        if (!child)
            return 0;
        array->children[array->n_children++] = child;
        if (!export_column(column->child[index], child))
            return 0;
    }
    free(column->valid.data);
    column->valid = (Buffer){0};
    column->length = column->nulls = 0;
    column->text_used = 0;
    return 1;
}

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t index = 0; index < schema->n_children; index++) {
        if (schema->children[index]->release)
            schema->children[index]->release(schema->children[index]);
        free(schema->children[index]);
    }
    free(schema->children);
    free((void *)schema->name);
    schema->release = NULL;
}

static int export_schema(const Column *column, struct ArrowSchema *schema) {
    *schema = (struct ArrowSchema){.format = FORMATS[column->type], .flags = NULLABLE, .release = release_schema};
    schema->name = strdup(column->name);
    schema->children = calloc((size_t)column->children + 1, sizeof(void *));
    if (!schema->name || !schema->children)
        return 0;
    for (int index = 0; index < column->children; index++) {
        schema->children[index] = calloc(1, sizeof(struct ArrowSchema));
        if (!schema->children[index])
            return 0;
        schema->n_children++;
        if (!export_schema(column->child[index], schema->children[index]))
            return 0;
    }
    return 1;
}

/* ---- the stream ---- */

typedef struct {
    PyObject_HEAD
    Reader reader;
} Events;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    if (export_schema(((Events *)stream->private_data)->reader.root, schema))
        return 0;
    schema->release(schema);
    return ENOMEM;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    Reader *reader = &((Events *)stream->private_data)->reader;
    *array = (struct ArrowArray){0};
    int code = fill(reader);
    if (code || !reader->root->length)
        return code;
    for (int index = 0; index < reader->root->children; index++)
        if (!pad(reader->root->child[index], reader->root->length))
            return fail(reader, ENOMEM, "out of memory");
    if (export_column(reader->root, array))
        return 0;
    array->release(array);
    return fail(reader, ENOMEM, "out of memory");
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    return ((Events *)stream->private_data)->reader.error;
}

static void release_stream(struct ArrowArrayStream *stream) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_CLEAR(stream->private_data);
    PyGILState_Release(state);
    stream->release = NULL;
}

static void release_capsule(PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release)
        stream->release(stream);
    free(stream);
}

static PyObject *arrow_c_stream(PyObject *self, PyObject *Py_UNUSED(arguments), PyObject *Py_UNUSED(named)) {
    struct ArrowArrayStream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return PyErr_NoMemory();
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, Py_NewRef(self)};
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", release_capsule);
    if (!capsule) {
        Py_DECREF(self);
        free(stream);
    }
    return capsule;
}

/* ---- the columns that are asked for ---- */

static Column *column_new(const char *name, const char *key, Type type, int children) {
    Column *column = calloc(1, sizeof(*column));
    if (!column)
        return NULL;
    column->type = type;
    column->name = strdup(name);
    column->key = strdup(key);
    column->key_size = strlen(key);
    column->child = calloc((size_t)children + 1, sizeof(Column *));
    if (column->name && column->key && column->child)
        return column;
    column_free(column);
    return NULL;
}

/* A column from `(name, key, look, type, children)`; NULL with an error set. */
static Column *read_column(PyObject *item, int depth) {
    const char *name, *key;
    int look, type;
    PyObject *children;
    if (!PyArg_ParseTuple(item, "ssiiO!", &name, &key, &look, &type, &PyTuple_Type, &children))
        return NULL;
    int count = (int)PyTuple_GET_SIZE(children);
    if (depth > 8 || type < 0 || type >= TYPES || (type == LIST ? count != 1 : type != STRUCT && count)) {
        PyErr_Format(PyExc_ValueError, "column %s has no type that there is", name);
        return NULL;
    }
    Column *column = column_new(name, key, (Type)type, count);
    if (!column) {
        PyErr_NoMemory();
        return NULL;
    }
    column->look = look;
    for (int index = 0; index < count; index++) {
        column->child[index] = read_column(PyTuple_GET_ITEM(children, index), depth + 1);
        if (!column->child[index]) {
            column_free(column);
            return NULL;
        }
        column->children++;
    }
    return column;
}

static PyObject *events_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"fd", "begin", "end", "columns", "required", NULL};
    int fd, required;
    long long begin, end;
    PyObject *columns;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "iLLO!i", names, &fd, &begin, &end, &PyTuple_Type, &columns, &required))
        return NULL;
    Events *self = (Events *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    Reader *reader = &self->reader;
    reader->fd = dup(fd);
    reader->at = begin;
    reader->end = end;
    PyObject *root = Py_BuildValue("ssiiO", "", "", ANY, STRUCT, columns);
    reader->root = root ? read_column(root, 0) : NULL;
    Py_XDECREF(root);
    if (!reader->root) {
        Py_DECREF(self);
        return NULL;
    }
    if (required < 0 || required >= reader->root->children) {
        PyErr_SetString(PyExc_ValueError, "the required column is none of those given");
        Py_DECREF(self);
        return NULL;
    }
    reader->required = reader->root->child[required];
    for (int index = reader->root->children - 1; index >= 0; index--) {
        Column *column = reader->root->child[index];
        if (!column->key_size)
            continue;
        Column **place = &reader->keys[hash((const unsigned char *)column->key, column->key_size)];
        column->next = *place;
        *place = column;
    }
    if (reader->fd < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void events_free(PyObject *object) {
    Events *self = (Events *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->reader.fd >= 0)
        close(self->reader.fd);
    column_free(self->reader.root);
    free(self->reader.text);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *bad_lines(PyObject *self, void *Py_UNUSED(closure)) {
    return PyLong_FromLongLong(((Events *)self)->reader.bad_lines);
}

static PyMethodDef events_methods[] = {
    {"__arrow_c_stream__", (PyCFunction)(void (*)(void))arrow_c_stream, METH_VARARGS | METH_KEYWORDS,
     "The lines as a stream of record batches, once."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef events_values[] = {
    {"bad_lines", bad_lines, NULL, "Lines so far that are no event.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot events_slots[] = {
    {Py_tp_new, events_new},
    {Py_tp_dealloc, events_free},
    {Py_tp_methods, events_methods},
    {Py_tp_getset, events_values},
    {Py_tp_doc, "Events(fd, begin, end, columns, required): lines of a file, from byte to byte, as Arrow columns."},
    {0, NULL},
};

static PyType_Spec events_spec = {
    .name = "tracert_analysis._events.Events",
    .basicsize = sizeof(Events),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = events_slots,
};

static int module_exec(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &events_spec, NULL);
    return type ? PyModule_AddObjectRef(module, "Events", type) + (Py_DECREF(type), 0) : -1;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_events", .m_doc = "See _events.c.", .m_size = 0, .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__events(void) { return PyModuleDef_Init(&module); }
