// SPDX-License-Identifier: MIT
#include "drawn_wait.h"

#include <errno.h>

#include "libweston_exports.h"

static int slab_fd(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.memory == GID_MEMORY_DMABUF ? info.fd : -1;
}

bool drawn_wait_is_needed(const struct gid_slab *slab) {
	int fd = slab_fd(slab);
	return fd >= 0 && !gid_dmabuf_is_drawn(fd);
}

/* --- pictures --------------------------------------------------------------------------------- */

static void waiting_set(struct waiting_picture *waiting, const struct forward_picture *picture) {
	waiting->picture = *picture;
	gid_slab_ref(picture->slab);
	weston_buffer_reference(&waiting->buffer, picture->buffer, BUFFER_MAY_BE_ACCESSED);
	weston_buffer_release_reference(&waiting->release, picture->release);
	waiting->since = gid_clock_now();
}

static bool waiting_clear(struct waiting_picture *waiting) {
	struct gid_slab *slab = waiting->picture.slab;
	if (slab == NULL) {
		return false;
	}
	waiting->picture = (struct forward_picture){0};
	weston_buffer_reference(&waiting->buffer, NULL, BUFFER_WILL_NOT_BE_ACCESSED);
	weston_buffer_release_reference(&waiting->release, NULL);
	gid_slab_unref(slab);
	return true;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static int handle_drawn(int fd, uint32_t mask, void *data);

static void wait_disarm(struct drawn_wait *wait) {
	if (wait->source != NULL) {
		wl_event_source_remove(wait->source);
		wait->source = NULL;
	}
}

static int wait_arm(struct drawn_wait *wait) {
	wait_disarm(wait);
	wait->source = wl_event_loop_add_fd(wait->loop, slab_fd(wait->first.picture.slab),
			WL_EVENT_READABLE, handle_drawn, wait);
	return wait->source != NULL ? 0 : -ENOMEM;
}

/* The newer picture becomes the first, if there is one. */
static void wait_advance(struct drawn_wait *wait) {
	wait_disarm(wait);
	waiting_clear(&wait->first);
	if (wait->next.picture.slab != NULL) {
		uint64_t since = wait->next.since;
		waiting_set(&wait->first, &wait->next.picture);
		wait->first.since = since;
		waiting_clear(&wait->next);
		if (wait_arm(wait) != 0) {
			waiting_clear(&wait->first);
		}
	}
}

static int handle_drawn(int fd, uint32_t mask, void *data) {
	struct drawn_wait *wait = data;
	struct waiting_picture drawn = {0};
	waiting_set(&drawn, &wait->first.picture);
	wait_advance(wait);
	wait->drawn(wait->data, &drawn.picture);
	waiting_clear(&drawn);
	return 0;
}

int drawn_wait_add(struct drawn_wait *wait, const struct forward_picture *picture) {
	/* Consumers do not get the picture that this one replaces: so they need full damage. */
	struct forward_picture whole = *picture;
	whole.damage = (struct gid_box){0};
	if (wait->first.picture.slab != NULL &&
			gid_clock_now() - wait->first.since > wait->patience_ns) {
		wait_advance(wait);
	}
	if (wait->first.picture.slab != NULL) {
		waiting_clear(&wait->next);
		waiting_set(&wait->next, &whole);
		return 0;
	}
	waiting_set(&wait->first, &whole);
	int error = wait_arm(wait);
	if (error != 0) {
		waiting_clear(&wait->first);
	}
	return error;
}

bool drawn_wait_drop(struct drawn_wait *wait) {
	wait_disarm(wait);
	bool first = waiting_clear(&wait->first);
	return waiting_clear(&wait->next) || first;
}
