// SPDX-License-Identifier: MIT
#include "false_producer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "false_domain.h"

#define PRODUCERS_MAX 4
#define HELD_MAX 8

struct gid_producer {
	struct gid_producer_options options;
	int fd;
	bool answered, published, wants_grant;
	uint32_t consumers, unread, held_count;
	uint64_t sequence;
	struct held_slot {
		gid_id gid;
		struct gid_slab *slab;
	} held[HELD_MAX]; /* the oldest first */
};

static struct gid_producer *producers[PRODUCERS_MAX];

int gid_producer_create(struct gid_domain *domain, const char *name,
		const struct gid_producer_options *options, struct gid_producer **created) {
	demand(options->size == sizeof(*options) && options->published != NULL);
	demand(strncmp(name, "safety/", 7) == 0);
	for (uint32_t i = 0; i < PRODUCERS_MAX; i++) {
		if (producers[i] == NULL) {
			struct gid_producer *producer = calloc(1, sizeof(*producer));
			producer->options = *options;
			producer->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
			*created = producers[i] = producer;
			return 0;
		}
	}
	return -EDQUOT;
}

/* The oldest; nobody hears of it. */
static gid_id drop(struct gid_producer *producer) {
	struct held_slot held = producer->held[0];
	producer->held_count--;
	memmove(producer->held, producer->held + 1,
			producer->held_count * sizeof(producer->held[0]));
	bool last = gid_slab_holders(held.slab, gid_slot_of(held.gid)) == 1;
	false_slab_release(held.slab, gid_slot_of(held.gid));
	return last ? held.gid : GID_NONE;
}

static bool release(struct gid_producer *producer) {
	gid_id gid = producer->held_count > 0 ? drop(producer) : GID_NONE;
	if (gid != GID_NONE) {
		producer->options.released(producer->options.data, gid);
	}
	return gid != GID_NONE;
}

void gid_producer_destroy(struct gid_producer *producer) {
	if (producer == NULL) {
		return;
	}
	while (producer->held_count > 0) {
		drop(producer);
	}
	for (uint32_t i = 0; i < PRODUCERS_MAX; i++) {
		producers[i] = producers[i] == producer ? NULL : producers[i];
	}
	close(producer->fd);
	free(producer);
}

int gid_producer_get_fd(const struct gid_producer *producer) {
	return producer->fd;
}

/* All consumers are on this machine. */
bool gid_producer_needs_window(const struct gid_producer *producer) {
	(void)producer;
	return false;
}

int gid_producer_dispatch(struct gid_producer *producer) {
	eventfd_t count;
	eventfd_read(producer->fd, &count);
	release(producer);
	return 0;
}

int gid_producer_send(struct gid_producer *producer, struct gid_frame *frame) {
	demand(producer->published);
	frame->sequence = ++producer->sequence;
	frame->submit_time = producer->sequence;
	const uint32_t no_picture = GID_FRAME_HIDDEN | GID_FRAME_EOS;
	if (frame->gid == GID_NONE) {
		demand((frame->flags & no_picture) != 0);
		return (int)producer->consumers;
	}
	struct gid_slab *slab = false_slab_find(frame->gid);
	if (slab == NULL || gid_generation_of(frame->gid) != 0) {
		return -EINVAL;
	}
	if (producer->wants_grant) {
		return -EINPROGRESS;
	}
	/* The picture's parts lie in it. */
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	const struct gid_box boxes[] = {frame->crop, frame->damage};
	for (int i = 0; i < 2; i++) {
		const struct gid_box *box = &boxes[i];
		if (box->width > 0 && box->height > 0) {
			demand(box->x >= 0 && box->y >= 0 &&
					(int64_t)box->x + box->width <= info.layout.width &&
					(int64_t)box->y + box->height <= info.layout.height);
		}
	}
	if (producer->consumers == 0) {
		return 0;
	}
	if (producer->held_count == HELD_MAX) {
		release(producer);
	}
	false_slab_hold(slab, gid_slot_of(frame->gid));
	producer->held[producer->held_count++] = (struct held_slot){frame->gid, slab};
	return (int)producer->consumers;
}

int gid_producer_reclaim(struct gid_producer *producer, bool force) {
	return force || producer->unread > 0 ? release(producer) : 0;
}

void gid_producer_lacks_memory(struct gid_producer *producer) {
}

void gid_producer_want_release(struct gid_producer *producer) {
}

int gid_producer_get_shown(
		struct gid_producer *producer, uint32_t domain, struct gid_shown *shown) {
	return -ENODATA;
}

uint32_t gid_producer_unread(const struct gid_producer *producer) {
	return producer->unread;
}

uint32_t gid_producer_consumers(const struct gid_producer *producer) {
	return producer->consumers;
}

/* No role of the target is protected. */
void gid_producer_set_check(struct gid_producer *producer, gid_check_func make, void *data) {
	demand(false);
}

void gid_producer_count_copy_for(
		struct gid_producer *producer, enum gid_copy_reason reason, uint64_t bytes) {
	demand(bytes > 0);
}

/* --- what the target does --------------------------------------------------------------------- */

static void answer(struct gid_producer *producer, uint32_t which) {
	static const int errors[] = {0, -EEXIST, -EPERM, -ENOTCONN, 0, 0, 0, 0};
	producer->answered = true;
	producer->published = errors[which] == 0;
	producer->options.published(producer->options.data, errors[which]);
}

static void join_or_leave(struct gid_producer *producer, bool joins) {
	if (!joins && producer->consumers == 0) {
		return;
	}
	producer->consumers += joins ? 1 : (uint32_t)-1;
	producer->options.subscriber(producer->options.data, 2, joins, producer->consumers);
}

void false_producer_begin(void) {
	for (uint32_t i = 0; i < PRODUCERS_MAX; i++) {
		if (producers[i] != NULL && !producers[i]->answered) {
			answer(producers[i], 0);
			join_or_leave(producers[i], true);
		}
	}
}

void false_producer_act(struct input *input) {
	struct gid_producer *producer = producers[take(input, PRODUCERS_MAX)];
	uint32_t what = take(input, 8), which = take(input, 8);
	if (producer == NULL) {
		return;
	}
	if (!producer->answered) {
		answer(producer, which);
		return;
	}
	switch (what) {
	case 0:
	case 1:
	case 2:
		join_or_leave(producer, what > 0);
		break;
	case 3:
		producer->unread = which;
		break;
	case 4:
		producer->wants_grant = true;
		break;
	case 5:
		if (producer->wants_grant) {
			static const int errors[] = {0, -EPERM, -ENOTCONN, -EDQUOT};
			producer->wants_grant = false;
			producer->options.granted(
					producer->options.data, GID_NONE, errors[which % 4]);
		}
		break;
	case 6:
		release(producer);
		break;
	default:
		eventfd_write(producer->fd, 1);
		break;
	}
}

void false_producer_demand_empty(void) {
	for (uint32_t i = 0; i < PRODUCERS_MAX; i++) {
		demand(producers[i] == NULL);
	}
}
