/* Each function returns 0 for a value that is not the column's, or, with `cursor->memory`, when there is no memory. */
#include "value.h"

static int put_number(Column *column, Cursor *cursor) {
    static const uint64_t most[] = {UINT64_MAX, UINT32_MAX, UINT16_MAX, INT64_MAX, INT32_MAX};
    int negative = take_word(cursor, "-", 1);
    const unsigned char *begin = cursor->at;
    uint64_t value = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        uint64_t digit = (uint64_t)(*cursor->at - '0');
        /* So many digits always fit. */
        if (cursor->at - begin >= 19 && value > (UINT64_MAX - digit) / 10)
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
            int is_new = found && found->length == column->length;
            if (!(is_new ? put_value(found, cursor, depth + 1) : skip_value(cursor, depth + 1)))
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

int put_value(Column *column, Cursor *cursor, int depth) {
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
