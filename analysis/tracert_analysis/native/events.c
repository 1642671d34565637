/* Events to Arrow columns: the strict reader of a dump's lines and of a ring's records.
 *
 * A line that is no JSON object, or has no kind, is left out and counted. So is a value that is not of its column's
 * type; keys for which the table of the event's kind has no column are passed over. What was read waits in the tables
 * until it is taken, as one record batch, through the Arrow C stream interface
 * (arrow.apache.org/docs/format/CStreamInterface.html), so that DuckDB takes it as it is. The interpreter's lock is
 * not needed while events are read.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>

#include "arrow.h"
#include "lines.h"
#include "plan.h"

typedef struct {
    PyObject_HEAD
    Tables tables;
    int64_t bad_lines;
} Events;

/* What waits in one of the tables. */
typedef struct {
    PyObject_HEAD
    Events *events;
    Table *table;
} Waiting;

/* ---- the stream of a table ---- */

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    if (export_schema(((Waiting *)stream->private_data)->table->root, schema))
        return 0;
    schema->release(schema);
    return ENOMEM;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    Table *table = ((Waiting *)stream->private_data)->table;
    *array = (struct ArrowArray){0};
    if (!table->root->length)
        return 0;
    if (!pad_columns(table))
        return ENOMEM;
    if (export_column(table->root, array))
        return 0;
    array->release(array);
    return ENOMEM;
}

static const char *get_last_error(struct ArrowArrayStream *Py_UNUSED(stream)) { return "out of memory"; }

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

static Py_ssize_t waiting_length(PyObject *self) { return (Py_ssize_t)((Waiting *)self)->table->root->length; }

static void waiting_free(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(((Waiting *)object)->events);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef waiting_methods[] = {
    {"__arrow_c_stream__", (PyCFunction)(void (*)(void))arrow_c_stream, METH_VARARGS | METH_KEYWORDS,
     "Takes all rows, as one record batch."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot waiting_slots[] = {
    {Py_tp_dealloc, waiting_free},
    {Py_tp_methods, waiting_methods},
    {Py_sq_length, waiting_length},
    {Py_tp_doc, "The rows of a table that were read and not taken."},
    {0, NULL},
};

static PyType_Spec waiting_spec = {
    .name = "tracert_analysis._events.Waiting",
    .basicsize = sizeof(Waiting),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = waiting_slots,
};

static PyTypeObject *waiting_type;

/* ---- the tables that are asked for ---- */

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

static int read_tables(Events *self, PyObject *tables, PyObject *kinds) {
    Py_ssize_t count = PyTuple_GET_SIZE(tables);
    if (!count) {
        PyErr_SetString(PyExc_ValueError, "there is no table");
        return 0;
    }
    if (!tables_start(&self->tables, (int)count, (int)PyTuple_GET_SIZE(kinds))) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *item = Py_BuildValue("ssiiO", "", "", ANY, STRUCT, PyTuple_GET_ITEM(tables, index));
        Column *root = item ? read_column(item, 0) : NULL;
        Py_XDECREF(item);
        if (!root)
            return 0;
        set_root(&self->tables.table[index], root);
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(kinds); index++) {
        const char *name;
        int table;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(kinds, index), "si", &name, &table))
            return 0;
        if (table < 0 || table >= count) {
            PyErr_Format(PyExc_ValueError, "there is no table %d for %s", table, name);
            return 0;
        }
        if (!add_kind(&self->tables, name, table)) {
            PyErr_NoMemory();
            return 0;
        }
    }
    return 1;
}

static PyObject *events_new(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"tables", "kinds", NULL};
    PyObject *tables, *kinds;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!O!", names, &PyTuple_Type, &tables, &PyTuple_Type, &kinds))
        return NULL;
    Events *self = (Events *)type->tp_alloc(type, 0);
    if (self && !read_tables(self, tables, kinds))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void events_free(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    tables_end(&((Events *)object)->tables);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *waiting(PyObject *object, PyObject *argument) {
    Events *self = (Events *)object;
    long index = PyLong_AsLong(argument);
    if (index == -1 && PyErr_Occurred())
        return NULL;
    if (index < 0 || index >= self->tables.count) {
        PyErr_SetString(PyExc_IndexError, "there is no such table");
        return NULL;
    }
    Waiting *made = (Waiting *)waiting_type->tp_alloc(waiting_type, 0);
    if (made) {
        made->events = (Events *)Py_NewRef(object);
        made->table = &self->tables.table[index];
    }
    return (PyObject *)made;
}

/* ---- lines ---- */

static PyObject *told(Events *self, Outcome outcome) {
    self->bad_lines += outcome.bad;
    if (!outcome.failed)
        Py_RETURN_NONE;
    if (outcome.failed == ENOMEM)
        return PyErr_NoMemory();
    PyErr_Format(PyExc_OSError, "%s", outcome.error);
    return NULL;
}

static PyObject *lines_of_file(PyObject *self, PyObject *arguments) {
    int fd;
    long long begin, end;
    Outcome outcome;
    if (!PyArg_ParseTuple(arguments, "iLL", &fd, &begin, &end))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    outcome = read_lines(&((Events *)self)->tables, fd, begin, end);
    Py_END_ALLOW_THREADS;
    return told((Events *)self, outcome);
}

static PyObject *lines_of_text(PyObject *self, PyObject *argument) {
    char *text;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(argument, &text, &size) < 0)
        return NULL;
    return told((Events *)self, put_lines(&((Events *)self)->tables, (unsigned char *)text, (size_t)size));
}

/* ---- records ---- */

static PyObject *records(PyObject *self, PyObject *arguments) {
    Py_buffer slots, heads;
    PyObject *layouts, *words, *result = NULL;
    if (!PyArg_ParseTuple(arguments, "y*y*O!O!", &slots, &heads, &PyTuple_Type, &layouts, &PyTuple_Type, &words))
        return NULL;
    Records all = {.slots = slots.buf, .mask = (uint64_t)slots.len / 64 - 1};
    if (slots.len < 64 || (uint64_t)slots.len / 64 & all.mask || slots.len % 64 || heads.len % 8)
        wrong("slots must be a power of two");
    else if (read_plan(&all, &((Events *)self)->tables, layouts, words)) {
        int done;
        Py_BEGIN_ALLOW_THREADS;
        done = put_records(&all, heads.buf, heads.len / 8);
        Py_END_ALLOW_THREADS;
        if (done > 0)
            result = Py_NewRef(Py_None);
        else if (done < 0)
            wrong("an event is of no kind in the plan");
        else
            PyErr_NoMemory();
    }
    plan_end(&all);
    PyBuffer_Release(&slots);
    PyBuffer_Release(&heads);
    return result;
}

/* ---- the module ---- */

static PyObject *bad_lines(PyObject *self, void *Py_UNUSED(closure)) {
    return PyLong_FromLongLong(((Events *)self)->bad_lines);
}

static PyObject *refused_values(PyObject *self, void *Py_UNUSED(closure)) {
    return PyLong_FromLongLong(((Events *)self)->tables.refused);
}

static PyMethodDef events_methods[] = {
    {"lines_of_file", lines_of_file, METH_VARARGS, "lines_of_file(fd, begin, end): reads lines from byte to byte."},
    {"lines_of_text", lines_of_text, METH_O, "lines_of_text(text): reads lines that are in memory."},
    {"records", records, METH_VARARGS, "records(slots, heads, layouts, words): reads records; see `ring.py`."},
    {"waiting", waiting, METH_O, "waiting(table): the rows of a table that were read and not taken."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef events_values[] = {
    {"bad_lines", bad_lines, NULL, "Lines so far that are no event.", NULL},
    {"refused_values", refused_values, NULL, "Values so far that are not of their column's type.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot events_slots[] = {
    {Py_tp_new, events_new},
    {Py_tp_dealloc, events_free},
    {Py_tp_methods, events_methods},
    {Py_tp_getset, events_values},
    {Py_tp_doc, "Events(tables, kinds): columns of each table, and (kind, table) pairs; other kinds go to the last."},
    {0, NULL},
};

static PyType_Spec events_spec = {
    .name = "tracert_analysis._events.Events",
    .basicsize = sizeof(Events),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = events_slots,
};

static int module_exec(PyObject *module) {
    waiting_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &waiting_spec, NULL);
    PyObject *type = waiting_type ? PyType_FromModuleAndSpec(module, &events_spec, NULL) : NULL;
    return type ? PyModule_AddObjectRef(module, "Events", type) + (Py_DECREF(type), 0) : -1;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_events",
    .m_doc = "Events of a dump or a ring as Arrow columns.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__events(void) { return PyModuleDef_Init(&module); }
