// SPDX-License-Identifier: MIT
#include "input_sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame_writer.h"
#include "input_log.h"

#define MS_NS 1000000ull

struct input_sender {
	const struct input_sender_events *events;
	void *data;
	struct frame_writer *writer;
	struct input_log log;
	char keymap[INPUT_KEYMAP_MAX];
	uint32_t keymaps;		   /* that there were */
	uint32_t slot_keymap[INPUT_SLOTS]; /* which keymap a slot has: head.keymap */
	uint64_t emptied;		   /* of the memory, when they were written */
};

/* --- sending ---------------------------------------------------------------------------------- */

static void handle_write(void *data, void *memory, uint32_t slot, uint64_t emptied) {
	struct input_sender *sender = data;
	const struct input_head *head = &sender->log.head;
	if (frame_writer_readers(sender->writer) == 0) {
		input_log_forget(&sender->log); /* a later reader must not play old events */
	}
	if (sender->emptied != emptied) {
		sender->emptied = emptied;
		memset(sender->slot_keymap, 0, sizeof(sender->slot_keymap));
	}
	if (sender->slot_keymap[slot] != head->keymap) {
		memcpy((uint8_t *)memory + INPUT_KEYMAP_OFFSET, sender->keymap, head->keymap_size);
		sender->slot_keymap[slot] = head->keymap;
	}
	input_log_write(&sender->log, memory);
}

void input_sender_flush(struct input_sender *sender) {
	frame_writer_flush(sender->writer);
}

uint64_t input_sender_deadline(const struct input_sender *sender) {
	uint64_t deadline = frame_writer_deadline(sender->writer);
	bool beats = frame_writer_readers(sender->writer) > 0 &&
			!input_holds_nothing(&sender->log.head.held);
	uint64_t beat = sender->log.head.lease_ms * MS_NS / INPUT_BEATS;
	if (deadline != UINT64_MAX || !beats) {
		return deadline;
	}
	return frame_writer_sent(sender->writer) + beat;
}

/* Sends what is new, or a sign of life if one is due. */
void input_sender_dispatch(struct input_sender *sender) {
	if (gid_clock_now() >= input_sender_deadline(sender)) {
		frame_writer_mark(sender->writer);
	}
	input_sender_flush(sender);
}

static void sender_mark(struct input_sender *sender, bool changed) {
	if (changed) {
		frame_writer_mark(sender->writer);
	}
}

/* --- what there is to say --------------------------------------------------------------------- */

void input_sender_add(struct input_sender *sender, const struct input_record *event) {
	sender_mark(sender, input_log_add(&sender->log, event));
}

void input_sender_release(struct input_sender *sender, const struct input_held *these) {
	sender_mark(sender, input_log_release(&sender->log, these, gid_clock_now()));
	input_sender_flush(sender);
}

void input_sender_release_all(struct input_sender *sender) {
	sender_mark(sender, input_log_release_all(&sender->log, gid_clock_now()));
	input_sender_flush(sender);
}

void input_sender_set_devices(struct input_sender *sender, uint32_t devices) {
	sender_mark(sender, sender->log.head.devices != devices);
	sender->log.head.devices = devices;
}

void input_sender_set_size(
		struct input_sender *sender, uint32_t width, uint32_t height, uint32_t scale) {
	struct input_head *head = &sender->log.head;
	sender_mark(sender, head->width != width || head->height != height || head->scale != scale);
	head->width = width;
	head->height = height;
	head->scale = scale;
}

void input_sender_close(struct input_sender *sender) {
	sender->log.head.closings++;
	sender_mark(sender, true);
}

int input_sender_set_keymap(struct input_sender *sender, const char *text) {
	size_t size = text != NULL ? strlen(text) + 1 : 0;
	struct input_head *head = &sender->log.head;
	int error = size > INPUT_KEYMAP_MAX ? -E2BIG : 0;
	if (error != 0 || size == 0) {
		head->keymap = head->keymap_size = 0;
		return error;
	}
	memcpy(sender->keymap, text, size);
	head->keymap_size = (uint32_t)size;
	sender->keymaps++;
	head->keymap = sender->keymaps;
	sender_mark(sender, true);
	return 0;
}

uint32_t input_sender_readers(const struct input_sender *sender) {
	return frame_writer_readers(sender->writer);
}

/* --- life ------------------------------------------------------------------------------------- */

static void handle_published(void *data, int error) {
	const struct input_sender *sender = data;
	sender->events->published(sender->data, error);
}

static void handle_readers(void *data, uint32_t readers) {
	const struct input_sender *sender = data;
	sender->events->readers(sender->data, readers);
}

static const struct frame_writer_events writer_events = {
		.published = handle_published, .readers = handle_readers, .write = handle_write};

int input_sender_create(struct gid_domain *domain, const char *stream, uint32_t lease_ms,
		const struct input_sender_events *events, void *data,
		struct input_sender **created) {
	if (gid_domain_sealed_since(domain) != 0) {
		return -ESHUTDOWN; /* gidd would refuse its slab */
	}
	struct input_sender *sender = calloc(1, sizeof(*sender));
	if (sender == NULL) {
		return -ENOMEM;
	}
	sender->events = events;
	sender->data = data;
	input_log_init(&sender->log, lease_ms);
	int error = frame_writer_create(
			domain, stream, &input_form, &writer_events, sender, &sender->writer);
	if (error != 0) {
		free(sender);
		return error;
	}
	*created = sender;
	return 0;
}

void input_sender_destroy(struct input_sender *sender) {
	if (sender != NULL) {
		frame_writer_destroy(sender->writer);
		free(sender);
	}
}
