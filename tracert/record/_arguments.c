/* Python's numbers, texts and sequences as the bits of slots and the words of payload. */
#include "_ring.h"

void words_start(Words *words) {
    words->data = words->few;
    words->used = 0;
    words->room = sizeof(words->few) / sizeof(words->few[0]);
}

void words_end(Words *words) {
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

/* A number as 64 bits; None and negative numbers are absent: all bits set. */
int wide(PyObject *object, uint64_t *out) {
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

int narrow_slowly(PyObject *object, uint32_t *out) {
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

int flatten(Writer *self, PyObject *part, Words *words, int depth) {
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

/* (page, life) pairs out of two sequences. */
int zip_pages(PyObject *pages, PyObject *lives, Words *words) {
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
