// SPDX-License-Identifier: MIT
#include "input_receiver.h"

#include <errno.h>
#include <stdlib.h>

#define CREDIT 4u
/* Frames that are looked at before everything else has its turn, and how long that is. */
#define LOOKS_MAX 8u
#define TURN_NS 4000000ull
/* A sender that breaks the rules, or comes with memory after memory, is heard again then. */
#define PAUSE_NS 1000000000ull
#define SLABS_NS 100000000ull

struct input_receiver {
	const struct input_receiver_events *events;
	void *data;
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	struct gid_slab *slab;	  /* of the newest frame; NULL: none is imported */
	struct gid_frame newest;  /* held while `waits` */
	bool waits, asked;	  /* for its slab; gidd is asked for it */
	uint64_t slab_time;	  /* when the last one was asked for */
	uint64_t poll_time;	  /* when to look without being woken; UINT64_MAX: never */
	uint64_t heard_again;	  /* nothing is heard before */
	uint32_t keymap;	  /* the last that was told */
	int reported_error;	  /* of gidd's answer, as was told last; 1: nothing was */
	char *keymap_text;	  /* INPUT_KEYMAP_MAX bytes; NULL: keymaps are not wanted */
	struct input_frame frame; /* the copy */
	struct input_player player;
};

/* --- what the sender is refused ----------------------------------------------------------------
 */

static void receiver_drop(struct input_receiver *receiver) {
	if (receiver->waits) {
		gid_consumer_release(receiver->consumer, &receiver->newest);
		receiver->waits = false;
	}
}

static void receiver_refuse(struct input_receiver *receiver, const char *why) {
	uint64_t now = gid_clock_now();
	receiver_drop(receiver);
	receiver->heard_again = now + PAUSE_NS;
	input_player_begin(&receiver->player, receiver->heard_again);
	receiver->events->sender_changed(receiver->data, false, why);
}

/* --- a frame ---------------------------------------------------------------------------------- */

static void receiver_read_keymap(struct input_receiver *receiver, const void *memory) {
	const struct input_head *head = &receiver->frame.head;
	if (receiver->keymap_text == NULL || head->keymap == receiver->keymap) {
		return;
	}
	int error = input_frame_read_keymap(&receiver->frame, memory, receiver->keymap_text);
	if (!gid_slab_is_current(receiver->slab, receiver->newest.gid)) {
		return;
	}
	receiver->keymap = head->keymap;
	receiver->events->keymap(receiver->data, error == 0 ? receiver->keymap_text : NULL);
}

static void receiver_play(struct input_receiver *receiver) {
	struct gid_consumer_stats stats;
	uint32_t slot = gid_slot_of(receiver->newest.gid);
	const void *memory = gid_slab_view_untouched(receiver->slab, slot);
	if (memory == NULL) {
		receiver_drop(receiver);
		return;
	}
	int error = input_frame_read(&receiver->frame, memory, receiver->player.next);
	if (!gid_slab_is_current(receiver->slab, receiver->newest.gid)) {
		receiver_drop(receiver); /* it was taken back, and what was read may be another's */
		return;
	}
	if (error != 0) {
		receiver_refuse(receiver, "it sends what is no input");
		return;
	}
	receiver_read_keymap(receiver, memory);
	receiver_drop(receiver);
	gid_consumer_get_stats(receiver->consumer, &stats);
	input_player_play(&receiver->player, &receiver->frame, stats.clock_offset_ns,
			gid_clock_now());
}

/* --- its memory ------------------------------------------------------------------------------- */

static void receiver_forget_slab(struct input_receiver *receiver) {
	gid_slab_import_cancel(receiver->domain, receiver);
	receiver->asked = false;
	gid_slab_unref(receiver->slab);
	receiver->slab = NULL;
}

static bool slab_fits(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.memory != GID_MEMORY_DMABUF && info.slot_size >= INPUT_SLOT_SIZE &&
			info.layout.fourcc == INPUT_FOURCC && info.layout.width == INPUT_WIDTH &&
			info.layout.height == INPUT_HEIGHT;
}

static void receiver_use_slab(struct input_receiver *receiver, struct gid_slab *slab) {
	receiver->slab = slab;
	if (!slab_fits(slab)) {
		receiver_forget_slab(receiver);
		receiver_refuse(receiver, "its frames are no input");
	}
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct input_receiver *receiver = data;
	receiver->asked = false;
	if (slab == NULL) {
		receiver_refuse(receiver, gid_strerror(error));
	} else {
		receiver_use_slab(receiver, slab);
	}
	receiver->events->woken(receiver->data);
}

static bool slab_has(const struct gid_slab *slab, gid_id gid) {
	struct gid_slab_info info;
	if (slab == NULL) {
		return false;
	}
	gid_slab_get_info(slab, &info);
	return gid_domain_of(info.gid) == gid_domain_of(gid) &&
			gid_slab_of(info.gid) == gid_slab_of(gid) && !info.revoked &&
			gid_slot_of(gid) < info.slot_count;
}

/* Asks for the memory of the newest frame, but not for one after the other without end. */
static void receiver_import(struct input_receiver *receiver, uint64_t now) {
	struct gid_slab *slab;
	if (receiver->asked) {
		return;
	}
	if (now < receiver->slab_time + SLABS_NS) {
		receiver->poll_time = receiver->slab_time + SLABS_NS;
		return;
	}
	receiver_forget_slab(receiver);
	receiver->slab_time = now;
	int error = gid_slab_import_async(
			receiver->domain, receiver->newest.gid, handle_imported, receiver, &slab);
	receiver->asked = error == -EINPROGRESS;
	if (error == 0) {
		receiver_use_slab(receiver, slab);
	} else if (!receiver->asked) {
		receiver_refuse(receiver, gid_strerror(error));
	}
}

/* --- looking ---------------------------------------------------------------------------------- */

/* Keeps the newest frame of those that are there. Returns whether all were looked at. */
static bool receiver_take(struct input_receiver *receiver) {
	struct gid_frame frame;
	for (uint32_t i = 0; i < LOOKS_MAX; i++) {
		int ret = gid_consumer_receive(receiver->consumer, &frame);
		if (ret == -EPROTO) {
			receiver_refuse(receiver, gid_domain_error(receiver->domain));
		}
		if (ret <= 0) {
			return true;
		}
		if (frame.gid == GID_NONE) {
			gid_consumer_release(receiver->consumer, &frame);
			continue;
		}
		receiver_drop(receiver);
		receiver->newest = frame;
		receiver->waits = true;
	}
	return false;
}

void input_receiver_dispatch(struct input_receiver *receiver) {
	uint64_t now = gid_clock_now();
	input_player_expire(&receiver->player, now);
	if (now < receiver->heard_again) { /* what comes is given back, and not looked at */
		receiver_take(receiver);
		receiver_drop(receiver);
		receiver->poll_time = receiver->heard_again;
		return;
	}
	receiver->poll_time = receiver_take(receiver) ? UINT64_MAX : now + TURN_NS;
	if (!receiver->waits) {
		return;
	}
	if (!slab_has(receiver->slab, receiver->newest.gid)) {
		receiver_import(receiver, now);
	}
	if (receiver->waits && slab_has(receiver->slab, receiver->newest.gid)) {
		receiver_play(receiver);
	}
}

void input_receiver_release(struct input_receiver *receiver) {
	input_player_release(&receiver->player, gid_clock_now());
}

uint64_t input_receiver_deadline(const struct input_receiver *receiver) {
	uint64_t lease_end = input_player_deadline(&receiver->player);
	return receiver->poll_time < lease_end ? receiver->poll_time : lease_end;
}

int input_receiver_get_fd(const struct input_receiver *receiver) {
	return gid_consumer_get_fd(receiver->consumer);
}

/* --- life ------------------------------------------------------------------------------------- */

/*
 * A sender that came has no doorbell armed yet: it is to be looked at. What it sends while we have
 * been waiting for it is for us, also what came before we knew.
 */
static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct input_receiver *receiver = data;
	uint64_t now = gid_clock_now();
	bool is_there = state == GID_CONSUMER_LIVE;
	receiver->waits = false;   /* what was held ended with its subscription */
	receiver->heard_again = 0; /* it is another one */
	receiver->keymap = 0;
	if (!is_there) {
		input_player_begin(&receiver->player, now);
	}
	receiver->poll_time = is_there ? now : UINT64_MAX;
	receiver->reported_error = 0;
	receiver->events->sender_changed(
			receiver->data, is_there, reason != 0 ? gid_strerror(reason) : NULL);
	receiver->events->woken(receiver->data);
}

/* Each time that gidd was asked: what is new is told. */
static void handle_answered(void *data, int error) {
	struct input_receiver *receiver = data;
	bool waits = gid_consumer_get_state(receiver->consumer) == GID_CONSUMER_WAITING;
	if (waits && error != receiver->reported_error) {
		receiver->events->sender_changed(receiver->data, false,
				error != 0 ? gid_domain_error(receiver->domain) : NULL);
	}
	receiver->reported_error = error;
}

int input_receiver_create(struct gid_domain *domain, const char *owner, const char *stream,
		const struct input_receiver_events *events, void *data,
		struct input_receiver **created) {
	struct input_receiver *receiver = calloc(1, sizeof(*receiver));
	if (receiver == NULL) {
		return -ENOMEM;
	}
	*receiver = (struct input_receiver){.events = events,
			.data = data,
			.domain = domain,
			.poll_time = UINT64_MAX,
			.reported_error = 1};
	input_player_init(&receiver->player, &events->sink, data, gid_clock_now());
	if (events->keymap != NULL) {
		receiver->keymap_text = malloc(INPUT_KEYMAP_MAX);
	}
	const struct gid_consumer_options options = {
			.size = sizeof(options),
			.credit = CREDIT,
			.drop_old = true,
			.reconnect = true,
			.state = handle_state,
			.answered = handle_answered,
			.data = receiver,
	};
	int error = events->keymap != NULL && receiver->keymap_text == NULL ? -ENOMEM : 0;
	if (error == 0) {
		error = gid_consumer_create(domain, owner, stream, &options, &receiver->consumer);
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
	receiver_forget_slab(receiver);
	gid_consumer_destroy(receiver->consumer);
	free(receiver->keymap_text);
	free(receiver);
}
