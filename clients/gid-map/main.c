// SPDX-License-Identifier: MIT
/* gid-map: a moving map, drawn by an ordinary OpenGL ES client that knows nothing of gids. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <err.h>
#include <gid/gid.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wayland-egl.h>

#include "command_line.h"
#include "common/client_role.h"
#include "common/main_loop.h"
#include "common/option_value.h"
#include "common/wayland.h"
#include "dmabuf_targets.h"
#include "gidway_version.h"
#include "map_drawing.h"
#include "option_number.h"
#include "standard_streams.h"
#include "xdg-shell-client-protocol.h"

#define METRES_A_SECOND 30
#define STILL_MAX 100000 /* metres, many times round */
#define CONFIGS_MAX 64	 /* at most so many are looked at */

const char *argp_program_version = "gid-map " GIDWAY_VERSION;

struct options {
	uint32_t width, height;
	const char *role;
	double still; /* metres; negative: it moves */
	bool udmabuf;
	uint64_t seconds;
};

struct map {
	const struct options *options;
	sd_event *event;
	struct wayland wayland;
	struct client_role role;
	struct wl_surface *surface;
	struct xdg_surface *xdg_surface;
	struct xdg_toplevel *toplevel;
	struct wl_egl_window *window;
	EGLDisplay display;
	EGLContext context;
	EGLSurface target;
	struct dmabuf_targets targets; /* with --udmabuf in place of the window's */
	struct map_drawing drawing;
	struct wl_callback *frame;
	uint64_t started, frames;
	bool configured;
	bool is_due; /* a picture is due as soon as a buffer is free */
};

/* --- EGL -------------------------------------------------------------------------------------- */

/*
 * EGL lists configurations with more bits first, but a role takes those only if it is configured
 * so: takes the first with 8 bits for each colour.
 */
static EGLConfig with_8_bits(EGLDisplay display, const EGLConfig *configs, EGLint count) {
	EGLint red = 0;
	for (EGLint i = 0; i < count; i++) {
		if (eglGetConfigAttrib(display, configs[i], EGL_RED_SIZE, &red) && red == 8) {
			return configs[i];
		}
	}
	return configs[0];
}

static bool map_init_egl(struct map *map) {
	static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_WINDOW_BIT, EGL_RENDERABLE_TYPE,
			EGL_OPENGL_ES2_BIT, EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8,
			EGL_ALPHA_SIZE, 0, EGL_NONE};
	static const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
	EGLConfig configs[CONFIGS_MAX];
	EGLint count = 0;
	map->display = eglGetPlatformDisplay(EGL_PLATFORM_WAYLAND_KHR, map->wayland.display, NULL);
	if (map->display == EGL_NO_DISPLAY || !eglInitialize(map->display, NULL, NULL) ||
			!eglBindAPI(EGL_OPENGL_ES_API) ||
			!eglChooseConfig(map->display, wanted, configs, CONFIGS_MAX, &count) ||
			count < 1) {
		warnx("EGL gives no window with OpenGL ES 2 (error 0x%x)", eglGetError());
		return false;
	}
	EGLConfig config = with_8_bits(map->display, configs, count);
	map->context = eglCreateContext(map->display, config, EGL_NO_CONTEXT, version);
	map->window = wl_egl_window_create(map->surface, map->options->width, map->options->height);
	map->target = eglCreatePlatformWindowSurface(map->display, config, map->window, NULL);
	if (map->context == EGL_NO_CONTEXT || map->target == EGL_NO_SURFACE ||
			!eglMakeCurrent(map->display, map->target, map->target, map->context)) {
		warnx("EGL cannot draw into the window (error 0x%x)", eglGetError());
		return false;
	}
	eglSwapInterval(map->display, 0); /* the frame callback says when */
	return map_drawing_init(&map->drawing);
}

static void map_finish_egl(struct map *map) {
	if (map->targets.display != EGL_NO_DISPLAY) {
		map_drawing_finish(&map->drawing);
		dmabuf_targets_finish(&map->targets);
	}
	if (map->display != EGL_NO_DISPLAY) {
		map_drawing_finish(&map->drawing);
		eglMakeCurrent(map->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
		eglTerminate(map->display);
	}
	if (map->window != NULL) {
		wl_egl_window_destroy(map->window);
	}
}

/* --- frames ----------------------------------------------------------------------------------- */

static void map_draw(struct map *map);

static void handle_frame(void *data, struct wl_callback *callback, uint32_t time) {
	struct map *map = data;
	wl_callback_destroy(map->frame);
	map->frame = NULL;
	if (map->options->still < 0) {
		map_draw(map);
	}
}

static const struct wl_callback_listener frame_listener = {.done = handle_frame};

static void map_draw(struct map *map) {
	const struct options *options = map->options;
	double seconds = (double)(gid_clock_now() - map->started) / 1e9;
	struct dmabuf_target *target = NULL;
	if (options->udmabuf) {
		target = dmabuf_targets_begin(&map->targets);
		map->is_due = target == NULL;
		if (map->is_due) {
			return;
		}
	}
	map_drawing_draw(&map->drawing, options->width, options->height, options->udmabuf,
			options->still >= 0 ? options->still : seconds * METRES_A_SECOND);
	map->frame = wl_surface_frame(map->surface);
	wl_callback_add_listener(map->frame, &frame_listener, map);
	if (target != NULL) {
		dmabuf_targets_end(target, map->surface);
		wl_surface_commit(map->surface);
	} else if (!eglSwapBuffers(map->display, map->target)) {
		warnx("EGL cannot show the picture (error 0x%x)", eglGetError());
		sd_event_exit(map->event, EXIT_FAILURE);
	}
	map->frames++;
}

static void handle_released(void *data) {
	struct map *map = data;
	if (map->is_due) {
		map_draw(map);
	}
}

static bool map_init_targets(struct map *map) {
	map->targets.released = handle_released;
	map->targets.data = map;
	return dmabuf_targets_init(&map->targets, &map->wayland, map->options->width,
			       map->options->height) &&
			map_drawing_init(&map->drawing);
}

/* --- the window ------------------------------------------------------------------------------- */

static void handle_configure(void *data, struct xdg_surface *xdg_surface, uint32_t serial) {
	struct map *map = data;
	xdg_surface_ack_configure(xdg_surface, serial);
	if (!map->configured) {
		map->configured = true;
		map_draw(map);
	}
}

static const struct xdg_surface_listener xdg_surface_listener = {.configure = handle_configure};

static void handle_size(void *data, struct xdg_toplevel *toplevel, int32_t width, int32_t height,
		struct wl_array *states) {
}

static void handle_close(void *data, struct xdg_toplevel *toplevel) {
	struct map *map = data;
	sd_event_exit(map->event, EXIT_SUCCESS);
}

static const struct xdg_toplevel_listener toplevel_listener = {
		.configure = handle_size,
		.close = handle_close,
};

static bool map_init_window(struct map *map) {
	map->surface = wl_compositor_create_surface(map->wayland.compositor);
	if (map->options->role != NULL &&
			client_role_init(&map->role, &map->wayland, map->surface,
					map->options->role) < 0) {
		return false;
	}
	map->xdg_surface = xdg_wm_base_get_xdg_surface(map->wayland.wm_base, map->surface);
	xdg_surface_add_listener(map->xdg_surface, &xdg_surface_listener, map);
	map->toplevel = xdg_surface_get_toplevel(map->xdg_surface);
	xdg_toplevel_add_listener(map->toplevel, &toplevel_listener, map);
	xdg_toplevel_set_title(map->toplevel, "Map");
	xdg_toplevel_set_app_id(map->toplevel, "org.gidway.map");
	return true;
}

static void map_finish_window(struct map *map) {
	client_role_finish(&map->role);
	if (map->frame != NULL) {
		wl_callback_destroy(map->frame);
	}
	if (map->toplevel != NULL) {
		xdg_toplevel_destroy(map->toplevel);
		xdg_surface_destroy(map->xdg_surface);
	}
	wl_surface_destroy(map->surface);
}

/* --- the program ------------------------------------------------------------------------------ */

static int map_run(struct map *map) {
	const char *driver = (const char *)glGetString(GL_RENDERER);
	map->started = gid_clock_now();
	wl_surface_commit(map->surface);
	int status = main_loop_run(map->event);
	double seconds = (double)(gid_clock_now() - map->started) / 1e9;
	printf("{\"frames\": %" PRIu64 ", \"rate\": %.2f, \"shown\": %" PRIu64
	       ", \"lost\": %" PRIu64 ", \"driver\": \"%s\"}\n",
			map->frames, (double)map->frames / seconds, map->role.shown, map->role.lost,
			driver != NULL ? driver : "");
	return status;
}

/* Leaves the loop at a signal, and after --seconds. Returns 0, or -1 after saying why not. */
static int map_init_loop(struct map *map) {
	int ret = sd_event_default(&map->event);
	if (ret >= 0) {
		ret = sd_event_set_signal_exit(map->event, true);
	}
	if (ret >= 0 && map->options->seconds > 0) {
		ret = sd_event_add_time_relative(map->event, NULL, CLOCK_MONOTONIC,
				map->options->seconds * 1000000, 0, NULL, NULL);
	}
	if (ret < 0) {
		warnx("event loop: %s", strerror(-ret));
		return -1;
	}
	return 0;
}

static int run(const struct options *options) {
	struct map map = {.options = options,
			.display = EGL_NO_DISPLAY,
			.targets = {.display = EGL_NO_DISPLAY}};
	int status = EXIT_FAILURE;
	if (map_init_loop(&map) == 0 && wayland_init(&map.wayland, map.event) == 0) {
		if (map_init_window(&map) &&
				(options->udmabuf ? map_init_targets(&map) : map_init_egl(&map))) {
			status = map_run(&map);
		}
		map_finish_egl(&map);
		map_finish_window(&map);
		wayland_finish(&map.wayland);
	}
	sd_event_unref(map.event);
	return status;
}

static void set_size(void *data, const char *value, struct argp_state *state) {
	struct options *options = data;
	option_size("size", value, &options->width, &options->height, state);
}

static void set_still(void *data, const char *value, struct argp_state *state) {
	struct options *options = data;
	options->still = option_decimal("still", value, 0, STILL_MAX, state);
}

#define MEMBER(member) OPTION_MEMBER(struct options, member)

static const struct option_row rows[] = {
		{OPTION_OWN, "size", 'S', "WIDTHxHEIGHT", "Size of the picture (default: 640x480)",
				.set = set_size},
		{OPTION_TEXT, "role", 0, "NAME",
				"Give the map this safety role, by which the compositor forwards it",
				MEMBER(role)},
		{OPTION_OWN, "still", 0, "METRES", "Stand still at this place of the way",
				.set = set_still},
		{OPTION_SWITCH, "udmabuf", 0, NULL,
				"Draw into dma-bufs of /dev/udmabuf, as a graphics card has them",
				MEMBER(udmabuf)},
		{OPTION_NUMBER, "seconds", 't', "N", "End after N seconds", MEMBER(seconds),
				.most = UINT32_MAX},
};

int main(int argc, char **argv) {
	static const struct command_line line = {
			COMMAND_LINE_ROWS(rows),
			.help = "Shows a moving map, drawn with OpenGL ES, in a window of a Wayland "
				"compositor, and at the end writes a line of JSON.",
	};
	struct options options = {.width = 640, .height = 480, .still = -1};
	standard_streams_init();
	command_line_parse(&line, argc, argv, &options);
	return run(&options);
}
