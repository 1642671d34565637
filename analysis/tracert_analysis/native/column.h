/* Columns that grow value by value, in the layout of Arrow: validity, offsets, data. */
#ifndef TRACERT_COLUMN_H
#define TRACERT_COLUMN_H

#include <stddef.h>
#include <stdint.h>

typedef enum { U64, U32, U16, I64, I32, FLAG, TEXT, RAW, LIST, STRUCT, TYPES } Type;
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
    char *quoted; /* the key as a line has it: in quotes, and a colon */
    size_t key_size;
    Type type;
    int look, children;
    Column **child;
    int64_t length, nulls;
    size_t text_used;
    Buffer valid, data, offsets; /* data: values, or a text's bytes */
    Column *next; /* another column whose key has the same hash */
};

/* column.c: each returns 0 when there is no memory. */
int ensure(Buffer *buffer, size_t size);
int grow(Column *column);
int pad(Column *column, int64_t length);
void cut(Column *column, int64_t length);
Column *column_new(const char *name, const char *key, Type type, int children);
void column_free(Column *column);

static inline int is_text(Type type) { return type == TEXT || type == RAW; }

static inline int32_t *offsets(Column *column) { return (int32_t *)column->offsets.data; }

/* Where the next value of a text or a list begins. */
static inline int32_t filled(const Column *column) {
    return (int32_t)(column->type == LIST ? (size_t)column->child[0]->length : column->text_used);
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

#endif
