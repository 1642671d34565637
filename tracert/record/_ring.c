/* Writes records into a ring, and folds them into the last facts of pages and rows.
 *
 * The same methods and the same bytes as `writer.PythonWriter` and `facts.Facts`, plus the checksum of
 * `checksum.py`; tests hold them equal. An event is one call that keeps the interpreter's lock: arguments are
 * parsed first, so that nothing can fail or run Python between reserving slots and the last store.
 *
 * Order of stores, the contract with readers: the cursor names what is about to be overwritten; then payload;
 * then the record, `seq` last; then facts; then `facts_seq`. A process killed anywhere leaves at most the event
 * in flight unreadable, and readers can tell.
 */
#include "_ring.h"

#include <time.h>

/* Stores a slot, its seq last. Counts the event that it overwrites. */
static inline void store(Writer *self, uint64_t slot, const uint64_t *words, uint64_t seq) {
    uint64_t *target = self->records + 8 * (slot & self->mask);
    uint64_t old = target[7];
    if (old && !(old & PAYLOAD_BIT))
        self->counters[LOST]++;
    memcpy(target, words, SLOT_BYTES);
    __atomic_store_n(&target[7], seq, __ATOMIC_RELEASE);
}

static PyObject *commit(Writer *self, Record *record, const void *payload, size_t nbytes) {
    uint64_t more = (nbytes + SLOT_BYTES - 1) / SLOT_BYTES;
    if (2 * (1 + more) > self->slots)
        return PyErr_Format(self->too_large,
                            "an event of %llu records does not fit a ring of %llu: give a larger --ring-events",
                            1 + more, self->slots);
    uint64_t first = __atomic_fetch_add(&self->counters[CURSOR], 1 + more, __ATOMIC_SEQ_CST);
    uint64_t sum = 0;
    for (uint64_t index = 0; index < more; index++) {
        uint64_t words[7] = {0};
        size_t at = index * SLOT_BYTES, size = nbytes - at;
        uint64_t seq = (first + 2 + index) | PAYLOAD_BIT;
        memcpy(words, (const char *)payload + at, size < SLOT_BYTES ? size : SLOT_BYTES);
        sum += hash(words, seq);
        store(self, first + 1 + index, words, seq);
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    record->t = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
    record->sum = 0;
    record->seq = first + 1;
    uint64_t words[8];
    memcpy(words, record, sizeof(words));
    sum += hash(words, record->seq);
    words[6] |= (sum ^ (sum >> 32)) << 32; /* the field `sum`, which was 0 */
    store(self, first, words, record->seq);
    self->counters[PAYLOADS] += more;
    if (record->flags == FORM_JSON)
        fold(self, record, NULL, 0);
    else
        fold(self, record, payload, nbytes / sizeof(uint32_t));
    return PyLong_FromUnsignedLongLong(record->seq);
}

static PyObject *commit_words(Writer *self, Record *record, const Words *words) {
    record->flags = words->used ? FORM_WORDS : FORM_NONE;
    record->count = (uint32_t)words->used;
    return commit(self, record, words->data, words->used * sizeof(uint32_t));
}

static int expect(Py_ssize_t found, Py_ssize_t least, Py_ssize_t most, const char *name) {
    if (found >= least && found <= most)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments or more, got %zd", name, least, found);
    return -1;
}

/* kind, a, b, c, d, e, x, y */
static int parse(PyObject *const *args, Record *record) {
    uint32_t kind;
    if (narrow(args[0], &kind) < 0 || narrow(args[1], &record->a) < 0 || narrow(args[2], &record->b) < 0 ||
        narrow(args[3], &record->c) < 0 || narrow(args[4], &record->d) < 0 || narrow(args[5], &record->e) < 0 ||
        wide(args[6], &record->x) < 0 || wide(args[7], &record->y) < 0)
        return -1;
    record->kind = (uint16_t)kind;
    record->flags = FORM_NONE;
    record->count = 0;
    return 0;
}

static PyObject *emit(Writer *self, PyObject *const *args, Py_ssize_t count) {
    Record record;
    if (expect(count, 8, 8, "emit") < 0 || parse(args, &record) < 0)
        return NULL;
    return commit(self, &record, NULL, 0);
}

/* kind, c, d, e, x, y, pages, lives */
static PyObject *emit_pages(Writer *self, PyObject *const *args, Py_ssize_t count) {
    if (expect(count, 8, 8, "emit_pages") < 0)
        return NULL;
    PyObject *slots[8] = {args[0], Py_None, Py_None, args[1], args[2], args[3], args[4], args[5]};
    Record record;
    Words words;
    if (parse(slots, &record) < 0)
        return NULL;
    words_start(&words);
    PyObject *seq = NULL;
    if (zip_pages(args[6], args[7], &words) == 0) {
        if (words.used == 0) {
            seq = PyLong_FromLong(0);
        } else if (words.used == 2) {
            record.a = words.data[0];
            record.b = words.data[1];
            seq = commit(self, &record, NULL, 0);
        } else {
            seq = commit_words(self, &record, &words);
        }
    }
    words_end(&words);
    return seq;
}

static PyObject *emit_pairs(Writer *self, PyObject *const *args, Py_ssize_t count) {
    Record record;
    Words words;
    if (expect(count, 10, 10, "emit_pairs") < 0 || parse(args, &record) < 0)
        return NULL;
    words_start(&words);
    PyObject *seq = zip_pages(args[8], args[9], &words) < 0 ? NULL : commit_words(self, &record, &words);
    words_end(&words);
    return seq;
}

static PyObject *emit_words(Writer *self, PyObject *const *args, Py_ssize_t count) {
    Record record;
    Words words;
    if (expect(count, 8, PY_SSIZE_T_MAX, "emit_words") < 0 || parse(args, &record) < 0)
        return NULL;
    words_start(&words);
    PyObject *seq = NULL;
    for (Py_ssize_t index = 8; index < count; index++)
        if (flatten(self, args[index], &words, 0) < 0)
            goto done;
    /* A launch's fold walks what its record announces. */
    if (record.kind == LAUNCH &&
        (words.used < LAUNCH_LEAD ||
         words.used < LAUNCH_LEAD + 6 * (size_t)record.e + 4 * ((size_t)words.data[0] + words.data[1]))) {
        PyErr_SetString(PyExc_ValueError, "a launch has fewer words than its counts say");
        goto done;
    }
    seq = commit_words(self, &record, &words);
done:
    words_end(&words);
    return seq;
}

static PyObject *emit_json(Writer *self, PyObject *const *args, Py_ssize_t count) {
    Record record;
    char *payload;
    Py_ssize_t nbytes;
    if (expect(count, 9, 9, "emit_json") < 0 || parse(args, &record) < 0 ||
        PyBytes_AsStringAndSize(args[8], &payload, &nbytes) < 0)
        return NULL;
    record.flags = FORM_JSON;
    record.count = (uint32_t)nbytes;
    return commit(self, &record, payload, (size_t)nbytes);
}

/* ---- the type ---- */

/* The number at `ring.header.<part>.<name>`. */
static int number(PyObject *header, const char *part, const char *name, uint64_t *out) {
    PyObject *holder = PyObject_GetAttrString(header, part);
    PyObject *value = holder ? PyObject_GetAttrString(holder, name) : NULL;
    int failed = value ? wide(value, out) : -1;
    Py_XDECREF(holder);
    Py_XDECREF(value);
    return failed;
}

static int known_word(Writer *self, const char *word, uint32_t *out) {
    PyObject *index = PyDict_GetItemString(self->words, word);
    if (!index) {
        PyErr_Format(PyExc_ValueError, "the ring has no word %s", word);
        return -1;
    }
    return narrow(index, out);
}

static int writer_open(Writer *self, PyObject *ring, PyObject *header) {
    uint64_t records, pages, lanes, mirror, end;
    if (number(header, "geometry", "slots", &self->slots) < 0 ||
        number(header, "geometry", "pages", &self->page_count) < 0 ||
        number(header, "geometry", "page_size", &self->page_size) < 0 ||
        number(header, "geometry", "rows", &self->rows) < 0 ||
        number(header, "geometry", "row_width", &self->width) < 0 ||
        number(header, "regions", "pages", &pages) < 0 || number(header, "regions", "lanes", &lanes) < 0 ||
        number(header, "regions", "mirror", &mirror) < 0 || number(header, "regions", "records", &records) < 0 ||
        number(header, "regions", "end", &end) < 0)
        return -1;
    PyObject *buffer = PyObject_GetAttrString(ring, "buffer");
    if (!buffer)
        return -1;
    int failed = PyObject_GetBuffer(buffer, &self->buffer, PyBUF_WRITABLE);
    Py_DECREF(buffer);
    if (failed < 0)
        return -1;
    if ((uint64_t)self->buffer.len < end) {
        PyErr_SetString(PyExc_ValueError, "the ring's buffer is shorter than its header says");
        return -1;
    }
    char *base = self->buffer.buf;
    self->mask = self->slots - 1;
    self->counters = (volatile uint64_t *)(base + 1024);
    self->records = (uint64_t *)(base + records);
    self->pages = (volatile Page *)(base + pages);
    self->lanes = (volatile Lane *)(base + lanes);
    self->mirror = (volatile uint32_t *)(base + mirror);
    self->words = PyObject_GetAttrString(ring, "words");
    self->new_word = PyObject_GetAttrString(ring, "word");
    PyObject *errors = PyImport_ImportModule("tracert.record.errors");
    self->too_large = errors ? PyObject_GetAttrString(errors, "GeometryError") : NULL;
    Py_XDECREF(errors);
    if (!self->words || !self->new_word || !self->too_large)
        return -1;
    if (!PyDict_Check(self->words)) {
        PyErr_SetString(PyExc_TypeError, "ring.words must be a dict");
        return -1;
    }
    return known_word(self, "begin", &self->begin) < 0 || known_word(self, "commit", &self->commit) < 0 ? -1 : 0;
}

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *ring;
    static char *names[] = {"ring", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Writer", names, &ring))
        return NULL;
    Writer *self = (Writer *)type->tp_alloc(type, 0);
    PyObject *header = self ? PyObject_GetAttrString(ring, "header") : NULL;
    if (!header || writer_open(self, ring, header) < 0)
        Py_CLEAR(self);
    Py_XDECREF(header);
    return (PyObject *)self;
}

static void writer_dealloc(Writer *self) {
    PyTypeObject *type = Py_TYPE(self);
    if (self->buffer.obj)
        PyBuffer_Release(&self->buffer);
    Py_XDECREF(self->words);
    Py_XDECREF(self->new_word);
    Py_XDECREF(self->too_large);
    type->tp_free(self);
    Py_DECREF(type);
}

#define METHOD(name, text) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, text}

static PyMethodDef methods[] = {
    METHOD(emit, "emit(kind, a, b, c, d, e, x, y): a record without payload; returns its seq."),
    METHOD(emit_pages, "emit_pages(kind, c, d, e, x, y, pages, lives): one page in a and b, or several as payload."),
    METHOD(emit_pairs, "emit_pairs(kind, a, b, c, d, e, x, y, pages, lives): pages as payload."),
    METHOD(emit_words, "emit_words(kind, a, b, c, d, e, x, y, *parts): numbers and texts as payload."),
    METHOD(emit_json, "emit_json(kind, a, b, c, d, e, x, y, text): JSON as payload."),
    {NULL, NULL, 0, NULL},
};

static PyType_Slot type_slots[] = {
    {Py_tp_doc, "Writer(ring): see tracert.record.writer.Writer."},
    {Py_tp_new, writer_new},
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec type_spec = {
    .name = "tracert.record._ring.Writer",
    .basicsize = sizeof(Writer),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = type_slots,
};

static int module_exec(PyObject *module) {
    PyObject *type = PyType_FromSpec(&type_spec);
    if (!type)
        return -1;
    int failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return failed;
}

static PyMethodDef module_methods[] = {
    METHOD(whole, "whole(slots, seqs | None, checked, first, last): the records that are whole; returns how many."),
    METHOD(lines, "lines(slots, heads, plan, words, given_at, given): events as JSON lines."),
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tracert.record._ring",
    .m_doc = "The ring in C: its writer, and what reading it takes longest.",
    .m_size = 0,
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__ring(void) { return PyModuleDef_Init(&module); }
