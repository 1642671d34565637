/* The tables that events go to: each takes the rows of some kinds of events, and the last one those of all others. */
#ifndef TRACERT_TABLES_H
#define TRACERT_TABLES_H

#include <string.h>

#include "column.h"

enum { KEYS = 256 };

typedef struct {
    Column *root; /* a STRUCT of the table's columns; its length is the number of rows */
    Column *keys[KEYS];
} Table;

enum { ORDER_MAX = 24 };

typedef struct Kind Kind;
struct Kind {
    char *name;
    size_t size;
    Table *table;
    Column *order[ORDER_MAX]; /* of its last line's values: most lines of a kind have the same keys in the same order */
    Kind *next;               /* another kind whose name has the same hash */
};

typedef struct {
    Table *table;
    int count, kind_count;
    Kind *kinds, *named[KEYS];
    Kind others;
    int64_t refused; /* values that are not of their column's type */
} Tables;

static inline unsigned hash(const unsigned char *key, size_t size) {
    return ((unsigned)size * 61 + key[0] * 7u + key[size - 1] * 31u + key[size / 2] * 13u) % KEYS;
}

static inline Kind *kind_of(Tables *self, const unsigned char *name, size_t size) {
    for (Kind *one = size ? self->named[hash(name, size)] : NULL; one; one = one->next)
        if (one->size == size && memcmp(one->name, name, size) == 0)
            return one;
    return &self->others;
}

/* tables.c: each returns 0 when there is no memory. */
int tables_start(Tables *self, int tables, int kinds);
void set_root(Table *table, Column *root);
int add_kind(Tables *self, const char *name, int table);
int pad_columns(Table *table);
void tables_end(Tables *self);

#endif
