// SPDX-License-Identifier: MIT
/*
 * plug.so, a module for Weston under test: does to the outputs of a headless Weston what a user
 * does with cables, buttons and settings. Each line that it reads from the descriptor PLUG_FD is an
 * order; it answers each with "done", or "failed".
 */
#include <libweston/libweston.h>
#include <libweston/windowed-output-api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int wet_module_init(
		struct weston_compositor *compositor, int *argc, char *argv[]);

/* Of libweston/backend.h, which is not installed. Backends call it when a cable is pulled. */
void weston_head_set_connection_status(struct weston_head *head, bool connected);

struct plug {
	struct weston_compositor *compositor;
	struct wl_event_source *source;
	struct wl_listener compositor_destroy;
	struct weston_head *built_in; /* whose backend makes the others */
};

/* Has an output repainted all the time. */
struct animation {
	struct weston_animation base;
	struct wl_listener output_destroy;
};

static void handle_frame(struct weston_animation *animation, struct weston_output *output,
		const struct timespec *time) {
	weston_output_schedule_repaint(output);
}

static void handle_output_destroy(struct wl_listener *listener, void *data) {
	struct animation *animation = wl_container_of(listener, animation, output_destroy);
	wl_list_remove(&animation->output_destroy.link);
	wl_list_remove(&animation->base.link);
	free(animation);
}

static bool animate(struct weston_output *output) {
	struct animation *animation = calloc(1, sizeof(*animation));
	if (animation == NULL) {
		return false;
	}
	animation->base.frame = handle_frame;
	animation->output_destroy.notify = handle_output_destroy;
	wl_list_insert(&output->animation_list, &animation->base.link);
	wl_signal_add(&output->destroy_signal, &animation->output_destroy);
	weston_output_schedule_repaint(output);
	return true;
}

static struct weston_head *find_head(struct plug *plug, const char *name) {
	struct weston_head *head = NULL;
	while ((head = weston_compositor_iterate_heads(plug->compositor, head)) != NULL) {
		if (strcmp(weston_head_get_name(head), name) == 0) {
			return head;
		}
	}
	return NULL;
}

static bool plug_in(struct plug *plug, const char *name) {
	struct weston_head *head = find_head(plug, name);
	if (head != NULL) {
		weston_head_set_connection_status(head, true);
		return true;
	}
	const struct weston_windowed_output_api *api = weston_windowed_output_get_api(
			plug->compositor, WESTON_WINDOWED_OUTPUT_HEADLESS);
	return api != NULL && api->create_head(plug->built_in->backend, name) == 0;
}

static bool obey(struct plug *plug, const char *order, const char *name, int value) {
	struct weston_head *head = find_head(plug, name);
	struct weston_output *output = head != NULL ? weston_head_get_output(head) : NULL;
	if (strcmp(order, "plug") == 0) {
		return plug_in(plug, name);
	}
	if (strcmp(order, "sleep") == 0) {
		weston_compositor_sleep(plug->compositor);
		return true;
	}
	if (strcmp(order, "wake") == 0) {
		weston_compositor_wake(plug->compositor);
		weston_compositor_damage_all(plug->compositor); /* as DRM does at power-on */
		return true;
	}
	if (output == NULL) {
		return false;
	}
	if (strcmp(order, "animate") == 0) {
		return animate(output);
	}
	if (strcmp(order, "unplug") == 0) {
		weston_head_set_connection_status(head, false);
	} else if (strcmp(order, "scale") == 0) {
		weston_output_set_scale(output, value);
	} else if (strcmp(order, "transform") == 0) {
		weston_output_set_transform(output, (uint32_t)value);
	} else if (strcmp(order, "refresh") == 0) {
		output->current_mode->refresh = value;
	} else {
		return false;
	}
	return true;
}

static int handle_orders(int fd, uint32_t mask, void *data) {
	struct plug *plug = data;
	char line[128], order[32] = "", name[32] = "";
	int value = 0;
	ssize_t length = read(fd, line, sizeof(line) - 1);
	if (length <= 0) {
		wl_event_source_remove(plug->source);
		plug->source = NULL;
		return 0;
	}
	line[length] = 0;
	sscanf(line, "%31s %31s %d", order, name, &value);
	const char *answer = obey(plug, order, name, value) ? "done\n" : "failed\n";
	return write(fd, answer, strlen(answer)) > 0;
}

static void handle_compositor_destroy(struct wl_listener *listener, void *data) {
	struct plug *plug = wl_container_of(listener, plug, compositor_destroy);
	if (plug->source != NULL) {
		wl_event_source_remove(plug->source);
	}
	free(plug);
}

int wet_module_init(struct weston_compositor *compositor, int *argc, char *argv[]) {
	const char *fd = getenv("PLUG_FD");
	struct plug *plug = calloc(1, sizeof(*plug));
	if (fd == NULL || plug == NULL ||
			!weston_compositor_add_destroy_listener_once(compositor,
					&plug->compositor_destroy, handle_compositor_destroy)) {
		free(plug);
		return -1;
	}
	plug->compositor = compositor;
	plug->built_in = weston_compositor_iterate_heads(compositor, NULL);
	plug->source = wl_event_loop_add_fd(wl_display_get_event_loop(compositor->wl_display),
			atoi(fd), WL_EVENT_READABLE, handle_orders, plug);
	return 0;
}
