// SPDX-License-Identifier: MIT
/* Lists of commands: what is read, what is refused and where. */
#include "list_reader.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

#define BATCH 16u /* words of a batch's header */
#define LIST 4u	  /* words of a list's header */

static _Alignas(uint64_t) uint32_t slot[40000];
static uint32_t *const shared = slot + BATCH; /* its first list */
static struct list_batch batch;

static struct engine_batch *begin_batch(uint32_t end) {
	static uint64_t serial;
	memset(slot, 0, sizeof(slot));
	struct engine_batch *header = (void *)slot;
	*header = (struct engine_batch){.magic = ENGINE_BATCH_MAGIC,
			.version = ENGINE_VERSION,
			.serial = serial += 1 << 20,
			.end = end};
	return header;
}

/* A list of `count` words with a valid header. */
static struct engine_list *put_list(uint32_t at, uint32_t count, uint32_t fence) {
	struct engine_list *list = (void *)&slot[at];
	*list = (struct engine_list){
			.magic = ENGINE_MAGIC, .words = count, .fence_low = fence, .fence_high = 1};
	return list;
}

/* Alone in its batch. */
static struct engine_list *begin(uint32_t count) {
	begin_batch(BATCH + count);
	return put_list(BATCH, count, 7);
}

static int next(const uint32_t **words, struct list_mistake *mistake) {
	return batch_next(&batch, words, mistake);
}

/* The same, with the memory emptied meanwhile, and then there again, as where it moves. */
static int next_of_two(const uint32_t **words, struct list_mistake *mistake) {
	static uint32_t kept[sizeof(slot) / 4];
	const uint32_t at = batch.at;
	memcpy(kept, slot, sizeof(slot));
	memset(slot, 0, sizeof(slot));
	int count = next(words, mistake);
	const bool is_there = batch_is_there(&batch);
	if (count < 0 || batch.at != at) {
		batch_undo(&batch);
		count = is_there || batch_begin(&batch, slot, sizeof(slot), mistake) != -ESTALE
				? -EPROTO
				: 0;
	}
	memcpy(slot, kept, sizeof(slot));
	if (count == 0) {
		count = batch_begin(&batch, slot, sizeof(slot), mistake);
	}
	return count == 0 ? next(words, mistake) : count;
}

static int read_list(struct list_mistake *mistake) {
	const uint32_t *words;
	int count = batch_begin(&batch, slot, sizeof(slot), mistake);
	((struct engine_batch *)(void *)slot)->serial++; /* the next one is another */
	count = count < 0 ? count : next(&words, mistake);
	return count < 0 ? count : list_check(words, (uint32_t)count, mistake);
}

/* Whether the list is refused at this word. */
static bool refused_at(uint32_t word) {
	struct list_mistake mistake = {0};
	return read_list(&mistake) == -EINVAL && mistake.word == word && mistake.text != NULL;
}

static struct engine_head *command(uint32_t at, uint16_t opcode, uint16_t size) {
	struct engine_head *head = (void *)&shared[at];
	*head = (struct engine_head){opcode, size};
	return head;
}

static void test_header(void) {
	struct list_mistake mistake;
	const uint32_t *words;
	begin(LIST);
	tap_ok(batch_begin(&batch, slot, sizeof(slot), &mistake) == 0 &&
					next(&words, &mistake) == LIST &&
					list_check(words, LIST, &mistake) == 0 &&
					list_fence(words) == 0x100000007 &&
					next(&words, &mistake) == 0,
			"an empty list is a list");
	begin(LIST)->magic++;
	tap_ok(refused_at(0), "another magic is refused");
	begin(LIST)->words = LIST - 1;
	tap_ok(refused_at(1), "a list that is shorter than its header is refused");
	begin(LIST)->words = ENGINE_LIST_WORDS_MAX + 1;
	tap_ok(refused_at(1), "a list that is too long is refused");
	begin(LIST)->words = LIST + 1;
	tap_ok(refused_at(BATCH + LIST), "a list that is longer than its batch is refused");
	begin_batch(BATCH)->magic++;
	tap_ok(refused_at(0), "a slot without a batch is refused");
	begin_batch(BATCH)->version = 1;
	tap_ok(refused_at(1), "another version is refused");
	begin_batch(BATCH)->reserved1[7] = 1;
	tap_ok(refused_at(3), "a reserved field is refused");
	begin_batch(BATCH)->serial = 0;
	tap_ok(batch_begin(&batch, slot, sizeof(slot), &mistake) == -EINVAL && mistake.word == 2,
			"a batch without a serial is refused");
	tap_ok(batch_begin(&batch, slot, 63, &mistake) == -EINVAL,
			"a slot without room for a header is refused");
	begin(LIST);
	memmove((char *)slot + 4, slot, sizeof(slot) - 4);
	tap_ok(batch_begin(&batch, (char *)slot + 4, sizeof(slot) - 4, &mistake) == -EINVAL,
			"a slot whose numbers are not where a processor loads them whole is refused");
}

/* Lists that are appended while others are read. */
static void test_batches(void) {
	struct list_mistake mistake = {0};
	const uint32_t *words;
	struct engine_batch *header = begin_batch(BATCH + 30);
	put_list(BATCH, 10, 1);
	put_list(BATCH + 10, 20, 2);
	batch_begin(&batch, slot, sizeof(slot), &mistake);
	tap_ok(next(&words, &mistake) == 10 && list_fence(words) == 0x100000001 &&
					next(&words, &mistake) == 20 &&
					next(&words, &mistake) == 0 && !batch_has_news(&batch),
			"two lists of a batch come one after the other");
	put_list(BATCH + 30, 5, 3);
	header->end += 5;
	tap_ok(batch_has_news(&batch) && next(&words, &mistake) == 5 && !batch_is_over(&batch),
			"and one that is added later");
	put_list(BATCH + 35, 6, 4);
	header->end += 6;
	tap_ok(batch_begin(&batch, slot, sizeof(slot), &mistake) == 0 &&
					next(&words, &mistake) == 6 && next(&words, &mistake) == 0,
			"a batch that comes again goes on where it was");
	header->end |= ENGINE_CLOSED;
	tap_ok(batch_has_news(&batch) && next(&words, &mistake) == 0 && batch_is_over(&batch),
			"until it is closed");
	header->serial += 1000;
	header->end = BATCH + 10;
	tap_ok(batch_begin(&batch, slot, sizeof(slot), &mistake) == 0 &&
					next(&words, &mistake) == 10 && !batch_is_over(&batch),
			"another batch in the slot is read from its beginning");
	header->end = BATCH + 5;
	tap_ok(next(&words, &mistake) == -EINVAL, "an end that goes back is refused");
	begin_batch(sizeof(slot) / 4 + 1);
	tap_ok(refused_at(BATCH), "and one behind the slot");
	begin_batch(BATCH + 1);
	tap_ok(refused_at(BATCH), "and one within a list's header");

	/* More than what is copied at once, of which each word counts. */
	uint32_t random = 1, at = BATCH, lists = 0, got = 0;
	header = begin_batch(0);
	while (at + 9000 < sizeof(slot) / 4) {
		random = random * 1664525 + 1013904223;
		uint32_t count = LIST + (random >> 8) % (lists % 7 == 0 ? 9000 : 300);
		put_list(at, count, ++lists);
		for (uint32_t i = LIST; i < count; i++) {
			slot[at + i] = at + i;
		}
		at += count;
	}
	header->end = at;
	batch_begin(&batch, slot, sizeof(slot), &mistake);
	bool exact = true;
	uint32_t from = BATCH;
	for (int count; (count = next_of_two(&words, &mistake)) > 0; got++) {
		exact &= list_fence(words) == 0x100000001ull + got;
		for (uint32_t i = LIST; i < (uint32_t)count; i++) {
			exact &= words[i] == from + i;
		}
		from += (uint32_t)count;
	}
	tap_ok(exact && got == lists && from == at,
			"%u lists of any length come as they are, also from memory that moves",
			got);
}

static void test_sizes(void) {
	static const struct {
		uint16_t opcode, fields, element;
	} commands[] = {
			{ENGINE_CANVAS, 4, 0},
			{ENGINE_CLIP, 1, 2},
			{ENGINE_FILL, 3, 2},
			{ENGINE_POINTS, 2, 1},
			{ENGINE_LINES, 3, 1},
			{ENGINE_TRIANGLES, 2, 3},
			{ENGINE_LAYER, 10, 0},
			{ENGINE_MASKS, 4, 3},
			{ENGINE_PRESENT, 6, 0},
			{ENGINE_POLYGON, 3, 1},
			{ENGINE_EXPECT, 3, 0},
	};
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		for (uint16_t size = 1; size < 24; size++) {
			begin(LIST + 24);
			command(LIST, commands[i].opcode, size);
			command(LIST + size, ENGINE_OPTIONAL, (uint16_t)(24 - size));
			if (commands[i].opcode == ENGINE_CANVAS && size > 1) {
				shared[LIST + 1] = 0x00010001;
			}
			if (commands[i].opcode == ENGINE_LINES) {
				shared[LIST + 2] = 16;
			}
			uint16_t more = (uint16_t)(size - commands[i].fields);
			bool good = size >= commands[i].fields &&
					(commands[i].element == 0 ? more == 0
								  : more % commands[i].element ==
											0);
			struct list_mistake mistake = {0};
			int ret = read_list(&mistake);
			if (!good ? ret != -EINVAL || mistake.word != LIST : ret != 0) {
				tap_ok(false, "command %u of %u words: %s", commands[i].opcode,
						size, good ? mistake.text : "taken");
				return;
			}
		}
	}
	tap_ok(true, "commands have the sizes of the document and no other ones");
	begin(LIST + 4);
	command(LIST, ENGINE_CLIP, 5);
	tap_ok(refused_at(LIST), "a command that goes on behind the list is refused");
	begin(LIST + 1);
	command(LIST, ENGINE_CLIP, 0);
	tap_ok(refused_at(LIST), "a command without words is refused");
}

static void test_fields(void) {
	struct engine_canvas *canvas;
	begin(LIST + 4);
	canvas = (void *)command(LIST, ENGINE_CANVAS, 4);
	canvas->width = 640;
	tap_ok(refused_at(LIST), "a canvas without a height is refused");
	canvas->height = 16385;
	tap_ok(refused_at(LIST), "a canvas that is too high is refused");
	begin(LIST + 3);
	((struct engine_fill *)(void *)command(LIST, ENGINE_FILL, 3))->op = 13;
	tap_ok(refused_at(LIST), "an unknown operator is refused");
	begin(LIST + 10);
	struct engine_layer *layer = (void *)command(LIST, ENGINE_LAYER, 10);
	layer->transform = 8;
	tap_ok(refused_at(LIST), "an unknown transform is refused");
	layer->transform = 7;
	layer->width = 3;
	tap_ok(refused_at(LIST), "a width without a height is refused");
	layer->height = 3;
	struct list_mistake mistake;
	tap_ok(read_list(&mistake) == 0, "and with a height taken");
	layer->flags = 2;
	tap_ok(refused_at(LIST), "an unknown flag of a layer is refused");
	layer->flags = ENGINE_LAYER_STRAIGHT;
	tap_ok(read_list(&mistake) == 0, "and a known one taken");
	layer->reserved1 = 1;
	tap_ok(refused_at(LIST), "a reserved field of a command is refused");
	begin(LIST + 3);
	struct engine_lines *lines = (void *)command(LIST, ENGINE_LINES, 3);
	tap_ok(refused_at(LIST), "lines without a width are refused");
	lines->width = ENGINE_LINE_WIDTH_MAX + 1;
	tap_ok(refused_at(LIST), "lines that are too wide are refused");
	begin(LIST + 6);
	((struct engine_present *)(void *)command(LIST, ENGINE_PRESENT, 6))->flags = 2;
	tap_ok(refused_at(LIST), "an unknown flag is refused");
}

static void test_polygons(void) {
	begin(LIST + 3);
	((struct engine_polygon *)(void *)command(LIST, ENGINE_POLYGON, 3))->rule = 2;
	tap_ok(refused_at(LIST), "an unknown rule is refused");
	begin(LIST + 3 + ENGINE_POLYGON_MAX + 1);
	command(LIST, ENGINE_POLYGON, 3 + ENGINE_POLYGON_MAX + 1);
	tap_ok(refused_at(LIST), "a polygon of too many points is refused");
}

static void test_many(void) {
	static uint32_t large[LIST + 10 * (ENGINE_LAYERS_MAX + 1)];
	struct list_mistake mistake = {0};
	for (uint32_t i = 0; i <= ENGINE_LAYERS_MAX; i++) {
		*(struct engine_head *)(void *)&large[LIST + 10 * i] =
				(struct engine_head){ENGINE_LAYER, 10};
	}
	tap_ok(list_check(large, LIST + 10 * ENGINE_LAYERS_MAX, &mistake) == 0,
			"a list may have 64 layers");
	tap_ok(list_check(large, LIST + 10 * (ENGINE_LAYERS_MAX + 1), &mistake) == -EINVAL &&
					mistake.word == LIST + 10 * ENGINE_LAYERS_MAX,
			"but not 65");
}

static void test_future(void) {
	uint32_t at = 0;
	const uint32_t count = LIST + 3 + 1 + 2;
	struct list_mistake mistake;
	begin(count);
	command(LIST, 0x8123, 3);
	command(LIST + 3, ENGINE_CLIP, 1);
	command(LIST + 4, ENGINE_POINTS, 2);
	tap_ok(read_list(&mistake) == 0, "an unknown command that may be skipped is taken");
	const struct engine_head *first = list_next(shared, count, &at);
	const struct engine_head *second = list_next(shared, count, &at);
	tap_ok(first != NULL && first->opcode == ENGINE_CLIP && second != NULL &&
					second->opcode == ENGINE_POINTS &&
					list_next(shared, count, &at) == NULL,
			"and skipped");
	at = 0;
	begin(LIST + 3);
	command(LIST, ENGINE_EXPECT, 3);
	first = list_next(shared, LIST + 3, &at);
	tap_ok(read_list(&mistake) == 0 && first != NULL && first->opcode == ENGINE_EXPECT,
			"one of that kind that is known is not skipped");
	begin(LIST + 1);
	command(LIST, 0x123, 1);
	tap_ok(refused_at(LIST), "one that may not be skipped is refused");
}

int main(void) {
	test_header();
	test_batches();
	test_sizes();
	test_fields();
	test_polygons();
	test_many();
	test_future();
	return tap_finish();
}
