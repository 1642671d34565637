/* JSON values into columns. */
#ifndef TRACERT_VALUE_H
#define TRACERT_VALUE_H

#include "column.h"
#include "json.h"

/* Puts the value behind the column's last. Returns 0 for one that is not the column's: then `cut` takes it back. */
int put_value(Column *column, Cursor *cursor, int depth);

#endif
