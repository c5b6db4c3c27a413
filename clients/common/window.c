// SPDX-License-Identifier: MIT
#include "window.h"

#include <sys/mman.h>
#include <unistd.h>

#include "single-pixel-buffer-v1-client-protocol.h"
#include "viewporter-client-protocol.h"
#include "xdg-shell-client-protocol.h"

#define VEIL_SIZE 4u
/* A program's window may be smaller than asked by less than this, and is not scaled then. */
#define STEP_MAX 48

struct box window_area(const struct window *window) {
	if (window->options.place.width > 0) {
		return window->options.place;
	}
	return (struct box){0, 0, window->width, window->height};
}

/* The largest box of the picture's aspect ratio in the middle of the area. */
static struct box fit_picture(struct box area, int32_t width, int32_t height) {
	struct box fit = area;
	if ((int64_t)area.width * height > (int64_t)area.height * width) {
		fit.width = (int32_t)(((int64_t)area.height * width + height / 2) / height);
	} else {
		fit.height = (int32_t)(((int64_t)area.width * height + width / 2) / width);
	}
	fit.width = fit.width > 0 ? fit.width : 1;
	fit.height = fit.height > 0 ? fit.height : 1;
	fit.x += (area.width - fit.width) / 2;
	fit.y += (area.height - fit.height) / 2;
	return fit;
}

static uint32_t channel(uint32_t color, int shift) {
	return ((color >> shift) & 0xff) * 0x01010101u;
}

static struct wl_buffer *make_background(struct window *window) {
	uint32_t color = window->options.background;
	uint64_t opacity = color & 0xff;
	return wp_single_pixel_buffer_manager_v1_create_u32_rgba_buffer(
			window->wayland->single_pixel,
			(uint32_t)(channel(color, 24) * opacity / 0xff),
			(uint32_t)(channel(color, 16) * opacity / 0xff),
			(uint32_t)(channel(color, 8) * opacity / 0xff), channel(color, 0));
}

/*
 * A fully transparent background stays one pixel large, unless input is wanted: stretched over the
 * window it would make the compositor blend nothing over everything below.
 */
static bool is_stretched(const struct window *window) {
	return (window->options.background & 0xff) > 0 || window->options.takes_input;
}

static void draw_background(struct window *window) {
	uint32_t opacity = window->options.background & 0xff;
	wl_surface_attach(window->root, window->background, 0, 0);
	wl_surface_damage_buffer(window->root, 0, 0, INT32_MAX, INT32_MAX);
	if (is_stretched(window)) {
		wp_viewport_set_destination(window->root_viewport, window->width, window->height);
	}
	struct wl_region *opaque = wl_compositor_create_region(window->wayland->compositor);
	if (opacity == 0xff) {
		wl_region_add(opaque, 0, 0, window->width, window->height);
	}
	wl_surface_set_opaque_region(window->root, opaque);
	wl_region_destroy(opaque);
}

/* --- the veil --------------------------------------------------------------------------------- */

/*
 * A buffer of one colour, of which only the middle is shown. Compositors that scale smoothly would
 * blend the edges of a single stretched pixel with nothing.
 */
static struct wl_buffer *make_veil(struct wl_shm *shm, uint32_t color) {
	uint32_t pixels[VEIL_SIZE * VEIL_SIZE], opacity = color & 0xff, value = opacity << 24;
	for (int shift = 24, to = 16; to >= 0; shift -= 8, to -= 8) {
		value |= ((color >> shift & 0xff) * opacity / 0xff) << to;
	}
	for (size_t i = 0; i < VEIL_SIZE * VEIL_SIZE; i++) {
		pixels[i] = value;
	}
	int fd = memfd_create("veil", MFD_CLOEXEC);
	if (fd < 0 || write(fd, pixels, sizeof(pixels)) != sizeof(pixels)) {
		close(fd);
		return NULL;
	}
	struct wl_shm_pool *pool = wl_shm_create_pool(shm, fd, sizeof(pixels));
	struct wl_buffer *buffer = wl_shm_pool_create_buffer(pool, 0, VEIL_SIZE, VEIL_SIZE,
			VEIL_SIZE * sizeof(pixels[0]), WL_SHM_FORMAT_ARGB8888);
	wl_shm_pool_destroy(pool);
	close(fd);
	return buffer;
}

/*
 * The root surface takes pointer and touch for the whole window: compositors lock the pointer only
 * to a surface that has the keyboard, which a subsurface never has.
 */
static void take_no_input(struct wl_compositor *compositor, struct wl_surface *surface) {
	struct wl_region *nothing = wl_compositor_create_region(compositor);
	wl_surface_set_input_region(surface, nothing);
	wl_region_destroy(nothing);
}

static void veil_create(struct window *window) {
	struct veil *veil = &window->veil;
	struct wayland *wayland = window->wayland;
	veil->buffer = make_veil(wayland->shm, window->options.veil);
	if (veil->buffer == NULL) {
		return;
	}
	veil->surface = wl_compositor_create_surface(wayland->compositor);
	take_no_input(wayland->compositor, veil->surface);
	veil->subsurface = wl_subcompositor_get_subsurface(
			wayland->subcompositor, veil->surface, window->root);
	wl_subsurface_set_desync(veil->subsurface);
	veil->viewport = wp_viewporter_get_viewport(wayland->viewporter, veil->surface);
	wp_viewport_set_source(veil->viewport, wl_fixed_from_int(1), wl_fixed_from_int(1),
			wl_fixed_from_int(VEIL_SIZE - 2), wl_fixed_from_int(VEIL_SIZE - 2));
	wl_surface_attach(veil->surface, veil->buffer, 0, 0);
	wl_surface_damage_buffer(veil->surface, 0, 0, INT32_MAX, INT32_MAX);
}

static void veil_destroy(struct veil *veil) {
	wl_buffer_destroy(veil->buffer);
	wp_viewport_destroy(veil->viewport);
	wl_subsurface_destroy(veil->subsurface);
	wl_surface_destroy(veil->surface);
	*veil = (struct veil){0};
}

static void veil_layout(struct veil *veil, struct box box) {
	wl_subsurface_set_position(veil->subsurface, box.x, box.y);
	wp_viewport_set_destination(veil->viewport, box.width, box.height);
	wl_surface_commit(veil->surface);
}

/* --- the window ------------------------------------------------------------------------------- */

void window_get_pixels(const struct window *window, int32_t *width, int32_t *height) {
	struct box area = window_area(window);
	*width = surface_scale_to_pixels(&window->scale, area.width);
	*height = surface_scale_to_pixels(&window->scale, area.height);
}

/* In units of the window: no picture is so small that it has none. */
static int32_t window_length(const struct window *window, int32_t pixels) {
	int32_t length = surface_scale_from_pixels(&window->scale, pixels);
	return length > 0 ? length : 1;
}

static bool is_step(int32_t rest) {
	return rest >= 0 && rest < STEP_MAX;
}

struct box window_picture_box(const struct window *window) {
	struct box area = window_area(window);
	int32_t width = window->picture_width, height = window->picture_height;
	if (width <= 0 || height <= 0) {
		return (struct box){area.x, area.y, 0, 0};
	}
	int32_t own_width = window_length(window, width);
	int32_t own_height = window_length(window, height);
	int32_t beside = area.width - own_width, below = area.height - own_height;
	if (window->of_program && is_step(beside) && is_step(below)) {
		return (struct box){area.x + beside / 2, area.y + below / 2, own_width, own_height};
	}
	int32_t full_width, full_height;
	window_get_pixels(window, &full_width, &full_height);
	if (width == full_width && height == full_height) {
		return area; /* the picture has exactly the screen's pixels: no rounding */
	}
	return fit_picture(area, width, height);
}

/* Without a background, input beside the picture belongs to the windows below. */
static void limit_input(struct window *window, struct box box) {
	struct wl_region *region = wl_compositor_create_region(window->wayland->compositor);
	wl_region_add(region, box.x, box.y, box.width, box.height);
	wl_surface_set_input_region(window->root, region);
	wl_region_destroy(region);
}

static void window_layout(struct window *window) {
	struct box box = window_picture_box(window);
	xdg_surface_set_window_geometry(window->xdg_surface, 0, 0, window->width, window->height);
	draw_background(window);
	if ((window->options.background & 0xff) == 0 && window->options.takes_input) {
		limit_input(window, box);
	}
	wl_subsurface_set_position(window->subsurface, box.x, box.y);
	wp_viewport_set_destination(window->picture_viewport, box.width, box.height);
	wl_surface_commit(window->picture);
	if (window->veil.surface != NULL) {
		veil_layout(&window->veil, box);
	}
	wl_surface_commit(window->root);
}

void window_set_veiled(struct window *window, bool veiled) {
	bool is_veiled = window->veil.surface != NULL;
	veiled = veiled && window->mapped && (window->options.veil & 0xff) > 0 &&
			window->wayland->shm != NULL;
	if (veiled && !is_veiled) {
		veil_create(window);
		window_layout(window);
	} else if (!veiled && is_veiled) {
		veil_destroy(&window->veil);
	}
}

bool window_has_own_size(const struct window *window) {
	return (window->next_width > 0 && window->next_height > 0) ||
			(window->options.width > 0 && window->options.height > 0);
}

/* The size that the compositor wants, else that of the options, else the picture's. */
static void window_choose_size(struct window *window) {
	const struct window_options *options = &window->options;
	if (window->next_width > 0 && window->next_height > 0) {
		window->width = window->next_width;
		window->height = window->next_height;
	} else if (!options->leads || window->width == 0) {
		window->width = options->width > 0 ? options->width
						   : window_length(window, window->picture_width);
		window->height = options->height > 0
				? options->height
				: window_length(window, window->picture_height);
	}
}

static void window_update(struct window *window) {
	if (!window->configured || window->picture_width == 0) {
		return;
	}
	int32_t width = window->width, height = window->height;
	window_choose_size(window);
	if (window->serial != 0) {
		xdg_surface_ack_configure(window->xdg_surface, window->serial);
		window->serial = 0;
	}
	window_layout(window);
	window->mapped = true;
	if (window->resized != NULL && (window->width != width || window->height != height)) {
		window->resized(window->data);
	}
}

static void xdg_surface_configure(void *data, struct xdg_surface *xdg_surface, uint32_t serial) {
	struct window *window = data;
	window->serial = serial;
	window->configured = true;
	window_update(window);
	window->ready(window->data);
}

static const struct xdg_surface_listener xdg_surface_listener = {
		.configure = xdg_surface_configure,
};

static void toplevel_configure(void *data, struct xdg_toplevel *toplevel, int32_t width,
		int32_t height, struct wl_array *states) {
	struct window *window = data;
	window->next_width = width;
	window->next_height = height;
}

static void toplevel_close(void *data, struct xdg_toplevel *toplevel) {
	struct window *window = data;
	window->closed(window->data);
}

static const struct xdg_toplevel_listener toplevel_listener = {
		.configure = toplevel_configure,
		.close = toplevel_close,
};

/* --- life ------------------------------------------------------------------------------------- */

static void handle_scale_changed(void *data) {
	struct window *window = data;
	if (!window->mapped) {
		return;
	}
	window_layout(window);
	if (window->resized != NULL) {
		window->resized(window->data);
	}
}

static void ask_for_fullscreen(struct window *window) {
	const struct output *output = window->watch.output;
	xdg_toplevel_set_fullscreen(window->toplevel, output != NULL ? output->base : NULL);
}

/*
 * Without its output the window fills the one where the compositor has put it: some compositors
 * would leave it at its old size.
 */
static void handle_output_changed(void *data) {
	struct window *window = data;
	if (window->toplevel != NULL) {
		ask_for_fullscreen(window);
	}
}

/* Returns -1 if there is no such output: then the window is on any. */
static int find_output(struct window *window) {
	const char *name = window->options.output;
	if (name == NULL) {
		return 0;
	}
	return output_watch_init(&window->watch, window->wayland->display, name,
			handle_output_changed, window);
}

static void choose_place(struct window *window) {
	if (window->options.fullscreen) {
		ask_for_fullscreen(window);
	} else if (window->options.maximized) {
		xdg_toplevel_set_maximized(window->toplevel);
	}
}

static void create_toplevel(struct window *window) {
	window->xdg_surface = xdg_wm_base_get_xdg_surface(window->wayland->wm_base, window->root);
	xdg_surface_add_listener(window->xdg_surface, &xdg_surface_listener, window);
	window->toplevel = xdg_surface_get_toplevel(window->xdg_surface);
	xdg_toplevel_add_listener(window->toplevel, &toplevel_listener, window);
	xdg_toplevel_set_title(window->toplevel, window->options.title);
	xdg_toplevel_set_app_id(window->toplevel, window->options.app_id);
	choose_place(window);
	wl_surface_commit(window->root);
}

static void destroy_toplevel(struct window *window) {
	if (window->toplevel != NULL) {
		xdg_toplevel_destroy(window->toplevel);
		xdg_surface_destroy(window->xdg_surface);
		window->toplevel = NULL;
		window->xdg_surface = NULL;
	}
}

void window_set_title(struct window *window, const char *title) {
	window->options.title = title;
	if (window->toplevel != NULL) {
		xdg_toplevel_set_title(window->toplevel, title);
	}
}

void window_set_app_id(struct window *window, const char *app_id) {
	window->options.app_id = app_id;
	if (window->toplevel != NULL) {
		xdg_toplevel_set_app_id(window->toplevel, app_id);
	}
}

void window_set_picture_size(struct window *window, int32_t width, int32_t height) {
	if (window->picture_width == width && window->picture_height == height) {
		return;
	}
	window->picture_width = width;
	window->picture_height = height;
	if (window->toplevel == NULL) {
		create_toplevel(window);
	}
	window_update(window);
}

void window_set_picture_scale(struct window *window, uint32_t scale) {
	if (window->options.leads || window->scale.value == (int32_t)scale) {
		return;
	}
	window->scale.value = (int32_t)scale;
	window_update(window);
	if (window->mapped && window->resized != NULL) {
		window->resized(window->data);
	}
}

void window_withdraw(struct window *window) {
	window_set_veiled(window, false);
	destroy_toplevel(window);
	wl_surface_attach(window->root, NULL, 0, 0);
	wl_surface_commit(window->root);
	window->width = window->height = 0;
	window->picture_width = window->picture_height = 0;
	window->next_width = window->next_height = 0;
	window->serial = 0;
	window->configured = window->mapped = false;
}

int window_init(struct window *window, struct wayland *wayland,
		const struct window_options *options) {
	*window = (struct window){.wayland = wayland, .options = *options, .blank = true};
	window->root = wl_compositor_create_surface(wayland->compositor);
	window->picture = wl_compositor_create_surface(wayland->compositor);
	if (is_stretched(window)) {
		take_no_input(wayland->compositor, window->picture);
	}
	window->subsurface = wl_subcompositor_get_subsurface(
			wayland->subcompositor, window->picture, window->root);
	wl_subsurface_set_desync(window->subsurface);
	window->root_viewport = wp_viewporter_get_viewport(wayland->viewporter, window->root);
	window->picture_viewport = wp_viewporter_get_viewport(wayland->viewporter, window->picture);
	window->background = make_background(window);
	if (options->leads) {
		surface_scale_init(&window->scale, wayland->display, window->root,
				handle_scale_changed, window);
	}
	int result = find_output(window);
	create_toplevel(window);
	return result;
}

void window_finish(struct window *window) {
	if (window->root == NULL) {
		return;
	}
	window_set_veiled(window, false);
	surface_scale_finish(&window->scale);
	output_watch_finish(&window->watch);
	wp_viewport_destroy(window->picture_viewport);
	wp_viewport_destroy(window->root_viewport);
	wl_subsurface_destroy(window->subsurface);
	wl_surface_destroy(window->picture);
	destroy_toplevel(window);
	wl_surface_destroy(window->root);
	wl_buffer_destroy(window->background);
	*window = (struct window){0};
}
