/* JSON Lines into tables. */
#ifndef TRACERT_LINES_H
#define TRACERT_LINES_H

#include "tables.h"
#include "value.h"

typedef struct {
    int64_t bad;       /* lines that are no event */
    int failed;        /* errno of what went wrong */
    const char *error; /* and what that was */
} Outcome;

/* Puts the lines of a file from byte to byte into the tables. Holds a part of the file, never all of it. */
Outcome read_lines(Tables *tables, int fd, int64_t begin, int64_t end);

/* Puts lines that are in memory into the tables. */
Outcome put_lines(Tables *tables, const unsigned char *text, size_t size);

#endif
