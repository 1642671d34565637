#include "tables.h"

#include <stdlib.h>

int tables_start(Tables *self, int tables, int kinds) {
    self->table = calloc((size_t)tables, sizeof(Table));
    self->kinds = calloc((size_t)kinds + 1, sizeof(Kind));
    self->count = tables;
    self->others.table = self->table ? &self->table[tables - 1] : NULL;
    return self->table && self->kinds;
}

/* The table has the columns of `root`, which it owns from here on. */
void set_root(Table *table, Column *root) {
    table->root = root;
    for (int index = root->children - 1; index >= 0; index--) {
        Column *column = root->child[index];
        if (!column->key_size)
            continue;
        Column **place = &table->keys[hash((const unsigned char *)column->key, column->key_size)];
        column->next = *place;
        *place = column;
    }
}

int add_kind(Tables *self, const char *name, int table) {
    Kind *kind = &self->kinds[self->kind_count];
    *kind = (Kind){.name = strdup(name), .size = strlen(name), .table = &self->table[table]};
    if (!kind->name)
        return 0;
    self->kind_count++;
    if (kind->size) {
        Kind **place = &self->named[hash((const unsigned char *)name, kind->size)];
        kind->next = *place;
        *place = kind;
    }
    return 1;
}

/* Makes all columns as long as the table: a column that the last rows lack is shorter. */
int pad_columns(Table *table) {
    for (int index = 0; index < table->root->children; index++)
        if (!pad(table->root->child[index], table->root->length))
            return 0;
    return 1;
}

void tables_end(Tables *self) {
    for (int index = 0; self->table && index < self->count; index++)
        column_free(self->table[index].root);
    for (int index = 0; index < self->kind_count; index++)
        free(self->kinds[index].name);
    free(self->table);
    free(self->kinds);
}
