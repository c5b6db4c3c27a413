// SPDX-License-Identifier: MIT
#include "input_sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input_log.h"

/* What a few readers hold, one that is kept for who comes, and one to write. */
#define SLOTS 16u
#define CREDIT 4u
#define MS_NS 1000000ull
#define RETRY_NS (4 * MS_NS)

struct input_sender {
	const struct input_sender_events *events;
	void *data;
	struct gid_slab *slab;
	struct gid_producer *producer;
	struct input_log log;
	char keymap[INPUT_KEYMAP_MAX];
	uint32_t keymaps;	     /* that there were */
	uint32_t slot_keymap[SLOTS]; /* which keymap a slot has: head.keymap */
	uint64_t emptied;	     /* of the slab, when they were written */
	bool published;
	bool dirty;		/* there is something new */
	uint64_t sent, retried; /* when a frame was sent, or could not be */
};

/* --- sending ---------------------------------------------------------------------------------- */

static int sender_take_slot(struct input_sender *sender) {
	gid_producer_dispatch(sender->producer);
	int slot = gid_slab_take(sender->slab);
	if (slot < 0 && gid_producer_reclaim(sender->producer, false) > 0) {
		slot = gid_slab_take(sender->slab);
	}
	if (slot < 0) {
		gid_producer_lacks_memory(sender->producer);
	}
	return slot;
}

static void sender_write(struct input_sender *sender, uint32_t slot) {
	uint8_t *memory = gid_slab_data(sender->slab, slot);
	const struct input_head *head = &sender->log.head;
	if (gid_producer_consumers(sender->producer) == 0) {
		input_log_forget(&sender->log); /* who comes later plays nothing of it */
	}
	if (sender->emptied != gid_slab_emptied(sender->slab)) {
		sender->emptied = gid_slab_emptied(sender->slab);
		memset(sender->slot_keymap, 0, sizeof(sender->slot_keymap));
	}
	if (sender->slot_keymap[slot] != head->keymap) {
		memcpy(memory + INPUT_KEYMAP_OFFSET, sender->keymap, head->keymap_size);
		sender->slot_keymap[slot] = head->keymap;
	}
	input_log_write(&sender->log, memory);
}

/* Returns whether it is done, with or without readers. */
static bool sender_send(struct input_sender *sender) {
	int slot = sender_take_slot(sender);
	if (slot < 0) {
		return false;
	}
	sender_write(sender, (uint32_t)slot);
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(sender->slab, (uint32_t)slot);
	frame.capture_time = gid_clock_now();
	int ret = gid_producer_send(sender->producer, &frame);
	gid_slab_give(sender->slab, (uint32_t)slot);
	sender->sent = frame.capture_time;
	return ret != -EINPROGRESS;
}

void input_sender_flush(struct input_sender *sender) {
	if (sender->published && sender->dirty) {
		sender->dirty = !sender_send(sender);
		sender->retried = gid_clock_now();
	}
}

uint64_t input_sender_deadline(const struct input_sender *sender) {
	if (!sender->published) {
		return UINT64_MAX;
	}
	if (sender->dirty) {
		return sender->retried + RETRY_NS;
	}
	bool beats = gid_producer_consumers(sender->producer) > 0 &&
			!input_holds_nothing(&sender->log.head.held);
	uint64_t beat = sender->log.head.lease_ms * MS_NS / INPUT_BEATS;
	return beats ? sender->sent + beat : UINT64_MAX;
}

void input_sender_dispatch(struct input_sender *sender) {
	if (gid_clock_now() >= input_sender_deadline(sender)) {
		sender->dirty = true; /* or a sign of life */
	}
	input_sender_flush(sender);
}

/* --- what there is to say --------------------------------------------------------------------- */

void input_sender_add(struct input_sender *sender, const struct input_record *event) {
	sender->dirty |= input_log_add(&sender->log, event);
}

void input_sender_release_all(struct input_sender *sender) {
	sender->dirty |= input_log_release_all(&sender->log, gid_clock_now());
	input_sender_flush(sender);
}

void input_sender_set_devices(struct input_sender *sender, uint32_t devices) {
	sender->dirty |= sender->log.head.devices != devices;
	sender->log.head.devices = devices;
}

void input_sender_set_size(struct input_sender *sender, uint32_t width, uint32_t height) {
	struct input_head *head = &sender->log.head;
	sender->dirty |= head->width != width || head->height != height;
	head->width = width;
	head->height = height;
}

void input_sender_close(struct input_sender *sender) {
	sender->log.head.closings++;
	sender->dirty = true;
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
	sender->dirty = true;
	return 0;
}

uint32_t input_sender_readers(const struct input_sender *sender) {
	return gid_producer_consumers(sender->producer);
}

/* --- life ------------------------------------------------------------------------------------- */

/* Who subscribes later finds a first frame, with which it begins. */
static void handle_published(void *data, int error) {
	struct input_sender *sender = data;
	sender->published = error == 0;
	sender->dirty = true;
	input_sender_flush(sender);
	sender->events->published(sender->data, error);
}

static void handle_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	struct input_sender *sender = data;
	sender->events->readers(sender->data, consumers);
}

static void handle_granted(void *data, gid_id gid, int error) {
	struct input_sender *sender = data;
	input_sender_flush(sender);
}

int input_sender_create(struct gid_domain *domain, const char *stream, uint32_t lease_ms,
		const struct input_sender_events *events, void *data,
		struct input_sender **created) {
	struct input_sender *sender = calloc(1, sizeof(*sender));
	struct gid_layout layout;
	if (sender == NULL) {
		return -ENOMEM;
	}
	sender->events = events;
	sender->data = data;
	input_log_init(&sender->log, lease_ms);
	const struct gid_producer_options options = {
			.size = sizeof(options),
			.credit_max = CREDIT,
			.quiet = true,
			.keeps_shown = true,
			.published = handle_published,
			.subscriber = handle_subscriber,
			.granted = handle_granted,
			.data = sender,
	};
	int error = gid_layout_init(&layout, INPUT_FOURCC, INPUT_WIDTH, INPUT_HEIGHT, 1);
	if (error == 0) {
		error = gid_slab_create_for_stream(domain, stream, &layout, INPUT_SLOT_SIZE, SLOTS,
				"application/x-gid-input", &sender->slab);
	}
	if (error == 0) {
		error = gid_producer_create(domain, stream, &options, &sender->producer);
	}
	if (error != 0) {
		input_sender_destroy(sender);
		return error;
	}
	*created = sender;
	return 0;
}

void input_sender_destroy(struct input_sender *sender) {
	if (sender != NULL) {
		gid_producer_destroy(sender->producer);
		gid_slab_destroy(sender->slab, true);
		free(sender);
	}
}
