/* JSON Lines to Arrow columns, a batch of lines at a time: the strict reader of a dump's events.
 *
 * A line that is no JSON object, or lacks the column that is required, is left out and counted. A value that is not
 * of its column's type is none; keys that no column has are passed over. Reads a range of an open file, and never
 * holds more of it than a batch and a line. The stream is the Arrow C data interface
 * (arrow.apache.org/docs/format/CStreamInterface.html), so that DuckDB takes it as it is. The interpreter's lock is
 * not needed once reading has begun.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <unistd.h>

#include "arrow.h"
#include "reader.h"

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
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "iLLO!i", names, &fd, &begin, &end, &PyTuple_Type, &columns,
                                     &required))
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
    PyModuleDef_HEAD_INIT,
    .m_name = "_events",
    .m_doc = "Lines of a dump as Arrow columns.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__events(void) { return PyModuleDef_Init(&module); }
