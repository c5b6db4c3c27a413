// SPDX-License-Identifier: MIT
/* Lists of commands: what is read, what is refused and where. */
#include "list_reader.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static uint32_t shared[512], words[ENGINE_LIST_WORDS_MAX];

/* A list of `count` words with a valid header. */
static struct engine_list *begin(uint32_t count) {
	memset(shared, 0, sizeof(shared));
	struct engine_list *list = (void *)shared;
	*list = (struct engine_list){.magic = ENGINE_MAGIC,
			.version = ENGINE_VERSION,
			.words = count,
			.fence_low = 7,
			.fence_high = 1};
	return list;
}

static int read_list(struct list_mistake *mistake) {
	int count = list_copy(words, shared, sizeof(shared), mistake);
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
	begin(8);
	tap_ok(read_list(&mistake) == 0 && list_fence(words) == 0x100000007,
			"an empty list is a list");
	begin(8)->magic++;
	tap_ok(refused_at(0), "another magic is refused");
	begin(8)->version = 2;
	tap_ok(refused_at(1), "a version from the future is refused");
	begin(7);
	tap_ok(refused_at(2), "a list that is shorter than its header is refused");
	begin(513);
	tap_ok(refused_at(2), "a list that is longer than its slot is refused");
	begin(ENGINE_LIST_WORDS_MAX + 1);
	tap_ok(refused_at(2), "a list that is too long is refused");
	begin(8)->reserved1[1] = 1;
	tap_ok(refused_at(3), "a reserved field is refused");
	tap_ok(list_copy(words, shared, 31, &mistake) == -EINVAL,
			"a slot without room for a header is refused");
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
	};
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		for (uint16_t size = 1; size < 24; size++) {
			begin(8 + 24);
			command(8, commands[i].opcode, size);
			command(8 + size, ENGINE_OPTIONAL, (uint16_t)(24 - size));
			if (commands[i].opcode == ENGINE_CANVAS && size > 1) {
				shared[9] = 0x00010001;
			}
			if (commands[i].opcode == ENGINE_LINES) {
				shared[10] = 16;
			}
			uint16_t more = (uint16_t)(size - commands[i].fields);
			bool good = size >= commands[i].fields &&
					(commands[i].element == 0 ? more == 0
								  : more % commands[i].element ==
											0);
			struct list_mistake mistake = {0};
			int ret = read_list(&mistake);
			if (!good ? ret != -EINVAL || mistake.word != 8 : ret != 0) {
				tap_ok(false, "command %u of %u words: %s", commands[i].opcode,
						size, good ? mistake.text : "taken");
				return;
			}
		}
	}
	tap_ok(true, "commands have the sizes of the document and no other ones");
	begin(8 + 4);
	command(8, ENGINE_CLIP, 5);
	tap_ok(refused_at(8), "a command that goes on behind the list is refused");
	begin(8 + 1);
	command(8, ENGINE_CLIP, 0);
	tap_ok(refused_at(8), "a command without words is refused");
}

static void test_fields(void) {
	struct engine_canvas *canvas;
	begin(12);
	canvas = (void *)command(8, ENGINE_CANVAS, 4);
	canvas->width = 640;
	tap_ok(refused_at(8), "a canvas without a height is refused");
	canvas->height = 16385;
	tap_ok(refused_at(8), "a canvas that is too high is refused");
	begin(11);
	((struct engine_fill *)(void *)command(8, ENGINE_FILL, 3))->op = 13;
	tap_ok(refused_at(8), "an unknown operator is refused");
	begin(18);
	struct engine_layer *layer = (void *)command(8, ENGINE_LAYER, 10);
	layer->transform = 8;
	tap_ok(refused_at(8), "an unknown transform is refused");
	layer->transform = 7;
	layer->width = 3;
	tap_ok(refused_at(8), "a width without a height is refused");
	layer->height = 3;
	struct list_mistake mistake;
	tap_ok(read_list(&mistake) == 0, "and with a height taken");
	layer->flags = 2;
	tap_ok(refused_at(8), "an unknown flag of a layer is refused");
	layer->flags = ENGINE_LAYER_STRAIGHT;
	tap_ok(read_list(&mistake) == 0, "and a known one taken");
	layer->reserved1 = 1;
	tap_ok(refused_at(8), "a reserved field of a command is refused");
	begin(11);
	struct engine_lines *lines = (void *)command(8, ENGINE_LINES, 3);
	tap_ok(refused_at(8), "lines without a width are refused");
	lines->width = ENGINE_LINE_WIDTH_MAX + 1;
	tap_ok(refused_at(8), "lines that are too wide are refused");
	begin(14);
	((struct engine_present *)(void *)command(8, ENGINE_PRESENT, 6))->flags = 2;
	tap_ok(refused_at(8), "an unknown flag is refused");
}

static void test_many(void) {
	static uint32_t large[8 + 10 * (ENGINE_LAYERS_MAX + 1)];
	struct list_mistake mistake = {0};
	for (uint32_t i = 0; i <= ENGINE_LAYERS_MAX; i++) {
		*(struct engine_head *)(void *)&large[8 + 10 * i] =
				(struct engine_head){ENGINE_LAYER, 10};
	}
	tap_ok(list_check(large, 8 + 10 * ENGINE_LAYERS_MAX, &mistake) == 0,
			"a list may have 64 layers");
	tap_ok(list_check(large, 8 + 10 * (ENGINE_LAYERS_MAX + 1), &mistake) == -EINVAL &&
					mistake.word == 8 + 10 * ENGINE_LAYERS_MAX,
			"but not 65");
}

static void test_future(void) {
	uint32_t at = 0;
	struct list_mistake mistake;
	begin(8 + 3 + 1 + 2);
	command(8, 0x8123, 3);
	command(11, ENGINE_CLIP, 1);
	command(12, ENGINE_POINTS, 2);
	tap_ok(read_list(&mistake) == 0, "an unknown command that may be skipped is taken");
	const struct engine_head *first = list_next(words, 14, &at);
	const struct engine_head *second = list_next(words, 14, &at);
	tap_ok(first != NULL && first->opcode == ENGINE_CLIP && second != NULL &&
					second->opcode == ENGINE_POINTS &&
					list_next(words, 14, &at) == NULL,
			"and skipped");
	begin(9);
	command(8, 0x123, 1);
	tap_ok(refused_at(8), "one that may not be skipped is refused");
}

int main(void) {
	test_header();
	test_sizes();
	test_fields();
	test_many();
	test_future();
	return tap_finish();
}
