// SPDX-License-Identifier: MIT
#include "frame_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory_pages.h"

#define CREDIT 4u
/* How many frames are taken in one turn, and when the next turn comes. */
#define LOOKS_MAX 8u
#define TURN_NS 4000000ull
/* How long a sender that broke the rules is ignored; and how often it may use other memory. */
#define PAUSE_NS 1000000000ull
#define SLABS_NS 100000000ull

struct frame_reader {
	const struct frame_form *form;
	const struct frame_reader_events *events;
	void *data;
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	struct gid_slab *slab;	  /* of the newest frame; NULL: none is imported */
	struct gid_frame newest;  /* held while `waits` */
	bool waits, asked;	  /* `newest` waits for its slab; gidd was asked for it */
	uint64_t slab_time;	  /* when gidd was asked for a slab last */
	uint64_t poll_time;	  /* when to look without a wake-up; UINT64_MAX: never */
	uint64_t heard_again;	  /* until then the sender is ignored */
	uint64_t rest_ns, rested; /* the pause between two frames; when it is over */
	int reported_error;	  /* gidd's last answer that was reported; 1: none */
};

/* --- what the sender is refused --------------------------------------------------------------- */

static void reader_drop(struct frame_reader *reader) {
	if (reader->waits) {
		gid_consumer_release(reader->consumer, &reader->newest);
		reader->waits = false;
	}
}

static void reader_refuse(struct frame_reader *reader, const char *why) {
	uint64_t now = gid_clock_now();
	reader_drop(reader);
	reader->heard_again = now + PAUSE_NS;
	reader->events->begin(reader->data, reader->heard_again);
	reader->events->sender_changed(reader->data, false, why);
}

static void reader_refuse_form(struct frame_reader *reader, const char *format) {
	char why[80];
	snprintf(why, sizeof(why), format, reader->form->what);
	reader_refuse(reader, why);
}

/* --- a frame ---------------------------------------------------------------------------------- */

/*
 * Of what is copied, and not of the whole slot: the sender chooses how large that is. Reading a
 * missing page would allocate it, charged to us for as long as the sender keeps the file.
 */
static bool reader_has_pages(const struct frame_reader *reader, uint32_t slot) {
	struct gid_slab_info info;
	gid_slab_get_info(reader->slab, &info);
	return info.memory != GID_MEMORY_MEMFD ||
			gid_memory_check_pages(info.fd, info.offset + slot * info.slot_size,
					reader->form->slot_size,
					gid_slab_view_untouched(reader->slab, slot)) == 0;
}

static void reader_use(struct frame_reader *reader) {
	struct gid_consumer_stats stats;
	uint32_t slot = gid_slot_of(reader->newest.gid);
	const void *memory = gid_slab_view_untouched(reader->slab, slot);
	if (memory == NULL) {
		reader_drop(reader);
		return;
	}
	if (!reader_has_pages(reader, slot)) {
		reader_refuse(reader, gid_strerror(-ENODATA));
		return;
	}
	int error = reader->events->copy(reader->data, memory);
	if (!gid_slab_is_current(reader->slab, reader->newest.gid)) {
		/* The slot was taken back: what was copied may be of another frame. */
		reader_drop(reader);
		return;
	}
	if (error != 0) {
		reader_refuse_form(reader, "it sends what is no %s");
		return;
	}
	reader_drop(reader);
	reader->rested = gid_clock_now() + reader->rest_ns;
	gid_consumer_get_stats(reader->consumer, &stats);
	reader->events->use(reader->data, stats.clock_offset_ns);
}

/* --- its memory ------------------------------------------------------------------------------- */

static void reader_forget_slab(struct frame_reader *reader) {
	gid_slab_import_cancel(reader->domain, reader);
	reader->asked = false;
	gid_slab_unref(reader->slab);
	reader->slab = NULL;
}

static bool slab_fits(const struct gid_slab *slab, const struct frame_form *form) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.memory != GID_MEMORY_DMABUF && info.slot_size >= form->slot_size &&
			info.layout.fourcc == FRAME_FORM_FOURCC &&
			info.layout.width == form->width && info.layout.height == form->height;
}

static void reader_use_slab(struct frame_reader *reader, struct gid_slab *slab) {
	reader->slab = slab;
	if (!slab_fits(slab, reader->form)) {
		reader_forget_slab(reader);
		reader_refuse_form(reader, "its frames are no %s");
	}
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct frame_reader *reader = data;
	reader->asked = false;
	if (slab == NULL) {
		reader_refuse(reader, gid_strerror(error));
	} else {
		reader_use_slab(reader, slab);
	}
	reader->events->woken(reader->data);
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

/*
 * Imports the slab of the newest frame; not too often, as the sender may name a new one each time.
 */
static void reader_import(struct frame_reader *reader, uint64_t now) {
	struct gid_slab *slab;
	if (reader->asked) {
		return;
	}
	if (now < reader->slab_time + SLABS_NS) {
		reader->poll_time = reader->slab_time + SLABS_NS;
		return;
	}
	reader_forget_slab(reader);
	reader->slab_time = now;
	int error = gid_slab_import_async(
			reader->domain, reader->newest.gid, handle_imported, reader, &slab);
	reader->asked = error == -EINPROGRESS;
	if (error == 0) {
		reader_use_slab(reader, slab);
	} else if (!reader->asked) {
		reader_refuse(reader, gid_strerror(error));
	}
}

/* --- looking ---------------------------------------------------------------------------------- */

/* Takes the frames that are there, and keeps the newest. Returns whether there are no more. */
static bool reader_take(struct frame_reader *reader) {
	struct gid_frame frame;
	for (uint32_t i = 0; i < LOOKS_MAX; i++) {
		int ret = gid_consumer_receive(reader->consumer, &frame);
		if (ret == -EPROTO) {
			reader_refuse(reader, gid_domain_error(reader->domain));
		}
		if (ret <= 0) {
			return true;
		}
		if (frame.gid == GID_NONE) {
			gid_consumer_release(reader->consumer, &frame);
			continue;
		}
		reader_drop(reader);
		reader->newest = frame;
		reader->waits = true;
	}
	return false;
}

void frame_reader_dispatch(struct frame_reader *reader) {
	uint64_t now = gid_clock_now();
	if (now < reader->heard_again) { /* frames are given back without a look */
		reader_take(reader);
		reader_drop(reader);
		reader->poll_time = reader->heard_again;
		return;
	}
	reader->poll_time = reader_take(reader) ? UINT64_MAX : now + TURN_NS;
	if (reader->waits && now < reader->rested) {
		reader->poll_time = reader->rested;
		return;
	}
	if (reader->waits && !slab_has(reader->slab, reader->newest.gid)) {
		reader_import(reader, now);
	}
	if (reader->waits && slab_has(reader->slab, reader->newest.gid)) {
		reader_use(reader);
	}
}

uint64_t frame_reader_deadline(const struct frame_reader *reader) {
	return reader->poll_time;
}

int frame_reader_get_fd(const struct frame_reader *reader) {
	return gid_consumer_get_fd(reader->consumer);
}

/* --- life ------------------------------------------------------------------------------------- */

/*
 * The sender came or went. No doorbell is armed yet for one that came, so a first look is due.
 * Frames that it sent while we were waiting for it are for us, even those from before we knew.
 */
static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct frame_reader *reader = data;
	uint64_t now = gid_clock_now();
	bool is_there = state == GID_CONSUMER_LIVE;
	reader->waits = false;	 /* held frames ended with their subscription */
	reader->heard_again = 0; /* it is another sender */
	if (!is_there) {
		reader->events->begin(reader->data, now);
	}
	reader->poll_time = is_there ? now : UINT64_MAX;
	reader->reported_error = 0;
	reader->events->sender_changed(
			reader->data, is_there, reason != 0 ? gid_strerror(reason) : NULL);
	reader->events->woken(reader->data);
}

/* gidd answered: reports what is new. */
static void handle_answered(void *data, int error) {
	struct frame_reader *reader = data;
	bool waits = gid_consumer_get_state(reader->consumer) == GID_CONSUMER_WAITING;
	if (waits && error != reader->reported_error) {
		reader->events->sender_changed(reader->data, false,
				error != 0 ? gid_domain_error(reader->domain) : NULL);
	}
	reader->reported_error = error;
}

int frame_reader_create(struct gid_domain *domain, const char *owner, const char *stream,
		const struct frame_form *form, uint64_t rest_ns,
		const struct frame_reader_events *events, void *data,
		struct frame_reader **created) {
	struct frame_reader *reader = calloc(1, sizeof(*reader));
	if (reader == NULL) {
		return -ENOMEM;
	}
	*reader = (struct frame_reader){.form = form,
			.events = events,
			.data = data,
			.domain = domain,
			.poll_time = UINT64_MAX,
			.rest_ns = rest_ns,
			.reported_error = 1};
	const struct gid_consumer_options options = {
			.size = sizeof(options),
			.credit = CREDIT,
			.drop_old = true,
			.reconnect = true,
			.state = handle_state,
			.answered = handle_answered,
			.data = reader,
	};
	int error = gid_consumer_create(domain, owner, stream, &options, &reader->consumer);
	if (error != 0) {
		free(reader);
		return error;
	}
	*created = reader;
	return 0;
}

void frame_reader_destroy(struct frame_reader *reader) {
	if (reader == NULL) {
		return;
	}
	reader_forget_slab(reader);
	gid_consumer_destroy(reader->consumer);
	free(reader);
}
