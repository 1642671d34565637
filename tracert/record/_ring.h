/* What the C files of the ring share: the layout of `layout.py`, the writer, and the parsing of arguments. */
#ifndef TRACERT_RING_H
#define TRACERT_RING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { ALLOC = 1, HOLD, DROP, RETIRE, FREE, ROW_ACQUIRE = 10, ROW_RELEASE = 11, LAUNCH = 20, PUBLISH, COPY, CLEAR,
       SCHEDULE = 51, TRANSACTION = 60, LOAD = 65, HOST_WRITE, EXTERNAL_BEGIN };
/* Words of a launch's payload before its uses. */
enum { LAUNCH_LEAD = 3 };
enum { FORM_NONE, FORM_WORDS, FORM_JSON };
enum { STATE_HELD = 1, STATE_RETIRED, STATE_FREE };
enum { CURSOR, PAYLOADS, LOST, FACTS_SEQ };

#define ABSENT32 0xFFFFFFFFu
#define PAYLOAD_BIT (1ull << 63)
#define SLOT_BYTES 56
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
/* _whole.c */
PyObject *whole(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif
    return -1;
}

#define SEED 0x9E3779B97F4A7C15ull
#define MULTIPLIER 0xD6E8FEB86659FD93ull

/* The hash of a slot: see `checksum.py`. */
static inline uint64_t hash(const uint64_t *words, uint64_t seq) {
    uint64_t value = seq ^ SEED;
    for (int index = 0; index < 7; index++)
        value = (value ^ words[index]) * MULTIPLIER;
    return value ^ (value >> 29);
}

int narrow_slowly(PyObject *object, uint32_t *out);

/* A number as 32 bits; None and negative numbers are absent: all bits set. */
static inline int narrow(PyObject *object, uint32_t *out) {
    int64_t value = small(object);
    if (value >= 0 && value < ABSENT32) {
        *out = (uint32_t)value;
        return 0;
    }
    return narrow_slowly(object, out);
}

/* _arguments.c */
int wide(PyObject *object, uint64_t *out);
int flatten(Writer *self, PyObject *part, Words *words, int depth);
int zip_pages(PyObject *pages, PyObject *lives, Words *words);
void words_start(Words *words);
void words_end(Words *words);

/* _facts.c */
void fold(Writer *self, const Record *record, const uint32_t *words, size_t count);

/* _lines.c */
PyObject *lines(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* _whole.c */
PyObject *whole(PyObject *module, PyObject *const *args, Py_ssize_t count);

#endif
