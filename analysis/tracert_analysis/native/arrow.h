/* Arrow's structures, as its specification lays them out (arrow.apache.org/docs/format/CDataInterface.html). */
#ifndef TRACERT_ARROW_H
#define TRACERT_ARROW_H

#include "column.h"

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* arrow.c: each returns 0 when there is no memory; `release` frees what was made until then. */
int export_schema(const Column *column, struct ArrowSchema *schema);
int export_column(Column *column, struct ArrowArray *array);

#endif
