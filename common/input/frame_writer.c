// SPDX-License-Identifier: MIT
#include "frame_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CREDIT 4u
#define RETRY_NS 4000000ull
/* How often releases are collected while frames have to be wiped after use. */
#define FORGET_NS 100000000ull

struct frame_writer {
	const struct frame_form *form;
	const struct frame_writer_events *events;
	void *data;
	struct gid_slab *slab;
	struct gid_producer *producer;
	bool published;
	uint32_t awaited; /* answers of gidd that are missing: for the stream and for its memory */
	bool dirty;	  /* there is something new */
	uint64_t sent, retried; /* when a frame was sent, or could not be */
	uint32_t read;		/* frames that readers have and that are to be wiped */
	uint64_t looked;	/* when releases of those were last collected */
};

/* --- forgetting ------------------------------------------------------------------------------- */

/* Wipes a slot: readers have all slots mapped, also those that come later. */
static void writer_forget(struct frame_writer *writer, uint32_t slot) {
	memset(gid_slab_data(writer->slab, slot), 0, writer->form->slot_size);
}

static void handle_released(void *data, gid_id gid) {
	struct frame_writer *writer = data;
	if (writer->form->forgets) {
		writer_forget(writer, gid_slot_of(gid));
		writer->read--;
	}
}

static void writer_look(struct frame_writer *writer) {
	if (writer->read > 0) {
		gid_producer_dispatch(writer->producer);
		writer->looked = gid_clock_now();
	}
}

/* --- sending ---------------------------------------------------------------------------------- */

static int writer_take_slot(struct frame_writer *writer) {
	gid_producer_dispatch(writer->producer);
	int slot = gid_slab_take(writer->slab);
	if (slot < 0 && gid_producer_reclaim(writer->producer, false) > 0) {
		slot = gid_slab_take(writer->slab);
	}
	if (slot < 0) {
		gid_producer_lacks_memory(writer->producer);
	}
	return slot;
}

/* Returns whether the frame was sent, with or without readers. */
static bool writer_send(struct frame_writer *writer) {
	int slot = writer_take_slot(writer);
	if (slot < 0) {
		return false;
	}
	writer->events->write(writer->data, gid_slab_data(writer->slab, (uint32_t)slot),
			(uint32_t)slot, gid_slab_emptied(writer->slab));
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(writer->slab, (uint32_t)slot);
	frame.capture_time = gid_clock_now();
	writer->read += writer->form->forgets;
	int ret = gid_producer_send(writer->producer, &frame);
	gid_slab_give(writer->slab, (uint32_t)slot);
	if (ret <= 0) { /* no reader has it */
		handle_released(writer, frame.gid);
	}
	writer->sent = frame.capture_time;
	return ret != -EINPROGRESS;
}

void frame_writer_mark(struct frame_writer *writer) {
	writer->dirty = true;
}

/*
 * Gets other memory if gidd took the slab; what readers held of it is gone. Returns whether there
 * is memory now.
 */
static bool writer_renew(struct frame_writer *writer) {
	int ret = gid_slab_renew(writer->slab);
	if (ret != 0) {
		writer->read = 0;
		writer->dirty |= writer->form->keeps_shown;
		writer->retried = gid_clock_now();
	}
	return ret == 0;
}

void frame_writer_flush(struct frame_writer *writer) {
	writer_look(writer);
	if (!writer->published || !writer_renew(writer)) {
		return;
	}
	if (writer->dirty) {
		writer->dirty = !writer_send(writer);
		writer->retried = gid_clock_now();
	}
}

uint64_t frame_writer_deadline(const struct frame_writer *writer) {
	uint64_t send = writer->published && writer->dirty ? writer->retried + RETRY_NS
							   : UINT64_MAX;
	uint64_t look = writer->read > 0 ? writer->looked + FORGET_NS : UINT64_MAX;
	return send < look ? send : look;
}

uint64_t frame_writer_sent(const struct frame_writer *writer) {
	return writer->sent;
}

uint32_t frame_writer_readers(const struct frame_writer *writer) {
	return writer->published ? gid_producer_consumers(writer->producer) : 0;
}

/* --- life ------------------------------------------------------------------------------------- */

/* Who subscribes later finds a first frame, with which it begins. */
static void handle_published(void *data, int error) {
	struct frame_writer *writer = data;
	if (writer->awaited == 0) {
		return; /* an error was reported before */
	}
	writer->awaited--;
	if (error == 0 && writer->awaited > 0) {
		return;
	}
	writer->awaited = 0;
	writer->published = error == 0;
	writer->dirty |= writer->form->keeps_shown;
	frame_writer_flush(writer);
	if (error == 0 && frame_writer_readers(writer) > 0) { /* readers came before the memory */
		writer->events->readers(writer->data, frame_writer_readers(writer));
	}
	writer->events->published(writer->data, error);
}

/* The slab has memory: its first, or other one. */
static void handle_made(void *data, int error, struct gid_slab *slab) {
	struct frame_writer *writer = data;
	if (writer->published) {
		frame_writer_flush(writer);
	} else {
		handle_published(writer, error);
	}
}

static void handle_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	const struct frame_writer *writer = data;
	if (writer->published) {
		writer->events->readers(writer->data, consumers);
	}
}

static void handle_granted(void *data, gid_id gid, int error) {
	frame_writer_flush(data);
}

int frame_writer_create(struct gid_domain *domain, const char *stream,
		const struct frame_form *form, const struct frame_writer_events *events, void *data,
		struct frame_writer **created) {
	struct frame_writer *writer = calloc(1, sizeof(*writer));
	struct gid_layout layout;
	if (writer == NULL) {
		return -ENOMEM;
	}
	*writer = (struct frame_writer){.form = form, .events = events, .data = data, .awaited = 2};
	const struct gid_producer_options options = {
			.size = sizeof(options),
			.credit_max = CREDIT,
			.quiet = true,
			.keeps_shown = form->keeps_shown,
			.released = handle_released,
			.published = handle_published,
			.subscriber = handle_subscriber,
			.granted = handle_granted,
			.data = writer,
	};
	int error = gid_layout_init(&layout, FRAME_FORM_FOURCC, form->width, form->height, 1);
	if (error == 0) {
		error = gid_slab_create_async(domain, stream, &layout, form->slot_size, form->slots,
				form->caps, handle_made, writer, &writer->slab);
	}
	if (error == 0) {
		error = gid_producer_create(domain, stream, &options, &writer->producer);
	}
	if (error != 0) {
		frame_writer_destroy(writer);
		return error;
	}
	*created = writer;
	return 0;
}

void frame_writer_destroy(struct frame_writer *writer) {
	if (writer != NULL) {
		gid_producer_destroy(writer->producer);
		gid_slab_destroy(writer->slab, true);
		free(writer);
	}
}
