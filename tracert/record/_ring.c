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
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { ALLOC = 1, HOLD, DROP, RETIRE, FREE, ROW_ACQUIRE = 10, ROW_RELEASE = 11, LAUNCH = 20, PUBLISH, COPY, CLEAR,
       SCHEDULE = 51, TRANSACTION = 60 };
enum { FORM_NONE, FORM_WORDS, FORM_JSON };
enum { STATE_HELD = 1, STATE_RETIRED, STATE_FREE };
enum { CURSOR, PAYLOADS, LOST, FACTS_SEQ };

#define ABSENT32 0xFFFFFFFFu
#define PAYLOAD_BIT (1ull << 63)
#define SLOT_BYTES 56
#define SEED 0x9E3779B97F4A7C15ull
#define MULTIPLIER 0xD6E8FEB86659FD93ull
#define DEPTH_MAX 8

typedef struct {
    uint64_t t;
    uint16_t kind, flags;
    uint32_t count, a, b, c, d;
    uint64_t x, y;
    uint32_t e, sum;
    uint64_t seq;
} Record;

typedef struct {
    uint32_t life;
    uint8_t state, given_back, holder_kind, previous_kind;
    uint32_t holder, previous, writer_life, writer_stream;
    uint64_t alloc_seq, writer, writer_seq, fence, freed_seq;
} Page;

typedef struct {
    uint64_t generation, state, request, frontier, committed, provisional, transaction, phase, step, scheduled,
        computed, pages, epoch, publish_launch, publish_stream, publish_seq;
} Lane;

_Static_assert(sizeof(Record) == 64 && sizeof(Page) == 64 && sizeof(Lane) == 128, "layout.py");

typedef struct {
    PyObject_HEAD
    Py_buffer buffer;
    volatile uint64_t *counters;
    uint64_t *records;
    volatile Page *pages;
    volatile Lane *lanes;
    volatile uint32_t *mirror;
    uint64_t slots, mask, page_count, page_size, rows, width;
    uint32_t begin, commit;
    PyObject *words, *new_word, *too_large;
} Writer;

/* Words of a payload: on the stack as long as they are few. */
typedef struct {
    uint32_t *data;
    size_t used, room;
    uint32_t few[512];
} Words;

static void words_start(Words *words) {
    words->data = words->few;
    words->used = 0;
    words->room = sizeof(words->few) / sizeof(words->few[0]);
}

static void words_end(Words *words) {
    if (words->data != words->few)
        PyMem_Free(words->data);
}

static int words_reserve(Words *words, size_t more) {
    if (words->used + more <= words->room)
        return 0;
    size_t room = 2 * (words->used + more);
    uint32_t *data = PyMem_Malloc(room * sizeof(uint32_t));
    if (!data) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(data, words->data, words->used * sizeof(uint32_t));
    words_end(words);
    words->data = data;
    words->room = room;
    return 0;
}

/* The value of a small int, or -1: most numbers are small, and a call for each would be half of an event's cost. */
static inline int64_t small(PyObject *object) {
#if PY_VERSION_HEX >= 0x030C0000
    if (PyLong_CheckExact(object) && PyUnstable_Long_IsCompact((PyLongObject *)object))
        return PyUnstable_Long_CompactValue((PyLongObject *)object);
#else
    if (PyLong_CheckExact(object)) {
        Py_ssize_t digits = Py_SIZE(object);
        if (digits == 0 || digits == 1)
            return digits ? (int64_t)((PyLongObject *)object)->ob_digit[0] : 0;
    }
#endif
    return -1;
}

/* A number as 64 bits; None and negative numbers are absent: all bits set. */
static int wide(PyObject *object, uint64_t *out) {
    int64_t few = small(object);
    if (few >= 0) {
        *out = (uint64_t)few;
        return 0;
    }
    if (object == Py_None) {
        *out = UINT64_MAX;
        return 0;
    }
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (value >= 0) {
        *out = (uint64_t)value;
        return 0;
    }
    if (PyErr_Occurred())
        return -1;
    if (overflow > 0) {
        PyObject *index = PyNumber_Index(object);
        if (!index)
            return -1;
        *out = PyLong_AsUnsignedLongLong(index);
        Py_DECREF(index);
        if (*out == UINT64_MAX && PyErr_Occurred()) {
            PyErr_Format(PyExc_OverflowError, "%S does not fit 64 bits of a record", object);
            return -1;
        }
        return 0;
    }
    *out = UINT64_MAX;
    return 0;
}

static int narrow_slowly(PyObject *object, uint32_t *out) {
    uint64_t value;
    if (wide(object, &value) < 0) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Format(PyExc_OverflowError, "%S does not fit 32 bits of a record", object);
        return -1;
    }
    if (value > ABSENT32 && value != UINT64_MAX) {
        PyErr_Format(PyExc_OverflowError, "%S does not fit 32 bits of a record", object);
        return -1;
    }
    *out = (uint32_t)value;
    return 0;
}

static inline int narrow(PyObject *object, uint32_t *out) {
    int64_t value = small(object);
    if (value >= 0 && value < ABSENT32) {
        *out = (uint32_t)value;
        return 0;
    }
    return narrow_slowly(object, out);
}

/* The index of a text in the ring's table of words; a new one enters the table through `Ring.word`. */
static int text(Writer *self, PyObject *object, uint32_t *out) {
    PyObject *found = PyDict_GetItemWithError(self->words, object);
    if (found)
        return narrow(found, out);
    if (PyErr_Occurred())
        return -1;
    found = PyObject_CallOneArg(self->new_word, object);
    if (!found)
        return -1;
    int failed = narrow(found, out);
    Py_DECREF(found);
    return failed;
}

static int flatten(Writer *self, PyObject *part, Words *words, int depth) {
    if (PyLong_Check(part)) {
        if (words_reserve(words, 1) < 0)
            return -1;
        return narrow(part, &words->data[words->used++]);
    }
    if (PyUnicode_Check(part)) {
        if (words_reserve(words, 1) < 0)
            return -1;
        return text(self, part, &words->data[words->used++]);
    }
    if (!PySequence_Check(part)) {
        if (words_reserve(words, 1) < 0)
            return -1;
        return narrow(part, &words->data[words->used++]);
    }
    if (depth == DEPTH_MAX) {
        PyErr_SetString(PyExc_ValueError, "payload is nested too deeply");
        return -1;
    }
    /* A named tuple as it is: PySequence_Fast would copy it. */
    PyObject *fast = PyTuple_Check(part) ? Py_NewRef(part)
                                         : PySequence_Fast(part, "payload must be numbers, texts and sequences");
    if (!fast)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(fast);
    int failed = words_reserve(words, (size_t)count);
    for (Py_ssize_t index = 0; index < count && !failed; index++) {
        PyObject *item = PySequence_Fast_GET_ITEM(fast, index);
        int64_t value = small(item);
        if (value >= 0 && value < ABSENT32 && words->used < words->room)
            words->data[words->used++] = (uint32_t)value;
        else
            failed = flatten(self, item, words, depth + 1);
    }
    Py_DECREF(fast);
    return failed;
}

/* ---- last facts: the same steps in the same order as facts.py ---- */

static void wrote(Writer *self, uint32_t page, uint32_t life, const Record *record) {
    if (page >= self->page_count)
        return;
    volatile Page *facts = &self->pages[page];
    facts->writer_life = life;
    facts->writer_stream = record->a;
    facts->writer = record->x;
    facts->writer_seq = record->seq;
}

static void wrote_extents(Writer *self, const uint32_t *words, size_t count, const Record *record) {
    for (size_t at = 0; at + 3 < count; at += 4)
        wrote(self, words[at], words[at + 1], record);
}

static void fold_page(Writer *self, uint32_t page, uint32_t life, const Record *record) {
    if (page >= self->page_count)
        return;
    volatile Page *facts = &self->pages[page];
    uint8_t kind = (uint8_t)record->c;
    uint32_t holder = (uint32_t)record->x;
    switch (record->kind) {
    case ALLOC:
        if (facts->life != life) {
            facts->previous_kind = facts->holder_kind;
            facts->previous = facts->holder;
            facts->life = life;
        }
        facts->holder_kind = kind;
        facts->holder = holder;
        facts->given_back = 0;
        facts->state = STATE_HELD;
        facts->alloc_seq = record->seq;
        break;
    case HOLD:
        facts->holder_kind = kind;
        facts->holder = holder;
        facts->given_back = 0;
        break;
    case DROP:
        if (facts->holder_kind == kind && facts->holder == holder)
            facts->given_back = 1;
        break;
    case RETIRE:
        facts->state = STATE_RETIRED;
        facts->fence = record->x + 1;
        break;
    case FREE:
        facts->state = STATE_FREE;
        facts->freed_seq = record->seq;
        break;
    }
}

static void fold_launch(Writer *self, const Record *record, const uint32_t *words) {
    const uint32_t *use = words + 2;
    for (uint32_t number = 0; number < record->e; number++, use += 6) {
        uint64_t row = use[0], start = use[2], end = use[3];
        if (start >= end || row >= self->rows)
            continue;
        uint64_t stop = (end - 1) / self->page_size + 1;
        if (stop > self->width)
            stop = self->width;
        for (uint64_t index = start / self->page_size; index < stop; index++) {
            volatile uint32_t *entry = self->mirror + 2 * (row * self->width + index);
            wrote(self, entry[0], entry[1], record);
        }
    }
    const uint32_t *writes = use + 4 * (size_t)words[0];
    wrote_extents(self, writes, 4 * (size_t)words[1], record);
}

static void fold_publish(Writer *self, const Record *record, const uint32_t *words, size_t count) {
    if (record->c >= self->rows)
        return;
    volatile uint32_t *row = self->mirror + 2 * record->c * self->width;
    for (size_t at = 1; at + 2 < count; at += 3)
        if (words[at] < self->width) {
            row[2 * (size_t)words[at]] = words[at + 1];
            row[2 * (size_t)words[at] + 1] = words[at + 2];
        }
    volatile Lane *lane = &self->lanes[record->c];
    lane->epoch = record->e;
    lane->publish_launch = record->x;
    lane->publish_stream = record->a;
    lane->publish_seq = record->seq;
}

static void fold_row(Writer *self, const Record *record) {
    if (record->a >= self->rows)
        return;
    volatile Lane *lane = &self->lanes[record->a];
    switch (record->kind) {
    case ROW_ACQUIRE:
        lane->generation = record->b;
        lane->state = STATE_HELD;
        lane->request = record->x;
        lane->frontier = lane->committed = lane->provisional = lane->transaction = 0;
        lane->phase = lane->step = lane->scheduled = lane->computed = lane->pages = 0;
        break;
    case ROW_RELEASE:
        lane->state = STATE_FREE;
        break;
    case SCHEDULE:
        lane->phase = record->b;
        lane->step = record->c;
        lane->scheduled = record->d;
        lane->computed = record->e;
        lane->pages = record->y;
        break;
    case TRANSACTION:
        if (record->b == self->begin) {
            lane->frontier = record->c;
            lane->provisional = record->c;
            lane->transaction = record->y + 1;
        } else {
            if (record->b == self->commit)
                lane->committed = record->c;
            lane->frontier = lane->committed;
            lane->transaction = 0;
        }
        break;
    }
}

static void fold(Writer *self, const Record *record, const uint32_t *words, size_t count) {
    switch (record->kind) {
    case ALLOC: case HOLD: case DROP: case RETIRE: case FREE:
        if (!count)
            fold_page(self, record->a, record->b, record);
        for (size_t at = 0; at + 1 < count; at += 2)
            fold_page(self, words[at], words[at + 1], record);
        break;
    case ROW_ACQUIRE: case ROW_RELEASE: case SCHEDULE: case TRANSACTION:
        fold_row(self, record);
        break;
    case LAUNCH:
        if (count >= 2)
            fold_launch(self, record, words);
        break;
    case PUBLISH:
        fold_publish(self, record, words, count);
        break;
    case COPY:
        if (4 * (size_t)record->c <= count)
            wrote_extents(self, words + 4 * (size_t)record->c, count - 4 * (size_t)record->c, record);
        break;
    case CLEAR:
        if (record->c == 1)
            for (uint32_t page = 0; page < record->d && page < self->page_count; page++)
                wrote(self, page, 0, record);
        else
            wrote_extents(self, words, count, record);
        break;
    default:
        return;
    }
    __atomic_store_n(&self->counters[FACTS_SEQ], record->seq, __ATOMIC_RELEASE);
}

/* ---- records ---- */

static inline uint64_t hash(const uint64_t *words, uint64_t seq) {
    uint64_t value = seq ^ SEED;
    for (int index = 0; index < 7; index++)
        value = (value ^ words[index]) * MULTIPLIER;
    return value ^ (value >> 29);
}

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

/* (page, life) pairs out of two sequences. */
static int zip_pages(PyObject *pages, PyObject *lives, Words *words) {
    PyObject *left = PySequence_Fast(pages, "pages must be a sequence");
    if (!left)
        return -1;
    PyObject *right = PySequence_Fast(lives, "lives must be a sequence");
    if (!right) {
        Py_DECREF(left);
        return -1;
    }
    Py_ssize_t count = PySequence_Fast_GET_SIZE(left);
    int failed = -1;
    if (count != PySequence_Fast_GET_SIZE(right)) {
        PyErr_Format(PyExc_ValueError, "%zd pages but %zd lives", count, PySequence_Fast_GET_SIZE(right));
        goto done;
    }
    if (words_reserve(words, 2 * (size_t)count) < 0)
        goto done;
    PyObject **page = PySequence_Fast_ITEMS(left), **life = PySequence_Fast_ITEMS(right);
    uint32_t *out = words->data + words->used;
    for (Py_ssize_t index = 0; index < count; index++)
        if (narrow(page[index], out + 2 * index) < 0 || narrow(life[index], out + 2 * index + 1) < 0)
            goto done;
    words->used += 2 * (size_t)count;
    failed = 0;
done:
    Py_DECREF(left);
    Py_DECREF(right);
    return failed;
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
        (words.used < 2 || words.used < 2 + 6 * (size_t)record.e + 4 * ((size_t)words.data[0] + words.data[1]))) {
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

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tracert.record._ring",
    .m_doc = "The ring's writer in C.",
    .m_size = 0,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__ring(void) { return PyModuleDef_Init(&module); }
