/* What `tracert.record.decode` does, into columns and without the interpreter. The layout is that of
 * `tracert.record.layout` and `tracert.record.schema`. */
#include "records.h"

enum { SLOT_BYTES = 64, WORDS_A_SLOT = 14, FORM_WORDS = 1 };
#define ABSENT32 0xFFFFFFFFu
#define ABSENT64 UINT64_MAX
#define HOLDER_MAX (UINT64_MAX >> 9)

/* Of a record: where its parts lie. */
enum { AT_T = 0, AT_KIND = 8, AT_FLAGS = 10, AT_COUNT = 12, AT_A = 16, AT_B = 20, AT_X = 32, AT_SEQ = 56 };

typedef struct {
    const Records *all;
    const unsigned char *record;
    uint64_t head, count; /* payload words */
} Event;

static inline uint16_t read16(const unsigned char *at) {
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint32_t read32(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint64_t read64(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint32_t payload(const Event *event, uint64_t index) {
    uint64_t slot = (event->head + 1 + index / WORDS_A_SLOT) & event->all->mask;
    return read32(event->all->slots + SLOT_BYTES * slot + 4 * (index % WORDS_A_SLOT));
}

static inline Piece word(const Event *event, uint64_t index) {
    return index < event->all->word_count ? event->all->words[index] : (Piece){"unknown", 7};
}

/* ---- values: each returns 0 when there is no memory ---- */

/* A number; none when the column is too narrow for it. */
static int put_number(Column *column, uint64_t value) {
    static const uint64_t most[] = {UINT64_MAX, UINT32_MAX, UINT16_MAX, INT64_MAX, INT32_MAX};
    if (value > most[column->type])
        return pad(column, column->length + 1);
    if (!grow(column))
        return 0;
    memcpy(column->data.data + column->length * WIDTHS[column->type], &value, (size_t)WIDTHS[column->type]);
    close_value(column, 1);
    return 1;
}

/* A word of a list: absent is -1. */
static int put_entry(Column *column, uint32_t value) {
    if (!grow(column))
        return 0;
    int64_t wide = value == ABSENT32 ? -1 : (int64_t)value;
    memcpy(column->data.data + column->length * 8, &wide, 8);
    close_value(column, 1);
    return 1;
}

static int append(Column *column, const char *data, size_t size) {
    if (!ensure(&column->data, column->text_used + size))
        return 0;
    memcpy(column->data.data + column->text_used, data, size);
    column->text_used += size;
    return 1;
}

static int put_text(Column *column, Piece text) {
    if (!grow(column) || !append(column, text.data, text.size))
        return 0;
    close_value(column, 1);
    return 1;
}

static int put_hex(Column *column, uint64_t value) {
    char digits[16];
    for (int at = 0; at < 16; at++)
        digits[at] = "0123456789abcdef"[value >> (60 - 4 * at) & 15];
    return put_text(column, (Piece){digits, 16});
}

static int put_holder(Column *column, Piece kind, uint64_t number) {
    char digits[24];
    int at = sizeof(digits);
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    digits[--at] = ':';
    if (!grow(column) || !append(column, kind.data, kind.size) ||
        !append(column, digits + at, sizeof(digits) - (size_t)at))
        return 0;
    close_value(column, 1);
    return 1;
}

static int put_true(Column *column) {
    if (!grow(column))
        return 0;
    set_bit(column->data.data, column->length, 1);
    close_value(column, 1);
    return 1;
}

/* ---- events ---- */

/* Puts a field unless it is absent; `is_set` becomes true for a flag. */
static int put_field(const Event *event, const Field *field, int64_t row, int *is_set) {
    uint64_t value;
    if (field->where < 0) {
        uint64_t index = (uint64_t)(-1 - field->where);
        uint32_t found = index < event->count ? payload(event, index) : 0;
        value = found == ABSENT32 ? ABSENT64 : found;
    } else if (field->is_wide) {
        value = read64(event->record + field->where);
    } else {
        uint32_t found = read32(event->record + field->where);
        value = found == ABSENT32 ? ABSENT64 : found;
    }
    if (value == ABSENT64 || (field->type == SET && !value))
        return 1;
    *is_set |= field->type == SET;
    Column *column = field->column;
    if (!column)
        return 1;
    if (!pad(column, row))
        return 0;
    switch (field->type) {
    case WORD:
        return put_text(column, word(event, value));
    case HEX:
        return put_hex(column, value);
    case SET:
        return put_true(column);
    case HOLDER:
        return put_holder(column, word(event, value & 0xFF), read64(event->record + AT_X) & HOLDER_MAX);
    default:
        return put_number(column, value);
    }
}

/* One row of a section as an element of the column's list. */
static int put_element(const Event *event, const Section *section, uint64_t at) {
    Column *element = section->column->child[0];
    if (is_text(element->type))
        return put_text(element, word(event, payload(event, at)));
    if (!grow(element))
        return 0;
    for (int index = 0; index < section->width; index++) {
        uint32_t value = payload(event, at + (uint64_t)index);
        Column *child = element->type == LIST ? element->child[0] : section->child[index];
        if (element->type == LIST ? !put_entry(child, value)
            : !child              ? 0
            : section->is_text[index]
                ? !put_text(child, word(event, value))
                : !put_number(child, value == ABSENT32 ? ABSENT64 : value))
            return 0;
    }
    if (element->type == STRUCT)
        for (int index = 0; index < element->children; index++)
            if (!pad(element->child[index], element->length + 1))
                return 0;
    close_value(element, 1);
    return 1;
}

static uint64_t rows_said(const Event *event, const Section *section, uint64_t most) {
    uint64_t said = most;
    if (section->count == IN_RECORD)
        said = read32(event->record + section->count_at);
    else if (section->count == IN_PAYLOAD) {
        uint64_t index = (uint64_t)section->count_at;
        uint32_t found = index < event->count ? payload(event, index) : 0;
        said = found == ABSENT32 ? 0 : found;
    }
    return said < most ? said : most;
}

/* A list is there unless the event said the same in fields: one page, or all pages. */
static int put_sections(const Event *event, const Layout *layout, int64_t row, int said_by_flag) {
    uint64_t at = (uint64_t)layout->lead;
    for (int number = 0; number < layout->sections; number++) {
        const Section *section = &layout->section[number];
        uint64_t width = (uint64_t)section->width;
        uint64_t rows = rows_said(event, section, at < event->count ? (event->count - at) / width : 0);
        if (section->column && !said_by_flag && !(layout->single && !rows)) {
            if (!pad(section->column, row) || !grow(section->column))
                return 0;
            for (uint64_t index = 0; index < rows; index++)
                if (!put_element(event, section, at + index * width))
                    return 0;
            close_value(section->column, 1);
        }
        at += rows * width;
    }
    return 1;
}

static int put_event(const Event *event, const Layout *layout) {
    int64_t row = layout->table->root->length;
    int is_set = 0;
    if (!pad(layout->seq, row) || !put_number(layout->seq, read64(event->record + AT_SEQ)))
        return 0;
    if (!pad(layout->t, row) || !put_number(layout->t, read64(event->record + AT_T)))
        return 0;
    if (!pad(layout->kind, row) || !put_text(layout->kind, layout->name))
        return 0;
    if (layout->actor && (!pad(layout->actor, row) || !put_text(layout->actor, (Piece){"host", 4})))
        return 0;
    for (int number = 0; number < layout->fields; number++) {
        const Field *field = &layout->field[number];
        int is_page = field->where == AT_A || field->where == AT_B;
        if (!(layout->single && event->count && is_page) && !put_field(event, field, row, &is_set))
            return 0;
    }
    if (!put_sections(event, layout, row, is_set))
        return 0;
    layout->table->root->length++;
    return 1;
}

int put_records(const Records *self, const int64_t *heads, int64_t count) {
    for (int64_t index = 0; index < count; index++) {
        Event event = {.all = self, .head = (uint64_t)heads[index] & self->mask};
        event.record = self->slots + SLOT_BYTES * event.head;
        uint16_t kind = read16(event.record + AT_KIND);
        int layout = kind < CODES_MAX ? self->by_code[kind] : -1;
        if (layout < 0)
            return -1;
        if ((read16(event.record + AT_FLAGS) & 3) == FORM_WORDS)
            event.count = read32(event.record + AT_COUNT);
        if (!put_event(&event, &self->layouts[layout]))
            return 0;
    }
    return 1;
}
