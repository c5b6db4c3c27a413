// SPDX-License-Identifier: MIT
#include "output_capture.h"

/* wayland-server.h for the implementation of Weston's objects: see hidden_client.c. */
#include <wayland-server.h>

#include "weston-output-capture-client-protocol.h"
#include "weston-output-capture-protocol.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wayland-client.h>

/* The first version of wl_output that sends the output's name. */
#define OUTPUT_VERSION 4

struct output_capture {
	char *name;
	const struct output_capture_events *events;
	void *data;
	struct wl_client *client; /* NULL: lost */
	struct wl_listener client_destroy;
	struct wl_event_source *source;

	/* The client's own end. */
	struct wl_display *display;
	struct wl_registry *registry;
	struct weston_capture_v1 *manager;
	struct wl_list outputs;	   /* struct seen_output */
	struct wl_output *output;  /* ours, one of these */
	struct output_shot *first; /* captures nothing, but reports format and size */
};

struct seen_output {
	struct wl_list link;
	struct output_capture *capture;
	uint32_t name; /* of the global */
	struct wl_output *object;
};

struct output_shot {
	struct output_capture *capture;
	output_shot_answered_func answered;
	void *data;
	struct weston_capture_source_v1 *object;
	uint32_t fourcc;
};

/* --- shots ------------------------------------------------------------------------------------ */

static void handle_format(void *data, struct weston_capture_source_v1 *object, uint32_t fourcc) {
	struct output_shot *shot = data;
	shot->fourcc = fourcc;
}

static void handle_size(void *data, struct weston_capture_source_v1 *object, int32_t width,
		int32_t height) {
	const struct output_shot *shot = data;
	const struct output_capture *capture = shot->capture;
	if (shot == capture->first) {
		capture->events->form(capture->data, shot->fourcc, width, height);
	}
}

static void handle_complete(void *data, struct weston_capture_source_v1 *object) {
	const struct output_shot *shot = data;
	shot->answered(shot->data, true);
}

static void handle_retry(void *data, struct weston_capture_source_v1 *object) {
	const struct output_shot *shot = data;
	shot->answered(shot->data, false);
}

static void handle_failed(void *data, struct weston_capture_source_v1 *object, const char *why) {
	const struct output_shot *shot = data;
	shot->answered(shot->data, false);
}

static const struct weston_capture_source_v1_listener shot_listener = {
		.format = handle_format,
		.size = handle_size,
		.complete = handle_complete,
		.retry = handle_retry,
		.failed = handle_failed,
};

struct output_shot *output_shot_create(
		struct output_capture *capture, output_shot_answered_func answered, void *data) {
	struct output_shot *shot = calloc(1, sizeof(*shot));
	if (shot == NULL) {
		return NULL;
	}
	shot->capture = capture;
	shot->answered = answered;
	shot->data = data;
	shot->object = weston_capture_v1_create(
			capture->manager, capture->output, WESTON_CAPTURE_V1_SOURCE_FRAMEBUFFER);
	if (shot->object == NULL) {
		free(shot);
		return NULL;
	}
	weston_capture_source_v1_add_listener(shot->object, &shot_listener, shot);
	wl_display_flush(capture->display);
	return shot;
}

void output_shot_destroy(struct output_shot *shot) {
	if (shot == NULL) {
		return;
	}
	weston_capture_source_v1_destroy(shot->object);
	free(shot);
}

bool output_shot_take(struct output_shot *shot, struct wl_resource *buffer) {
	struct wl_client *client = shot->capture->client;
	uint32_t id = wl_proxy_get_id((struct wl_proxy *)shot->object);
	struct wl_resource *resource = client != NULL ? wl_client_get_object(client, id) : NULL;
	if (resource == NULL) {
		return false; /* Weston did not read the request that creates it yet */
	}
	const struct weston_capture_source_v1_interface *code = resource->object.implementation;
	code->capture(client, resource, buffer);
	return true;
}

/* --- the client ------------------------------------------------------------------------------- */

/* The format and size of the first shot start the stream. */
static void capture_begin(struct output_capture *capture, struct wl_output *output) {
	capture->output = output;
	if (capture->manager != NULL) {
		capture->first = output_shot_create(capture, NULL, NULL);
	}
}

static void output_handle_geometry(void *data, struct wl_output *output, int32_t x, int32_t y,
		int32_t width, int32_t height, int32_t subpixel, const char *make,
		const char *model, int32_t transform) {
}

static void output_handle_mode(void *data, struct wl_output *output, uint32_t flags, int32_t width,
		int32_t height, int32_t refresh) {
}

static void output_handle_done(void *data, struct wl_output *output) {
}

static void output_handle_scale(void *data, struct wl_output *output, int32_t factor) {
}

static void output_handle_name(void *data, struct wl_output *output, const char *name) {
	const struct seen_output *seen = data;
	struct output_capture *capture = seen->capture;
	if (capture->first == NULL && strcmp(name, capture->name) == 0) {
		capture_begin(capture, output);
	}
}

static void output_handle_description(
		void *data, struct wl_output *output, const char *description) {
}

static const struct wl_output_listener output_listener = {
		.geometry = output_handle_geometry,
		.mode = output_handle_mode,
		.done = output_handle_done,
		.scale = output_handle_scale,
		.name = output_handle_name,
		.description = output_handle_description,
};

static void capture_add_output(struct output_capture *capture, uint32_t name) {
	struct seen_output *seen = calloc(1, sizeof(*seen));
	if (seen == NULL) {
		return;
	}
	seen->capture = capture;
	seen->name = name;
	seen->object = wl_registry_bind(
			capture->registry, name, &wl_output_interface, OUTPUT_VERSION);
	wl_output_add_listener(seen->object, &output_listener, seen);
	wl_list_insert(&capture->outputs, &seen->link);
}

static void seen_output_destroy(struct seen_output *seen) {
	wl_output_release(seen->object);
	wl_list_remove(&seen->link);
	free(seen);
}

static void registry_handle_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct output_capture *capture = data;
	if (strcmp(interface, weston_capture_v1_interface.name) == 0) {
		capture->manager =
				wl_registry_bind(registry, name, &weston_capture_v1_interface, 1);
	} else if (strcmp(interface, wl_output_interface.name) == 0 && version >= OUTPUT_VERSION) {
		capture_add_output(capture, name);
	}
}

/* An output was unplugged. The object of our own is still needed for shots. */
static void registry_handle_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
	const struct output_capture *capture = data;
	struct seen_output *seen, *next;
	wl_list_for_each_safe(seen, next, &capture->outputs, link) {
		if (seen->name == name && seen->object != capture->output) {
			seen_output_destroy(seen);
		}
	}
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_handle_global,
		.global_remove = registry_handle_global_remove,
};

static void capture_end(struct output_capture *capture) {
	wl_event_source_remove(capture->source);
	capture->source = NULL;
	capture->events->ended(capture->data);
}

/* Never blocks, whatever has woken it. */
static int handle_events(int fd, uint32_t mask, void *data) {
	struct output_capture *capture = data;
	while (wl_display_prepare_read(capture->display) != 0) {
		wl_display_dispatch_pending(capture->display);
	}
	if (wl_display_read_events(capture->display) < 0 ||
			wl_display_dispatch_pending(capture->display) < 0 ||
			wl_display_flush(capture->display) < 0) {
		capture_end(capture);
	}
	return 0;
}

static void handle_client_destroy(struct wl_listener *listener, void *data) {
	struct output_capture *capture = wl_container_of(listener, capture, client_destroy);
	wl_list_remove(&capture->client_destroy.link);
	capture->client = NULL;
}

/* Takes ownership of both ends. */
static int capture_connect(struct output_capture *capture, struct wl_display *server, int ends[2]) {
	capture->client = wl_client_create(server, ends[0]);
	if (capture->client == NULL) {
		close(ends[0]);
		close(ends[1]);
		return -ENOMEM;
	}
	capture->client_destroy.notify = handle_client_destroy;
	wl_client_add_destroy_listener(capture->client, &capture->client_destroy);
	capture->display = wl_display_connect_to_fd(ends[1]);
	if (capture->display == NULL) {
		return -ENOMEM; /* `ends[1]` is closed */
	}
	capture->registry = wl_display_get_registry(capture->display);
	capture->source = wl_event_loop_add_fd(wl_display_get_event_loop(server), ends[1],
			WL_EVENT_READABLE, handle_events, capture);
	if (capture->registry == NULL || capture->source == NULL) {
		return -ENOMEM;
	}
	wl_registry_add_listener(capture->registry, &registry_listener, capture);
	wl_display_flush(capture->display);
	return 0;
}

struct output_capture *output_capture_create(struct wl_display *display, const char *name,
		const struct output_capture_events *events, void *data) {
	struct output_capture *capture = calloc(1, sizeof(*capture));
	if (capture == NULL) {
		return NULL;
	}
	*capture = (struct output_capture){.events = events, .data = data, .name = strdup(name)};
	wl_list_init(&capture->outputs);
	int ends[2];
	if (capture->name == NULL ||
			socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) !=
					0 ||
			capture_connect(capture, display, ends) != 0) {
		output_capture_destroy(capture);
		return NULL;
	}
	return capture;
}

void output_capture_destroy(struct output_capture *capture) {
	if (capture == NULL) {
		return;
	}
	if (capture->source != NULL) {
		wl_event_source_remove(capture->source);
	}
	output_shot_destroy(capture->first);
	struct seen_output *seen, *next;
	wl_list_for_each_safe(seen, next, &capture->outputs, link) {
		seen_output_destroy(seen);
	}
	if (capture->manager != NULL) {
		weston_capture_v1_destroy(capture->manager);
	}
	if (capture->registry != NULL) {
		wl_registry_destroy(capture->registry);
	}
	if (capture->display != NULL) {
		wl_display_disconnect(capture->display);
	}
	if (capture->client != NULL) {
		wl_client_destroy(capture->client); /* this calls handle_client_destroy() */
	}
	free(capture->name);
	free(capture);
}

struct wl_client *output_capture_get_client(const struct output_capture *capture) {
	return capture->client;
}
