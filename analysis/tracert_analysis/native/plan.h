/* The plan by which records are read, from Python. */
#ifndef TRACERT_PLAN_H
#define TRACERT_PLAN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "records.h"

/* Says what is wrong as a ValueError; returns 0. */
int wrong(const char *what);

/* Each returns 0, with an error set, for what is no plan; `plan_end` frees what was made. */
int read_plan(Records *records, Tables *tables, PyObject *layouts, PyObject *words);
void plan_end(Records *records);

#endif
