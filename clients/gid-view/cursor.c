// SPDX-License-Identifier: MIT
#include "cursor.h"

#include <cursor_note.h>
#include <drm_fourcc.h>
#include <err.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <to_rgb.h>
#include <unistd.h>

#include "viewporter-client-protocol.h"

/* More frames are not needed: only the newest is shown. */
#define CREDIT 2

/*
 * Entries taken in one call, before other event sources run: some producers send faster than this
 * takes.
 */
#define ENTRIES_MAX 8
#define TURN_US 4000
#define ACCURACY_US 1000

static void cursor_tell(const struct cursor *cursor) {
	if (cursor->changed != NULL) {
		cursor->changed(cursor->data);
	}
}

/* --- the picture ------------------------------------------------------------------------------ */

static void buffer_release(void *data, struct wl_buffer *buffer) {
	wl_buffer_destroy(buffer);
}

static const struct wl_buffer_listener buffer_listener = {.release = buffer_release};

/* Maps memory for the pixels that the compositor can read. Returns MAP_FAILED without memory. */
static void *make_buffer(
		struct wl_shm *shm, int32_t width, int32_t height, struct wl_buffer **buffer) {
	int32_t size = width * height * 4;
	int fd = memfd_create("cursor", MFD_CLOEXEC);
	void *pixels = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, size) == 0) {
		pixels = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (pixels != MAP_FAILED) {
		struct wl_shm_pool *pool = wl_shm_create_pool(shm, fd, size);
		*buffer = wl_shm_pool_create_buffer(
				pool, 0, width, height, width * 4, WL_SHM_FORMAT_ARGB8888);
		wl_shm_pool_destroy(pool);
		wl_buffer_add_listener(*buffer, &buffer_listener, NULL);
	}
	if (fd >= 0) {
		close(fd);
	}
	return pixels;
}

/* The producer's size and position are read once, and may be anything. */
static bool find_box(const struct gid_slab_info *info, const struct gid_frame *frame,
		struct gid_box *box) {
	const struct gid_layout *layout = &info->layout;
	return gid_box_get_seen(frame->crop, layout->width, layout->height, box) &&
			box->width <= (int32_t)CURSOR_SIDE_MAX &&
			box->height <= (int32_t)CURSOR_SIDE_MAX && to_rgb_can(layout->fourcc) &&
			layout->modifier == DRM_FORMAT_MOD_LINEAR &&
			info->memory != GID_MEMORY_DMABUF &&
			gid_layout_check(layout, info->slot_size) == 0;
}

static void cursor_draw(
		struct cursor *cursor, const struct gid_slab *slab, const struct gid_frame *frame) {
	struct gid_slab_info info;
	struct gid_box box;
	struct wl_buffer *buffer = NULL;
	gid_slab_get_info(slab, &info);
	const void *picture = gid_slab_view(slab, gid_slot_of(frame->gid));
	if (picture == NULL || !find_box(&info, frame, &box)) {
		return;
	}
	void *pixels = make_buffer(cursor->wayland->shm, box.width, box.height, &buffer);
	if (pixels == MAP_FAILED) {
		return;
	}
	to_rgb(&info.layout, picture, (uint32_t)box.x, (uint32_t)box.y, (uint32_t)box.width,
			(uint32_t)box.height, pixels, (size_t)box.width * 4);
	munmap(pixels, (size_t)(box.width * box.height * 4));
	int32_t width = surface_scale_from_pixels(cursor->scale, box.width);
	int32_t height = surface_scale_from_pixels(cursor->scale, box.height);
	wp_viewport_set_destination(
			cursor->viewport, width > 0 ? width : 1, height > 0 ? height : 1);
	wl_surface_attach(cursor->surface, buffer, 0, 0);
	wl_surface_damage_buffer(cursor->surface, 0, 0, INT32_MAX, INT32_MAX);
	wl_surface_commit(cursor->surface);
	cursor->seen = true;
}

/* Without a slab the cursor is invisible. */
static void cursor_show(struct cursor *cursor, struct gid_slab *slab, const struct gid_frame *frame,
		const struct cursor_note *note) {
	cursor->seen = false;
	cursor->x = surface_scale_from_pixels(cursor->scale, note->x);
	cursor->y = surface_scale_from_pixels(cursor->scale, note->y);
	if (slab != NULL) {
		cursor_draw(cursor, slab, frame);
		gid_slab_unref(slab);
	}
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct cursor *cursor = data;
	cursor->is_asked = false;
	cursor_show(cursor, slab, &cursor->asked, &cursor->asked_note);
	gid_consumer_release(cursor->consumer, &cursor->asked);
	cursor_tell(cursor);
}

/* A newer frame replaces the one whose import is under way, or its stream is gone. */
static void cursor_ask_no_more(struct cursor *cursor) {
	if (cursor->is_asked) {
		gid_slab_import_cancel(cursor->domain, cursor);
		gid_consumer_release(cursor->consumer, &cursor->asked);
		cursor->is_asked = false;
	}
}

/*
 * Cursor slabs are small, and known after the first cursor of each size. During the import the old
 * cursor stays: nothing blocks on the other domain. Returns whether it keeps the frame.
 */
static bool cursor_take(struct cursor *cursor, const struct gid_frame *frame,
		const struct cursor_note *note) {
	struct gid_slab *slab = NULL;
	cursor_ask_no_more(cursor);
	cursor->live = true;
	cursor->locked = note->locked;
	int error = frame->gid != GID_NONE ? gid_slab_import_async(cursor->domain, frame->gid,
							     handle_imported, cursor, &slab)
					   : 0;
	if (error == -EINPROGRESS) {
		cursor->asked = *frame;
		cursor->asked_note = *note;
		cursor->is_asked = true;
	} else {
		cursor_show(cursor, error == 0 ? slab : NULL, frame, note);
	}
	cursor_tell(cursor);
	return cursor->is_asked;
}

/* --- the stream ------------------------------------------------------------------------------- */

static void take_later(struct cursor *cursor) {
	sd_event_source_set_time_relative(cursor->turn, TURN_US);
	sd_event_source_set_enabled(cursor->turn, SD_EVENT_ONESHOT);
}

/* After entries were lost, a heartbeat may repeat a frame that was never received. */
static bool is_new(struct cursor *cursor, const struct gid_frame *frame) {
	bool lost = frame->sequence != cursor->sequence + 1;
	cursor->sequence = frame->sequence;
	return lost || !(frame->flags & GID_FRAME_HEARTBEAT);
}

/* Only the last entry counts, unless all are heartbeats. */
void cursor_receive(struct cursor *cursor) {
	struct gid_frame frame, last;
	struct cursor_note note = {0};
	bool any = false, new = false;
	for (uint32_t i = 0; cursor->consumer != NULL; i++) {
		if (i == ENTRIES_MAX) {
			take_later(cursor);
			break;
		}
		if (gid_consumer_receive(cursor->consumer, &frame) <= 0) {
			break;
		}
		if (any) {
			gid_consumer_release(cursor->consumer, &last);
		}
		any = true;
		new = is_new(cursor, &frame) || new;
		last = frame;
		note = (struct cursor_note){0};
		cursor_note_read(&note, frame.note, frame.note_size);
	}
	bool kept = new && cursor_take(cursor, &last, &note);
	if (any && !kept) {
		gid_consumer_release(cursor->consumer, &last);
	}
}

static int handle_readable(sd_event_source *source, int fd, uint32_t events, void *data) {
	cursor_receive(data);
	return 0;
}

static int handle_turn(sd_event_source *source, uint64_t time, void *data) {
	cursor_receive(data);
	return 0;
}

static void cursor_forget(struct cursor *cursor) {
	cursor_ask_no_more(cursor);
	cursor->live = cursor->seen = cursor->locked = false;
	cursor_tell(cursor);
}

static void consumer_state(void *data, enum gid_consumer_state state, int reason) {
	struct cursor *cursor = data;
	if (state != GID_CONSUMER_LIVE) {
		cursor_forget(cursor);
	}
}

static void cursor_end(struct cursor *cursor) {
	cursor->source = sd_event_source_disable_unref(cursor->source);
	cursor->turn = sd_event_source_disable_unref(cursor->turn);
	cursor_ask_no_more(cursor);
	gid_consumer_destroy(cursor->consumer);
	cursor->consumer = NULL;
}

/* Without permission to read the stream, the cursor is in the picture, as before. */
static void consumer_answered(void *data, int error) {
	struct cursor *cursor = data;
	if (error == -ENOENT || error == -EPERM) {
		cursor_end(cursor);
		cursor_forget(cursor);
	}
}

/* --- create and destroy ----------------------------------------------------------------------- */

int cursor_init(struct cursor *cursor, sd_event *event, const struct wayland *wayland,
		const struct surface_scale *scale, struct gid_domain *domain, const char *owner,
		const char *shown) {
	const struct gid_consumer_options options = {
			.size = sizeof(options),
			.credit = CREDIT,
			.drop_old = true,
			.reconnect = true,
			.state = consumer_state,
			.data = cursor,
			.answered = consumer_answered,
	};
	char stream[GID_NAME_MAX + 1];
	*cursor = (struct cursor){.wayland = wayland, .scale = scale, .domain = domain};
	if (wayland->shm == NULL || !cursor_stream_name(stream, shown)) {
		return 0;
	}
	int error = gid_consumer_create(domain, owner, stream, &options, &cursor->consumer);
	if (error != 0) {
		warnx("%s: %s", stream, gid_domain_error(domain));
		return -1;
	}
	cursor->surface = wl_compositor_create_surface(wayland->compositor);
	cursor->viewport = wp_viewporter_get_viewport(wayland->viewporter, cursor->surface);
	error = sd_event_add_io(event, &cursor->source, gid_consumer_get_fd(cursor->consumer),
			EPOLLIN, handle_readable, cursor);
	if (error >= 0) {
		error = sd_event_add_time_relative(event, &cursor->turn, CLOCK_MONOTONIC, 0,
				ACCURACY_US, handle_turn, cursor);
	}
	if (error < 0) {
		warnx("event loop: %s", strerror(-error));
	}
	return error < 0 ? -1 : 0;
}

void cursor_finish(struct cursor *cursor) {
	cursor->changed = NULL;
	cursor_end(cursor);
	if (cursor->surface != NULL) {
		wp_viewport_destroy(cursor->viewport);
		wl_surface_destroy(cursor->surface);
	}
	*cursor = (struct cursor){0};
}
