// SPDX-License-Identifier: MIT
#include "output_streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cursor_stream.h"
#include "output_seat.h"
#include "output_size.h"
#include "output_stream.h"
#include "stream_clipboard.h"
#include "stream_input.h"
#include "virtual_output.h"

#define LABEL_SIZE 128

/* One section [gid-output]. */
struct configured {
	struct wl_list link;
	struct output_config config;
	struct output_stream *stream;	    /* NULL: there is no such output now */
	struct output_size *size;	    /* NULL: the same, or it has a fixed size */
	struct output_seat *seat;	    /* NULL: no such output, or it takes no input */
	struct stream_input *input;	    /* NULL: the same */
	struct stream_clipboard *clipboard; /* NULL: the same, or no clipboard is shared */
	struct cursor_stream *cursor;	    /* NULL: Weston draws it, or it takes no input */
	char label[LABEL_SIZE];		    /* for the log */
};

struct output_streams {
	struct weston_compositor *compositor;
	const struct gidd_connection *connection;
	struct hidden_client *hidden;
	struct wl_list list; /* struct configured */
	struct wl_listener output_created, output_destroyed, wake;
};

static struct configured *find_configured(const struct output_streams *streams, const char *name) {
	struct configured *configured;
	wl_list_for_each(configured, &streams->list, link) {
		if (strcmp(configured->config.name, name) == 0) {
			return configured;
		}
	}
	return NULL;
}

static void configured_end(struct configured *configured) {
	stream_clipboard_destroy(configured->clipboard);
	configured->clipboard = NULL;
	stream_input_destroy(configured->input);
	configured->input = NULL;
	cursor_stream_set_seat(configured->cursor, NULL);
	cursor_stream_set_domain(configured->cursor, NULL);
	output_seat_destroy(configured->seat);
	configured->seat = NULL;
	output_size_destroy(configured->size);
	configured->size = NULL;
	output_stream_destroy(configured->stream);
	configured->stream = NULL;
}

static void configured_set_domain(struct configured *configured, struct gid_domain *domain) {
	if (configured->stream != NULL) {
		cursor_stream_set_domain(configured->cursor, domain);
		output_stream_set_domain(configured->stream, domain);
		stream_input_set_domain(configured->input, domain);
		stream_clipboard_set_domain(configured->clipboard, domain);
	}
}

/* --- input ------------------------------------------------------------------------------------ */

static void handle_event(void *data, const struct input_record *event) {
	const struct configured *configured = data;
	input_seat_handle(output_seat_get_base(configured->seat), event);
	if (event->type == INPUT_GROUP_END) {
		cursor_stream_look(configured->cursor);
	}
}

static void handle_devices(void *data, uint32_t devices) {
	const struct configured *configured = data;
	input_seat_set_devices(output_seat_get_base(configured->seat), devices);
}

static void handle_size(void *data, uint32_t width, uint32_t height, uint32_t scale) {
	const struct configured *configured = data;
	if (configured->size != NULL) {
		output_size_wish(configured->size, width, height, scale);
	}
}

static const struct input_sink input_sink = {.pens = true,
		.event = handle_event,
		.devices = handle_devices,
		.size = handle_size};

static bool configured_make_input(struct configured *configured, struct weston_output *output) {
	const struct input_source *source = &configured->config.input;
	configured->seat = output_seat_create(output, source->stream);
	if (configured->seat == NULL) {
		return false;
	}
	cursor_stream_set_seat(configured->cursor,
			input_seat_get_base(output_seat_get_base(configured->seat)));
	snprintf(configured->label, sizeof(configured->label), "output %s", output->name);
	configured->input = stream_input_create(
			output->compositor, configured->label, source, &input_sink, configured);
	if (source->has_clipboard) {
		struct input_seat *seat = output_seat_get_base(configured->seat);
		configured->clipboard = stream_clipboard_create(
				input_seat_get_base(seat), configured->label, source);
	}
	return configured->input != NULL &&
			source->has_clipboard == (configured->clipboard != NULL);
}

/* --- one output ------------------------------------------------------------------------------- */

static bool configured_make(struct configured *configured, struct output_streams *streams,
		struct weston_output *output) {
	const struct output_config *config = &configured->config;
	configured->stream = output_stream_create(output, config, streams->hidden);
	if (configured->stream == NULL) {
		return false;
	}
	if (config->width_max > 0) {
		configured->size = output_size_create(output, config, configured->stream);
		if (configured->size == NULL) {
			return false;
		}
	}
	return config->input.domain == NULL || configured_make_input(configured, output);
}

static void configured_begin(struct configured *configured, struct output_streams *streams,
		struct weston_output *output) {
	if (configured->stream != NULL) {
		return;
	}
	if (!configured_make(configured, streams, output)) {
		weston_log("gid: not enough memory\n");
		configured_end(configured);
		return;
	}
	weston_log("gid: output %s is the stream %s\n", output->name, configured->config.stream);
	configured_set_domain(configured, gidd_connection_get_domain(streams->connection));
}

/* Outputs that the module creates have the name of their section, too: names are unique. */
static void handle_output_created(struct wl_listener *listener, void *data) {
	struct output_streams *streams = wl_container_of(listener, streams, output_created);
	struct weston_output *output = data;
	struct configured *configured = find_configured(streams, output->name);
	if (configured != NULL) {
		configured_begin(configured, streams, output);
	}
}

static void handle_output_destroyed(struct wl_listener *listener, void *data) {
	struct output_streams *streams = wl_container_of(listener, streams, output_destroyed);
	struct configured *configured;
	wl_list_for_each(configured, &streams->list, link) {
		if (configured->stream != NULL &&
				output_stream_get_output(configured->stream) == data) {
			configured_end(configured);
		}
	}
}

/*
 * Repaints what changed while Weston was idle. Backends that switch screens on do so themselves.
 * The headless one has none, and clients would wait for frame callbacks until something else
 * changes.
 */
static void handle_wake(struct wl_listener *listener, void *data) {
	struct output_streams *streams = wl_container_of(listener, streams, wake);
	const struct configured *configured;
	wl_list_for_each(configured, &streams->list, link) {
		if (configured->stream != NULL) {
			weston_output_schedule_repaint(
					output_stream_get_output(configured->stream));
		}
	}
}

void output_streams_start(struct output_streams *streams) {
	if (streams == NULL) {
		return;
	}
	streams->wake.notify = handle_wake;
	wl_signal_add(&streams->compositor->wake_signal, &streams->wake);
	streams->output_created.notify = handle_output_created;
	wl_signal_add(&streams->compositor->output_created_signal, &streams->output_created);
	streams->output_destroyed.notify = handle_output_destroyed;
	wl_signal_add(&streams->compositor->output_destroyed_signal, &streams->output_destroyed);
	struct configured *configured;
	wl_list_for_each(configured, &streams->list, link) {
		struct weston_output *output = weston_compositor_find_output_by_name(
				streams->compositor, configured->config.name);
		if (!configured->config.is_mirror) {
			virtual_output_create(streams->compositor, &configured->config);
		} else if (output != NULL) {
			configured_begin(configured, streams, output);
		} else {
			config_mistake(&configured->config.place, "mirror",
					"mirror=%s: Weston has no output of that name now",
					configured->config.name);
		}
	}
}

/* --- configuration ---------------------------------------------------------------------------- */

static int streams_add(struct output_streams *streams, const struct config_place *place) {
	struct configured *configured = calloc(1, sizeof(*configured));
	if (configured == NULL) {
		return -ENOMEM;
	}
	int error = output_config_read(&configured->config, place);
	if (error == 0 && find_configured(streams, configured->config.name) != NULL) {
		const char *key = configured->config.is_mirror ? "mirror" : "name";
		error = config_mistake(place, key,
				"%s=%s: there is another section of that output; it has one "
				"stream, which any number of readers can have",
				key, configured->config.name);
	}
	if (error == 0 && configured->config.input.cursor) {
		configured->cursor = cursor_stream_create(
				streams->compositor, configured->config.stream, CURSOR_IN_PICTURE);
		error = configured->cursor != NULL ? 0 : -ENOMEM;
	}
	if (error != 0) {
		output_config_finish(&configured->config);
		free(configured);
		return error;
	}
	wl_list_insert(streams->list.prev, &configured->link);
	return 0;
}

static int streams_read(struct output_streams *streams) {
	struct config_place place = {.config = wet_get_config(streams->compositor)};
	const char *name;
	while (weston_config_next_section(place.config, &place.section, &name)) {
		int error = strcmp(name, "gid-output") == 0 ? streams_add(streams, &place) : 0;
		if (error != 0) {
			return error;
		}
	}
	return 0;
}

/* --- create and destroy ----------------------------------------------------------------------- */

int output_streams_create(struct weston_compositor *compositor,
		const struct gidd_connection *connection, struct hidden_client *hidden,
		struct output_streams **created) {
	*created = NULL;
	struct output_streams *streams = calloc(1, sizeof(*streams));
	if (streams == NULL) {
		return -ENOMEM;
	}
	streams->compositor = compositor;
	streams->connection = connection;
	streams->hidden = hidden;
	wl_list_init(&streams->list);
	wl_list_init(&streams->output_created.link);
	wl_list_init(&streams->output_destroyed.link);
	wl_list_init(&streams->wake.link);
	int error = streams_read(streams);
	if (error != 0 || wl_list_empty(&streams->list)) {
		output_streams_destroy(streams);
		return error;
	}
	*created = streams;
	return 0;
}

void output_streams_destroy(struct output_streams *streams) {
	if (streams == NULL) {
		return;
	}
	wl_list_remove(&streams->output_created.link);
	wl_list_remove(&streams->output_destroyed.link);
	wl_list_remove(&streams->wake.link);
	struct configured *configured, *next;
	wl_list_for_each_safe(configured, next, &streams->list, link) {
		configured_end(configured);
		cursor_stream_destroy(configured->cursor);
		output_config_finish(&configured->config);
		free(configured);
	}
	free(streams);
}

static void streams_set_domain(struct output_streams *streams, struct gid_domain *domain) {
	struct configured *configured;
	wl_list_for_each(configured, &streams->list, link) {
		configured_set_domain(configured, domain);
	}
}

void output_streams_connection_changed(struct output_streams *streams) {
	if (streams != NULL) {
		streams_set_domain(streams, gidd_connection_get_domain(streams->connection));
	}
}

void output_streams_connection_lost(struct output_streams *streams) {
	if (streams != NULL) {
		streams_set_domain(streams, NULL);
	}
}

bool output_streams_have_client(
		const struct output_streams *streams, const struct wl_client *client) {
	if (streams == NULL) {
		return false;
	}
	const struct configured *configured;
	wl_list_for_each(configured, &streams->list, link) {
		if (configured->stream != NULL &&
				output_stream_has_client(configured->stream, client)) {
			return true;
		}
	}
	return false;
}
