// SPDX-License-Identifier: MIT
#include "stream_clipboard.h"

#include <clipboard.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client_descriptors.h"

#define MS_NS 1000000ull

struct stream_clipboard {
	struct weston_seat *seat;
	const char *label;
	struct clipboard *clipboard;
	struct weston_data_source source; /* of the text that arrived; all texts use the same one */
	struct wl_listener selection, read_end;
	const void *kept; /* Weston's copy of the last text; only to be compared */
	struct wl_event_source *readable, *timer;
	struct weston_log_pacer pacer;
};

/* --- texts that clients copy ------------------------------------------------------------------ */

/* Returns the source of a text that a client copied; NULL: there is none, or it is our own. */
static struct weston_data_source *find_copied(const struct stream_clipboard *clipboard) {
	struct weston_data_source *source = clipboard->seat->selection_data_source;
	return source != &clipboard->source ? source : NULL;
}

/*
 * Weston keeps each text, and offers it itself when its client is gone, even while it has read only
 * a part: a reader would then get that part. It also passes on what an X client gives, to one
 * reader at a time. The first reader is Weston: another one would take the text away from it.
 * Neither source has a resource.
 */
static bool is_busy(
		const struct stream_clipboard *clipboard, const struct weston_data_source *source) {
	return source->resource == NULL && client_descriptors_are_read_for(clipboard->kept);
}

static void clipboard_tell(const struct stream_clipboard *clipboard) {
	const struct weston_data_source *source = find_copied(clipboard);
	if (source != NULL && !is_busy(clipboard, source)) {
		clipboard_changed(clipboard->clipboard, source != clipboard->kept);
	}
}

/* Weston's clipboard has handled this signal before, and has begun to read. */
static void handle_selection(struct wl_listener *listener, void *data) {
	struct stream_clipboard *clipboard = wl_container_of(listener, clipboard, selection);
	const struct weston_data_source *source = find_copied(clipboard);
	if (source != NULL && source != clipboard->kept) {
		clipboard->kept = client_descriptors_last_read();
	}
	clipboard_tell(clipboard);
}

static void handle_read_end(struct wl_listener *listener, void *data) {
	struct stream_clipboard *clipboard = wl_container_of(listener, clipboard, read_end);
	const struct weston_data_source *source = find_copied(clipboard);
	if (data == clipboard->kept && source != NULL && source->resource == NULL) {
		clipboard_tell(clipboard);
	}
}

static bool has_text(const struct weston_data_source *source) {
	char **type;
	wl_array_for_each(type, &source->mime_types) {
		if (strcmp(*type, CLIPBOARD_TYPE) == 0) {
			return true;
		}
	}
	return false;
}

static void handle_ask(void *data, int fd) {
	const struct stream_clipboard *clipboard = data;
	struct weston_data_source *source = find_copied(clipboard);
	if (source != NULL && has_text(source) && !is_busy(clipboard, source)) {
		source->send(source, CLIPBOARD_TYPE, fd);
	} else {
		close(fd);
	}
}

/* --- texts that arrive ------------------------------------------------------------------------ */

static bool handle_wants(void *data) {
	return true;
}

/* Weston ignores a selection that is older than the current one. */
static void set_selection(
		const struct stream_clipboard *clipboard, struct weston_data_source *source) {
	struct wl_display *display = clipboard->seat->compositor->wl_display;
	weston_seat_set_selection(clipboard->seat, source, wl_display_next_serial(display));
}

static void handle_came(void *data) {
	struct stream_clipboard *clipboard = data;
	set_selection(clipboard, &clipboard->source);
}

static void source_accept(
		struct weston_data_source *source, uint32_t serial, const char *mime_type) {
}

static void source_send(struct weston_data_source *source, const char *mime_type, int32_t fd) {
	struct stream_clipboard *clipboard = wl_container_of(source, clipboard, source);
	clipboard_give(clipboard->clipboard, fd);
}

static void source_cancel(struct weston_data_source *source) {
}

static bool source_init(struct weston_data_source *source) {
	wl_signal_init(&source->destroy_signal);
	wl_array_init(&source->mime_types);
	source->accept = source_accept;
	source->send = source_send;
	source->cancel = source_cancel;
	char **type = wl_array_add(&source->mime_types, sizeof(*type));
	if (type == NULL) {
		return false;
	}
	*type = strdup(CLIPBOARD_TYPE);
	return *type != NULL;
}

/* Tells clients that have an offer of it that it is gone. */
static void source_finish(struct weston_data_source *source) {
	wl_signal_emit(&source->destroy_signal, source);
	char **type;
	wl_array_for_each(type, &source->mime_types) {
		free(*type);
	}
	wl_array_release(&source->mime_types);
}

/* --- the event loop --------------------------------------------------------------------------- */

static void handle_woken(void *data) {
	const struct stream_clipboard *clipboard = data;
	wl_event_source_timer_update(clipboard->timer, 1);
}

static void handle_say(void *data, const char *what) {
	struct stream_clipboard *clipboard = data;
	weston_log_paced(&clipboard->pacer, 30, 60000, "gid: %s: %s\n", clipboard->label, what);
}

static const struct clipboard_events events = {
		.ask = handle_ask,
		.wants = handle_wants,
		.came = handle_came,
		.woken = handle_woken,
		.say = handle_say,
};

static int handle_timer(void *data) {
	struct stream_clipboard *clipboard = data;
	clipboard_dispatch(clipboard->clipboard);
	uint64_t deadline = clipboard_deadline(clipboard->clipboard), now = gid_clock_now();
	int ms = 0; /* disarmed */
	if (deadline != UINT64_MAX) {
		ms = deadline > now ? (int)((deadline - now) / MS_NS + 1) : 1;
	}
	wl_event_source_timer_update(clipboard->timer, ms);
	return 0;
}

static int handle_readable(int fd, uint32_t mask, void *data) {
	return handle_timer(data);
}

/* --- create and destroy ----------------------------------------------------------------------- */

void stream_clipboard_set_domain(struct stream_clipboard *clipboard, struct gid_domain *domain) {
	if (clipboard != NULL) {
		clipboard_set_domain(clipboard->clipboard, domain);
	}
}

struct stream_clipboard *stream_clipboard_create(
		struct weston_seat *seat, const char *label, const struct input_source *source) {
	struct stream_clipboard *clipboard = calloc(1, sizeof(*clipboard));
	struct wl_event_loop *loop = wl_display_get_event_loop(seat->compositor->wl_display);
	if (clipboard == NULL) {
		return NULL;
	}
	clipboard->seat = seat;
	clipboard->label = label;
	clipboard->selection.notify = handle_selection;
	wl_signal_add(&seat->selection_signal, &clipboard->selection);
	clipboard->read_end.notify = handle_read_end;
	wl_signal_add(&client_descriptors_read_end, &clipboard->read_end);
	bool made = source_init(&clipboard->source) &&
			clipboard_create(source->clipboard, source->domain, source->clipboard_input,
					&events, clipboard, &clipboard->clipboard) == 0;
	if (made) {
		clipboard->timer = wl_event_loop_add_timer(loop, handle_timer, clipboard);
		clipboard->readable =
				wl_event_loop_add_fd(loop, clipboard_get_fd(clipboard->clipboard),
						WL_EVENT_READABLE, handle_readable, clipboard);
	}
	if (clipboard->timer == NULL || clipboard->readable == NULL) {
		stream_clipboard_destroy(clipboard);
		return NULL;
	}
	return clipboard;
}

void stream_clipboard_destroy(struct stream_clipboard *clipboard) {
	if (clipboard == NULL) {
		return;
	}
	wl_list_remove(&clipboard->selection.link);
	wl_list_remove(&clipboard->read_end.link);
	if (clipboard->seat->selection_data_source == &clipboard->source) {
		set_selection(clipboard, NULL);
	}
	source_finish(&clipboard->source);
	if (clipboard->readable != NULL) {
		wl_event_source_remove(clipboard->readable);
	}
	if (clipboard->timer != NULL) {
		wl_event_source_remove(clipboard->timer);
	}
	clipboard_destroy(clipboard->clipboard);
	free(clipboard);
}
