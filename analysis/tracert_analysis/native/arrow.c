#include "arrow.h"

#include <stdlib.h>
#include <string.h>

enum { NULLABLE = 2 };
static const char *const FORMATS[TYPES] = {"L", "I", "S", "l", "i", "b", "u", "u", "+l", "+s"};

static void release_array(struct ArrowArray *array) {
    for (int64_t index = 0; index < array->n_buffers; index++)
        free((void *)array->buffers[index]);
    for (int64_t index = 0; index < array->n_children; index++) {
        if (array->children[index]->release)
            array->children[index]->release(array->children[index]);
        free(array->children[index]);
    }
    free(array->buffers);
    free(array->children);
    array->release = NULL;
}

static unsigned char *hand_over(Buffer *buffer) {
    unsigned char *data = buffer->data;
    *buffer = (Buffer){0};
    return data;
}

/* A column's values as an array, which owns their memory from here on; the column is empty again. */
int export_column(Column *column, struct ArrowArray *array) {
    int is_root_like = column->type == STRUCT;
    *array = (struct ArrowArray){.length = column->length, .null_count = column->nulls, .release = release_array};
    array->buffers = calloc(3, sizeof(void *));
    array->children = calloc((size_t)column->children + 1, sizeof(void *));
    if (!array->buffers || !array->children)
        return 0;
    if ((is_text(column->type) || column->type == LIST) && !ensure(&column->offsets, 4))
        return 0;
    if (!is_root_like && !ensure(&column->data, 1))
        return 0;
    array->buffers[array->n_buffers++] = column->nulls ? hand_over(&column->valid) : NULL;
    if (is_text(column->type) || column->type == LIST)
        array->buffers[array->n_buffers++] = hand_over(&column->offsets);
    if (!is_root_like && column->type != LIST)
        array->buffers[array->n_buffers++] = hand_over(&column->data);
    for (int index = 0; index < column->children; index++) {
        struct ArrowArray *child = calloc(1, sizeof(*child));
        if (!child)
            return 0;
        array->children[array->n_children++] = child;
        if (!export_column(column->child[index], child))
            return 0;
    }
    free(column->valid.data);
    column->valid = (Buffer){0};
    column->length = column->nulls = 0;
    column->text_used = 0;
    return 1;
}

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t index = 0; index < schema->n_children; index++) {
        if (schema->children[index]->release)
            schema->children[index]->release(schema->children[index]);
        free(schema->children[index]);
    }
    free(schema->children);
    free((void *)schema->name);
    schema->release = NULL;
}

int export_schema(const Column *column, struct ArrowSchema *schema) {
    *schema = (struct ArrowSchema){.format = FORMATS[column->type], .flags = NULLABLE, .release = release_schema};
    schema->name = strdup(column->name);
    schema->children = calloc((size_t)column->children + 1, sizeof(void *));
    if (!schema->name || !schema->children)
        return 0;
    for (int index = 0; index < column->children; index++) {
        schema->children[index] = calloc(1, sizeof(struct ArrowSchema));
        if (!schema->children[index])
            return 0;
        schema->n_children++;
        if (!export_schema(column->child[index], schema->children[index]))
            return 0;
    }
    return 1;
}
