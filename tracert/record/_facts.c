/* Folds events into the last facts of pages and rows: the same steps in the same order as facts.py. */
#include "_ring.h"

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
    const uint32_t *use = words + LAUNCH_LEAD;
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
        /* What a prefix hit or an earlier step has computed is committed, unless that step is in flight. */
        if (!lane->transaction)
            lane->frontier = lane->committed = record->e;
        break;
    case TRANSACTION:
        if (record->b == self->begin) {
            lane->frontier = record->c;
            lane->provisional = record->c - lane->committed;
            lane->transaction = record->y + 1;
        } else {
            if (record->b == self->commit)
                lane->committed = record->c;
            /* With a step in flight, what ends may be the transaction before the one that is open. */
            if (lane->transaction == record->y + 1) {
                lane->frontier = lane->committed;
                lane->provisional = lane->transaction = 0;
            } else
                lane->provisional = lane->frontier - lane->committed;
        }
        break;
    }
}

void fold(Writer *self, const Record *record, const uint32_t *words, size_t count) {
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
        if (count >= LAUNCH_LEAD)
            fold_launch(self, record, words);
        break;
    case PUBLISH:
        fold_publish(self, record, words, count);
        break;
    case COPY: case HOST_WRITE: case EXTERNAL_BEGIN: /* the last two without a launch: stream absent, launch 0 */
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
    case LOAD:
        for (size_t at = 0; at + 2 < count; at += 3)
            wrote(self, words[at + 1], words[at + 2], record);
        break;
    default:
        return;
    }
    __atomic_store_n(&self->counters[FACTS_SEQ], record->seq, __ATOMIC_RELEASE);
}
