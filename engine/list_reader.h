// SPDX-License-Identifier: MIT
/** Reads batches of lists of commands. Pure: any bytes are fine. */
#ifndef ENGINE_LIST_READER_H
#define ENGINE_LIST_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "language.h"

/* Where and why a list is refused. `text` is constant. */
struct list_mistake {
	uint32_t word;
	const char *text;
};

/*
 * A batch in memory that its writer may change meanwhile. Each word of its lists is copied once, in
 * pieces that a processor's cache holds, and used from the copy only.
 */
struct list_batch {
	const struct engine_batch *shared;
	uint32_t size;		      /* words of the slot */
	uint64_t serial;	      /* 0: there is no batch */
	uint32_t at;		      /* words that were copied, from the slot's beginning */
	uint32_t end;		      /* words that are known to be written; at most `size` */
	bool closed;		      /* no more come */
	uint32_t first, count;	      /* words of `words` that were not returned yet */
	uint32_t sure_at, sure_count; /* `at` and `count` before the last batch_next() */
	uint32_t words[ENGINE_LIST_WORDS_MAX];
};

/*
 * Begins with the slot at `shared`, of `bytes` bytes, which must stay mapped until another one is
 * begun. If it has the serial of the last one, reading goes on where it ended. Returns 0;
 * -ESTALE: the memory was taken back; or -EINVAL: it is not a batch.
 */
int batch_begin(struct list_batch *batch, const void *shared, size_t bytes,
		struct list_mistake *mistake);

/*
 * The next list, not checked yet but for its size and magic. Returns its words; 0: there is none
 * now; -EINVAL: what comes cannot be read, and the batch is of no more use. `*list` is valid until
 * the next call.
 */
int batch_next(struct list_batch *batch, const uint32_t **list, struct list_mistake *mistake);

/* Whether it has its memory still: what is taken back is emptied, from its beginning on. */
static inline bool batch_is_there(const struct list_batch *batch) {
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was copied, before this look */
	return __atomic_load_n(&batch->shared->magic, __ATOMIC_RELAXED) != 0;
}

/*
 * The memory was another's while the last batch_next() copied it, which is to be done again: what
 * was copied before stays.
 */
void batch_undo(struct list_batch *batch);

/* Whether batch_next() would look at something new: the writer went on. */
static inline bool batch_has_news(const struct list_batch *batch) {
	uint32_t end = __atomic_load_n(&batch->shared->end, __ATOMIC_ACQUIRE);
	return end != (batch->end | (batch->closed ? ENGINE_CLOSED : 0));
}

/* How many words were written that batch_next() knows nothing of: very many, if it was closed. */
static inline uint32_t batch_ahead(const struct list_batch *batch) {
	uint32_t end = __atomic_load_n(&batch->shared->end, __ATOMIC_RELAXED);
	return (end & ENGINE_CLOSED) != 0 ? UINT32_MAX : end - batch->end;
}

/* Whether more comes, as far as is known, only after a new look at what is shared. */
static inline bool batch_is_read(const struct list_batch *batch) {
	return batch->count == 0 && batch->at == batch->end && !batch->closed;
}

/* Whether all of it was returned, and no more comes. */
static inline bool batch_is_over(const struct list_batch *batch) {
	return batch->closed && batch->at == batch->end && batch->count == 0;
}

/* The fence that the writer sleeps for, or 0. */
static inline uint64_t batch_wanted(const struct list_batch *batch) {
	return __atomic_load_n(&batch->shared->wanted, __ATOMIC_RELAXED);
}

/* Checks all commands of a list. Returns 0; -EINVAL: nothing of it may be used. */
int list_check(const uint32_t *words, uint32_t count, struct list_mistake *mistake);

/*
 * Goes over the commands of a list that was checked. Begin with `at` = 0. Returns the next command
 * that this version knows, or NULL at the end.
 */
const struct engine_head *list_next(const uint32_t *words, uint32_t count, uint32_t *at);

/* How many elements (points, rectangles …) of that size stand behind the command's own fields. */
#define list_elements(command, array)                                                              \
	(((size_t)((command)->head.words * 4u) - sizeof(*(command))) / sizeof((command)->array[0]))

static inline uint64_t list_fence(const uint32_t *words) {
	const struct engine_list *list = (const struct engine_list *)words;
	return (uint64_t)list->fence_high << 32 | list->fence_low;
}

#endif
