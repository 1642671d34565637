#include "column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Column *column_new(const char *name, const char *key, Type type, int children) {
    Column *column = calloc(1, sizeof(*column));
    if (!column)
        return NULL;
    column->type = type;
    column->name = strdup(name);
    column->key = strdup(key);
    column->key_size = strlen(key);
    column->quoted = malloc(column->key_size + 4);
    if (column->quoted)
        sprintf(column->quoted, "\"%s\":", key);
    column->child = calloc((size_t)children + 1, sizeof(Column *));
    if (column->name && column->key && column->quoted && column->child)
        return column;
    column_free(column);
    return NULL;
}

/* Makes room for `size` bytes, new ones zero; there is a buffer then, even for none. */
int ensure(Buffer *buffer, size_t size) {
    if (buffer->data && size <= buffer->room)
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

void column_free(Column *column) {
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
    free(column->quoted);
    free(column);
}

/* Room for one more value than there are. */
int grow(Column *column) {
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

/* Nulls up to `length` values: most columns of most events are. */
int pad(Column *column, int64_t length) {
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
void cut(Column *column, int64_t length) {
    for (int64_t index = length; index < column->length; index++)
        column->nulls -= is_null(column, index);
    if (column->length > length)
        column->length = length;
    settle(column);
}
