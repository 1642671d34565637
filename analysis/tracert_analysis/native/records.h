/* Records of a ring into tables, by a plan made of the ring's own schema. */
#ifndef TRACERT_RECORDS_H
#define TRACERT_RECORDS_H

#include "tables.h"

enum { FIELDS_MAX = 16, SECTIONS_MAX = 8, WIDTH_MAX = 8, CODES_MAX = 1024 };

/* A text that somebody else owns. */
typedef struct {
    const char *data;
    size_t size;
} Piece;

typedef enum { INT, WORD, HEX, SET, HOLDER, FIELD_TYPES } FieldType;

typedef struct {
    Column *column;
    int where; /* byte offset in the record, or payload word -1 - where */
    int is_wide;
    FieldType type;
} Field;

typedef enum { REST, IN_RECORD, IN_PAYLOAD, COUNTS } Count;

typedef struct {
    Column *column; /* of lists, of texts, or of structs; NULL when the table has none */
    int width;
    Count count;
    int count_at; /* byte offset in the record, or payload word */
    Column *child[WIDTH_MAX]; /* of a struct: where each word goes, NULL for nowhere */
    int is_text[WIDTH_MAX];
} Section;

typedef struct {
    Table *table;
    Column *seq, *t, *kind, *actor; /* `actor` NULL when a field says it */
    Piece name;
    int lead, single, fields, sections;
    Field field[FIELDS_MAX];
    Section section[SECTIONS_MAX];
} Layout;

typedef struct {
    const unsigned char *slots;
    uint64_t mask;
    const Piece *words;
    size_t word_count;
    Layout *layouts;
    short by_code[CODES_MAX]; /* -1 where there is no layout */
} Records;

/* Puts the events whose records lie in the slots `heads` into their tables. Returns 0 when there is no memory, -1 at a
 * record that has no layout. */
int put_records(const Records *self, const int64_t *heads, int64_t count);

#endif
