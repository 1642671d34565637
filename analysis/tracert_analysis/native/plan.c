#include "plan.h"

int wrong(const char *what) {
    PyErr_SetString(PyExc_ValueError, what);
    return 0;
}

/* The column of this number, NULL for -1; `found` becomes 0 when there is none. */
static Column *column_at(const Table *table, int index, int *found) {
    *found = index >= -1 && index < table->root->children;
    return *found && index >= 0 ? table->root->child[index] : NULL;
}

static int read_field(Field *field, const Table *table, PyObject *item) {
    int column, type, found;
    if (!PyArg_ParseTuple(item, "iiii", &column, &field->where, &field->is_wide, &type))
        return 0;
    field->column = column_at(table, column, &found);
    field->type = (FieldType)type;
    if (!found || type < 0 || type >= FIELD_TYPES || field->where > 64 - 8)
        return wrong("a field lies nowhere");
    Type wanted = type == SET ? FLAG : TEXT;
    if (field->column && (type == INT ? field->column->type > I32 : field->column->type != wanted))
        return wrong("a field is not of its column's type");
    return 1;
}

/* From `(column, count, count_at, children)`, a child `(column, is_text)` for each word of a row. */
static int read_section(Section *section, const Table *table, PyObject *item) {
    int column, count, found;
    PyObject *children;
    if (!PyArg_ParseTuple(item, "iiiO!", &column, &count, &section->count_at, &PyTuple_Type, &children))
        return 0;
    section->column = column_at(table, column, &found);
    section->count = (Count)count;
    section->width = (int)PyTuple_GET_SIZE(children);
    if (!found || count < 0 || count >= COUNTS || section->count_at < 0 || section->count_at > 64 - 8 ||
        section->width < 1 || section->width > WIDTH_MAX)
        return wrong("a section lies nowhere");
    if (!section->column)
        return 1;
    if (section->column->type != LIST)
        return wrong("a section is not of its column's type");
    Column *element = section->column->child[0];
    int plain = element->type == LIST && element->child[0]->type == I64;
    if (!plain && element->type != STRUCT && !(element->type == TEXT && section->width == 1))
        return wrong("a section is not of its column's type");
    for (int index = 0; index < section->width; index++) {
        int child;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(children, index), "ii", &child, &section->is_text[index]))
            return 0;
        if (element->type != STRUCT || child < 0)
            continue;
        if (child >= element->children || (section->is_text[index] ? element->child[child]->type != TEXT
                                                                   : element->child[child]->type > I32))
            return wrong("a word is not of its column's type");
        section->child[index] = element->child[child];
    }
    return 1;
}

/* The column of a name that every table has. */
static Column *named(const Table *table, const char *name, Type type) {
    for (int index = 0; index < table->root->children; index++)
        if (strcmp(table->root->child[index]->name, name) == 0)
            return table->root->child[index]->type == type ? table->root->child[index] : NULL;
    return NULL;
}

/* From `(code, kind, by_host, lead, single, fields, sections)`. */
static int read_layout(Layout *layout, Tables *tables, PyObject *item, int *code) {
    int by_host;
    Py_ssize_t size;
    PyObject *fields, *sections;
    if (!PyArg_ParseTuple(item, "iy#iiiO!O!", code, &layout->name.data, &size, &by_host, &layout->lead,
                          &layout->single, &PyTuple_Type, &fields, &PyTuple_Type, &sections))
        return 0;
    layout->name.size = (size_t)size;
    layout->fields = (int)PyTuple_GET_SIZE(fields);
    layout->sections = (int)PyTuple_GET_SIZE(sections);
    if (*code < 0 || *code >= CODES_MAX || layout->lead < 0 || layout->fields > FIELDS_MAX ||
        layout->sections > SECTIONS_MAX)
        return wrong("the plan is too large");
    layout->table = kind_of(tables, (const unsigned char *)layout->name.data, layout->name.size)->table;
    layout->seq = named(layout->table, "seq", U64);
    layout->t = named(layout->table, "t", U64);
    layout->kind = named(layout->table, "kind", TEXT);
    Column *actor = named(layout->table, "actor", TEXT);
    layout->actor = by_host ? actor : NULL;
    if (!layout->seq || !layout->t || !layout->kind || !actor)
        return wrong("a table lacks what every event has");
    for (int index = 0; index < layout->fields; index++)
        if (!read_field(&layout->field[index], layout->table, PyTuple_GET_ITEM(fields, index)))
            return 0;
    for (int index = 0; index < layout->sections; index++)
        if (!read_section(&layout->section[index], layout->table, PyTuple_GET_ITEM(sections, index)))
            return 0;
    return 1;
}

static int read_layouts(Records *records, Tables *tables, PyObject *plan) {
    Py_ssize_t count = PyTuple_GET_SIZE(plan);
    memset(records->by_code, -1, sizeof(records->by_code));
    records->layouts = calloc((size_t)count + 1, sizeof(Layout));
    if (!records->layouts) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        int code;
        if (!read_layout(&records->layouts[index], tables, PyTuple_GET_ITEM(plan, index), &code))
            return 0;
        records->by_code[code] = (short)index;
    }
    return 1;
}

static Piece *read_words(PyObject *words) {
    Py_ssize_t count = PyTuple_GET_SIZE(words);
    Piece *pieces = calloc((size_t)count + 1, sizeof(Piece));
    if (!pieces) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        Py_ssize_t size;
        pieces[index].data = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(words, index), &size);
        if (!pieces[index].data) {
            free(pieces);
            return NULL;
        }
        pieces[index].size = (size_t)size;
    }
    return pieces;
}

int read_plan(Records *records, Tables *tables, PyObject *layouts, PyObject *words) {
    records->words = read_words(words);
    records->word_count = (size_t)PyTuple_GET_SIZE(words);
    return records->words && read_layouts(records, tables, layouts);
}

void plan_end(Records *records) {
    free(records->layouts);
    free((void *)records->words);
}
