// SPDX-License-Identifier: MIT
#include "input_receiver.h"

#include <errno.h>
#include <stdlib.h>

#include "frame_reader.h"

struct input_receiver {
	const struct input_receiver_events *events;
	void *data;
	struct frame_reader *reader;
	char *keymap_text;	  /* INPUT_KEYMAP_MAX bytes; NULL: keymaps are not wanted */
	bool is_new_keymap;	  /* the copy's is to be told */
	bool has_keymap;	  /* the text is one */
	struct input_frame frame; /* the copy */
	struct input_player player;
};

/* --- a frame ---------------------------------------------------------------------------------- */

static int handle_copy(void *data, const void *slot) {
	struct input_receiver *receiver = data;
	int error = input_frame_read(&receiver->frame, slot, receiver->player.next);
	receiver->is_new_keymap = error == 0 && receiver->keymap_text != NULL &&
			input_player_wants_keymap(&receiver->player, receiver->frame.head.keymap,
					gid_clock_now());
	if (receiver->is_new_keymap) {
		receiver->has_keymap = input_frame_read_keymap(&receiver->frame, slot,
						       receiver->keymap_text) == 0;
	}
	return error;
}

static void handle_use(void *data, int64_t clock_offset_ns) {
	struct input_receiver *receiver = data;
	uint64_t now = gid_clock_now();
	if (receiver->is_new_keymap) {
		input_player_take_keymap(&receiver->player, receiver->frame.head.keymap, now);
		receiver->events->keymap(receiver->data,
				receiver->has_keymap ? receiver->keymap_text : NULL);
	}
	input_player_play(&receiver->player, &receiver->frame, clock_offset_ns, now);
}

/* --- what the reader tells -------------------------------------------------------------------- */

static void handle_begin(void *data, uint64_t time) {
	struct input_receiver *receiver = data;
	input_player_begin(&receiver->player, time);
}

static void handle_woken(void *data) {
	const struct input_receiver *receiver = data;
	receiver->events->woken(receiver->data);
}

static void handle_sender_changed(void *data, bool is_there, const char *why) {
	const struct input_receiver *receiver = data;
	receiver->events->sender_changed(receiver->data, is_there, why);
}

static const struct frame_reader_events reader_events = {
		.copy = handle_copy,
		.use = handle_use,
		.begin = handle_begin,
		.woken = handle_woken,
		.sender_changed = handle_sender_changed,
};

void input_receiver_dispatch(struct input_receiver *receiver) {
	input_player_expire(&receiver->player, gid_clock_now());
	frame_reader_dispatch(receiver->reader);
}

void input_receiver_release(struct input_receiver *receiver) {
	input_player_release(&receiver->player, gid_clock_now());
}

uint64_t input_receiver_deadline(const struct input_receiver *receiver) {
	uint64_t poll_time = frame_reader_deadline(receiver->reader);
	uint64_t lease_end = input_player_deadline(&receiver->player);
	return poll_time < lease_end ? poll_time : lease_end;
}

int input_receiver_get_fd(const struct input_receiver *receiver) {
	return frame_reader_get_fd(receiver->reader);
}

/* --- life ------------------------------------------------------------------------------------- */

int input_receiver_create(struct gid_domain *domain, const char *owner, const char *stream,
		const struct input_receiver_events *events, void *data,
		struct input_receiver **created) {
	struct input_receiver *receiver = calloc(1, sizeof(*receiver));
	if (receiver == NULL) {
		return -ENOMEM;
	}
	receiver->events = events;
	receiver->data = data;
	input_player_init(&receiver->player, &events->sink, data, gid_clock_now());
	if (events->keymap != NULL) {
		receiver->keymap_text = malloc(INPUT_KEYMAP_MAX);
	}
	int error = events->keymap != NULL && receiver->keymap_text == NULL ? -ENOMEM : 0;
	if (error == 0) {
		error = frame_reader_create(domain, owner, stream, &input_form, 0, &reader_events,
				receiver, &receiver->reader);
	}
	if (error != 0) {
		input_receiver_destroy(receiver);
		return error;
	}
	*created = receiver;
	return 0;
}

void input_receiver_destroy(struct input_receiver *receiver) {
	if (receiver == NULL) {
		return;
	}
	input_player_release(&receiver->player, gid_clock_now());
	frame_reader_destroy(receiver->reader);
	free(receiver->keymap_text);
	free(receiver);
}
