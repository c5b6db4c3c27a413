// SPDX-License-Identifier: MIT
#include "publisher.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <gid/stream.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <wlr/util/log.h>

#include "pixels.h"
#include "sealed.h"
#include "thread.h"

#define CREDIT 2u /* so that one reader cannot hold all slots */
#define RETRY_MS 1000
#define MS_NS UINT64_C(1000000)

enum publisher_state {
	PUBLISHER_FREE,
	PUBLISHER_BUSY, /* the thread may read the pixels */
	PUBLISHER_DONE, /* the thread is done; the display's thread unlocks the buffer */
};

struct publisher {
	char *domain_name, *stream;
	pthread_t thread;
	int wake, fd; /* eventfds: wake the thread, and the display's thread */
	_Atomic enum publisher_state state;
	atomic_uint readers;
	atomic_bool wanted, ends; /* `wanted`: a reader has not got the current picture */
	/* For the display's thread only: */
	struct wlr_buffer *buffer;
	struct pixels pixels; /* read by the thread while PUBLISHER_BUSY */
	/* For the thread only: */
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_slab *slab;
	struct gid_layout layout;
	uint64_t again;	  /* the earliest time to ask gidd for the stream again */
	bool lacks;	  /* readers held all slots when there was a picture */
	int logged_error; /* the last error in the log; 0: none */
};

/* --- the thread ------------------------------------------------------------------------------- */

static void handle_released(void *data, gid_id gid) {
	struct publisher *publisher = data;
	if (publisher->lacks) {
		publisher->lacks = false;
		atomic_store(&publisher->wanted, true);
		eventfd_write(publisher->fd, 1);
	}
}

static void handle_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	struct publisher *publisher = data;
	atomic_store(&publisher->readers, consumers);
	if (joined) {
		atomic_store(&publisher->wanted, true);
	}
	eventfd_write(publisher->fd, 1);
}

static void publisher_log(struct publisher *publisher, int error, const char *why) {
	if (error < 0 && error != publisher->logged_error) {
		wlr_log(WLR_ERROR, "stream %s: %s: trying again", publisher->stream, why);
	}
	publisher->logged_error = error;
}

static void publisher_disconnect(struct publisher *publisher) {
	gid_producer_destroy(publisher->producer);
	gid_slab_destroy(publisher->slab, false);
	gid_domain_destroy(publisher->domain);
	publisher->producer = NULL;
	publisher->slab = NULL;
	publisher->domain = NULL;
	atomic_store(&publisher->readers, 0);
}

/* May wait long for gidd: nobody waits for this thread. Returns whether the stream exists. */
static bool publisher_connect(struct publisher *publisher) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.credit_max = CREDIT,
			.released = handle_released,
			.subscriber = handle_subscriber,
			.data = publisher,
	};
	int error = 0;
	if (publisher->domain == NULL && sealed_is_on()) {
		return false;
	}
	if (publisher->domain == NULL) {
		error = gid_domain_connect(publisher->domain_name, &publisher->domain);
		publisher_log(publisher, error, gid_domain_connect_error());
	}
	uint64_t now = gid_clock_now();
	if (error == 0 && publisher->producer == NULL && now >= publisher->again) {
		publisher->again = now + RETRY_MS * MS_NS;
		error = gid_producer_create(publisher->domain, publisher->stream, &options,
				&publisher->producer);
		publisher_log(publisher, error, gid_domain_error(publisher->domain));
	}
	return publisher->producer != NULL;
}

/* Makes slots for pictures of this size. */
static int publisher_make_slab(struct publisher *publisher, const struct pixels *pixels) {
	int error;
	if (publisher->slab != NULL && publisher->layout.width == pixels->width &&
			publisher->layout.height == pixels->height) {
		error = gid_slab_renew(publisher->slab);
		publisher_log(publisher, error, gid_domain_error(publisher->domain));
		return error;
	}
	gid_slab_destroy(publisher->slab, false);
	publisher->slab = NULL;
	error = gid_layout_init(
			&publisher->layout, DRM_FORMAT_XRGB8888, pixels->width, pixels->height, 64);
	if (error == 0) {
		error = gid_slab_create_for_stream(publisher->domain, publisher->stream,
				&publisher->layout, 0, PUBLISHER_SLOTS, "gid-cluster",
				&publisher->slab);
	}
	publisher_log(publisher, error, gid_domain_error(publisher->domain));
	return error;
}

static void publisher_copy(struct publisher *publisher, const struct pixels *pixels) {
	if (publisher_make_slab(publisher, pixels) < 0) {
		return;
	}
	int slot = gid_slab_take(publisher->slab);
	if (slot < 0) {
		/*
		 * Readers miss this picture. After their lease they lose the slots that they hold.
		 */
		gid_producer_lacks_memory(publisher->producer);
		publisher->lacks = true;
		return;
	}
	const struct gid_plane *plane = &publisher->layout.planes[0];
	uint8_t *to = (uint8_t *)gid_slab_data(publisher->slab, (uint32_t)slot) + plane->offset;
	for (uint32_t y = 0; y < pixels->height; y++) {
		memcpy(to + (size_t)y * plane->stride,
				(const uint8_t *)pixels->data + y * pixels->stride,
				(size_t)pixels->width * 4);
	}
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(publisher->slab, (uint32_t)slot);
	(void)gid_producer_send(publisher->producer, &frame);
	gid_slab_give(publisher->slab, (uint32_t)slot); /* one that was sent stays taken */
}

static void publisher_work(struct publisher *publisher) {
	if (atomic_load(&publisher->state) != PUBLISHER_BUSY) {
		return;
	}
	if (publisher->producer != NULL) {
		publisher_copy(publisher, &publisher->pixels);
	}
	atomic_store(&publisher->state, PUBLISHER_DONE);
	eventfd_write(publisher->fd, 1);
}

/* Also without a stream: this reconnects to a new gidd. */
static void publisher_dispatch(struct publisher *publisher) {
	int error = publisher->domain != NULL ? gid_domain_dispatch(publisher->domain) : 0;
	if (publisher->producer != NULL) {
		gid_producer_dispatch(publisher->producer);
	}
	if (error < 0) {
		publisher_log(publisher, error, gid_strerror(error));
		publisher_disconnect(publisher);
	}
}

static void *run(void *data) {
	struct publisher *publisher = data;
	while (!atomic_load(&publisher->ends)) {
		bool is_published = publisher_connect(publisher);
		struct pollfd fds[] = {
				{.fd = publisher->wake, .events = POLLIN},
				{.fd = publisher->domain != NULL
								? gid_domain_get_fd(
										  publisher->domain)
								: -1,
						.events = POLLIN},
				{.fd = is_published ? gid_producer_get_fd(publisher->producer) : -1,
						.events = POLLIN},
		};
		eventfd_t count;
		poll(fds, 3, is_published ? -1 : RETRY_MS);
		(void)eventfd_read(publisher->wake, &count);
		publisher_dispatch(publisher);
		publisher_work(publisher);
	}
	publisher_disconnect(publisher);
	return NULL;
}

/* --- the display's thread --------------------------------------------------------------------- */

int publisher_get_fd(const struct publisher *publisher) {
	return publisher->fd;
}

bool publisher_has_readers(const struct publisher *publisher) {
	return atomic_load(&publisher->readers) > 0;
}

static void publisher_release(struct publisher *publisher) {
	wlr_buffer_unlock(publisher->buffer);
	publisher->buffer = NULL;
}

bool publisher_collect(struct publisher *publisher) {
	eventfd_t count;
	(void)eventfd_read(publisher->fd, &count);
	if (atomic_load(&publisher->state) == PUBLISHER_DONE) {
		publisher_release(publisher);
		atomic_store(&publisher->state, PUBLISHER_FREE);
	}
	return atomic_load(&publisher->state) == PUBLISHER_FREE && atomic_load(&publisher->wanted);
}

bool publisher_offer(struct publisher *publisher, struct wlr_buffer *buffer) {
	void *memory;
	uint32_t format;
	size_t stride;
	if (!publisher_has_readers(publisher) || atomic_load(&publisher->state) != PUBLISHER_FREE ||
			!wlr_buffer_begin_data_ptr_access(buffer, WLR_BUFFER_DATA_PTR_ACCESS_READ,
					&memory, &format, &stride)) {
		return false;
	}
	/*
	 * wlroots allows one reader at a time, and other code may read it, too. The mapping stays
	 * valid.
	 */
	wlr_buffer_end_data_ptr_access(buffer);
	if (format != DRM_FORMAT_XRGB8888 && format != DRM_FORMAT_ARGB8888) {
		return false;
	}
	publisher->buffer = wlr_buffer_lock(buffer);
	publisher->pixels = (struct pixels){
			memory, (uint32_t)buffer->width, (uint32_t)buffer->height, stride};
	atomic_store(&publisher->wanted, false);
	atomic_store(&publisher->state, PUBLISHER_BUSY);
	eventfd_write(publisher->wake, 1);
	return true;
}

static void publisher_free(struct publisher *publisher) {
	if (publisher->wake >= 0) {
		close(publisher->wake);
	}
	if (publisher->fd >= 0) {
		close(publisher->fd);
	}
	free(publisher->domain_name);
	free(publisher->stream);
	free(publisher);
}

struct publisher *publisher_create(const char *domain, const char *stream) {
	struct publisher *publisher = calloc(1, sizeof(*publisher));
	if (publisher == NULL) {
		return NULL;
	}
	publisher->domain_name = domain != NULL ? strdup(domain) : NULL;
	publisher->stream = strdup(stream);
	publisher->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	publisher->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error = -ENOMEM;
	if (publisher->stream != NULL && (domain == NULL || publisher->domain_name != NULL) &&
			publisher->wake >= 0 && publisher->fd >= 0) {
		error = gid_thread_start(&publisher->thread, GID_THREAD_STACK, run, publisher);
	}
	if (error != 0) {
		publisher_free(publisher);
		return NULL;
	}
	return publisher;
}

void publisher_destroy(struct publisher *publisher) {
	if (publisher == NULL) {
		return;
	}
	atomic_store(&publisher->ends, true);
	eventfd_write(publisher->wake, 1);
	/*
	 * A gidd that does not answer may block the thread, which still uses the memory. The
	 * process ends soon.
	 */
	if (gid_thread_join(publisher->thread) == 0) {
		publisher_release(publisher);
		publisher_free(publisher);
	}
}
