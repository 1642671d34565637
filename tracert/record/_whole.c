/* Which records of a copied ring are whole: what `whole.py` does, a slot once and in one pass. */
#include "_ring.h"

enum { WORDS_A_SLOT = 14 };

typedef struct {
    const Record *slots;
    const uint64_t *seqs; /* as they were before the copy; or NULL */
    uint64_t count, mask;
    int checked;
} Copy;

/* Does slot `place` hold what it was given last, and was it so before the copy, too? */
static inline int is_stable(const Copy *self, uint64_t place) {
    uint64_t seq = self->slots[place].seq, number = seq & ~PAYLOAD_BIT;
    return number && ((number - 1) & self->mask) == place && (!self->seqs || self->seqs[place] == seq);
}

static inline uint64_t payload_slots(const Record *record) {
    switch (record->flags & 3) {
    case FORM_WORDS:
        return ((uint64_t)record->count + WORDS_A_SLOT - 1) / WORDS_A_SLOT;
    case FORM_JSON:
        return ((uint64_t)record->count + SLOT_BYTES - 1) / SLOT_BYTES;
    default:
        return 0;
    }
}

static inline uint64_t hash_of(const Record *slot, uint64_t keep) {
    uint64_t words[8];
    memcpy(words, slot, sizeof(words));
    words[6] &= keep;
    return hash(words, slot->seq);
}

/* The seq of the last slot of the record at `place`; 0 when it is not whole. */
static uint64_t last_of(const Copy *self, uint64_t place) {
    const Record *head = &self->slots[place];
    if (head->seq & PAYLOAD_BIT || !is_stable(self, place))
        return 0;
    uint64_t more = payload_slots(head), sum = self->checked ? hash_of(head, 0xFFFFFFFFull) : 0;
    if (more > self->count / 2)
        return 0;
    for (uint64_t index = 1; index <= more; index++) {
        uint64_t follow = (place + index) & self->mask;
        if (self->slots[follow].seq != ((head->seq + index) | PAYLOAD_BIT) || !is_stable(self, follow))
            return 0;
        if (self->checked)
            sum += hash_of(&self->slots[follow], UINT64_MAX);
    }
    return self->checked && head->sum != (uint32_t)(sum ^ (sum >> 32)) ? 0 : head->seq + more;
}

/* whole(slots, seqs | None, checked, first, last) -> how many */
PyObject *whole(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count) {
    Py_buffer slots = {0}, seqs = {0}, first = {0}, last = {0};
    PyObject *result = NULL;
    if (count != 5) {
        PyErr_SetString(PyExc_TypeError, "whole(slots, seqs | None, checked, first, last)");
        return NULL;
    }
    int checked = PyObject_IsTrue(args[2]);
    if (checked < 0 || PyObject_GetBuffer(args[0], &slots, PyBUF_SIMPLE) < 0 ||
        (args[1] != Py_None && PyObject_GetBuffer(args[1], &seqs, PyBUF_SIMPLE) < 0) ||
        PyObject_GetBuffer(args[3], &first, PyBUF_WRITABLE) < 0 || PyObject_GetBuffer(args[4], &last, PyBUF_WRITABLE) < 0)
        goto done;
    Copy self = {slots.buf, seqs.buf, (uint64_t)slots.len / sizeof(Record), 0, checked};
    self.mask = self.count - 1;
    Py_ssize_t room = 8 * (Py_ssize_t)self.count;
    if (!self.count || self.count & self.mask || first.len < room || last.len < room || (seqs.obj && seqs.len < room)) {
        PyErr_SetString(PyExc_ValueError, "slots must be a power of two, and all else have a number for each");
        goto done;
    }
    Py_ssize_t found = 0;
    Py_BEGIN_ALLOW_THREADS;
    for (uint64_t place = 0; place < self.count; place++) {
        uint64_t end = last_of(&self, place);
        if (end) {
            ((uint64_t *)first.buf)[found] = self.slots[place].seq;
            ((uint64_t *)last.buf)[found++] = end;
        }
    }
    Py_END_ALLOW_THREADS;
    result = PyLong_FromSsize_t(found);
done:
    if (slots.obj)
        PyBuffer_Release(&slots);
    if (seqs.obj)
        PyBuffer_Release(&seqs);
    if (first.obj)
        PyBuffer_Release(&first);
    if (last.obj)
        PyBuffer_Release(&last);
    return result;
}
