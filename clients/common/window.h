// SPDX-License-Identifier: MIT
/*
 * A window with one picture in it: an xdg_toplevel whose root surface is the plain background, and
 * a desynchronised subsurface for the picture, scaled into its place with its aspect ratio kept. A
 * third surface, the veil, dims a picture that is out of date. A program's window that is only a
 * little smaller than its place, such as one with rows of letters, is not scaled. A picture that
 * follows the window's size has the pixels of its screen, a program's window those of its program.
 *
 * Pointer, touch and keyboard belong to the root surface, everywhere in the window; without a
 * background only on the picture.
 *
 * The owner draws: it attaches buffers to `picture` and commits it. The window only lays out.
 */
#ifndef CLIENTS_WINDOW_H
#define CLIENTS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "output.h"
#include "surface_scale.h"
#include "wayland.h"

struct box {
	int32_t x, y, width, height; // pixels; width 0: not set
};

struct window_options {
	const char *title, *app_id;
	bool fullscreen, maximized;
	bool leads; // the picture follows the window's size, so that does not follow the picture's
	bool takes_input;      // pointer and fingers are wanted, also without a background
	const char *output;    // the name of that to be full-screen on; NULL: any
	int32_t width, height; // of the window; 0: the picture's
	struct box place;      // of the picture in the window; width 0: all of it
	uint32_t background;   // 0xRRGGBBAA
	uint32_t veil;	       // the same; opacity 0: none
};

struct window {
	struct wayland *wayland;
	struct window_options options;
	struct output_watch watch; // of the options' output; zeroes: any will do
	struct wl_surface *root, *picture;
	struct wl_subsurface *subsurface;
	struct wl_buffer *background; // one pixel
	struct veil {
		struct wl_surface *surface; // NULL: there is none now
		struct wl_subsurface *subsurface;
		struct wp_viewport *viewport;
		struct wl_buffer *buffer;
	} veil;
	struct xdg_surface *xdg_surface;
	struct xdg_toplevel *toplevel; // NULL: it is withdrawn
	struct wp_viewport *root_viewport, *picture_viewport;
	int32_t width, height;		       // of the window; 0: not known yet
	int32_t picture_width, picture_height; // before scaling; 0: not known yet
	struct surface_scale scale;	       // of the picture; zeroes: 1
	int32_t next_width, next_height;       // what the compositor wants; 0: our choice
	uint32_t serial;		       // of the last configure
	bool configured;
	bool mapped;		   // the picture may be drawn
	bool blank;		   // the owner shows no picture: there is nothing to point at
	bool of_program;	   // the picture is a program's window, and has no cursor in it
	bool without_cursor;	   // so does any other picture, as its producer says
	void (*ready)(void *data); // the compositor has agreed: look at `mapped`
	/*
	 * Its size or the scale of its screen changed, or is known for the first time; may be NULL.
	 */
	void (*resized)(void *data);
	void (*closed)(void *data); // the user closed the window
	void *data;
};

/*
 * Asks for the window. It appears once the compositor has configured it and the picture's size is
 * known. Returns 0, or -1 after saying so if there is no such output. What the options point to
 * must outlive it.
 */
int window_init(struct window *window, struct wayland *wayland,
		const struct window_options *options);
void window_finish(struct window *window);

/* Replaces the option; the text must outlive the window. */
void window_set_title(struct window *window, const char *title);
void window_set_app_id(struct window *window, const char *app_id);

/* Sets the size of the picture as it is shown, after crop and transform, in square pixels. */
void window_set_picture_size(struct window *window, int32_t width, int32_t height);

/*
 * The picture is a program's window that has so many pixels in each unit of its size, in 120ths; 0:
 * one. Nothing is done for a picture that follows the window's size.
 */
void window_set_picture_scale(struct window *window, uint32_t scale);

/* Removes the window from the desktop, until window_set_picture_size() is called again. */
void window_withdraw(struct window *window);

/* Whether the window's size is the compositor's or the user's choice, not the picture's. */
bool window_has_own_size(const struct window *window);

/* The area of the window that a picture may fill, as it was laid out last. */
struct box window_area(const struct window *window);

/* The size of the picture that fits there, in pixels. */
void window_get_pixels(const struct window *window, int32_t *width, int32_t *height);

/* Where the picture lies in the window; of no size where there is none. */
struct box window_picture_box(const struct window *window);

/* Shows or hides the veil. It is shown only while the window is mapped. */
void window_set_veiled(struct window *window, bool veiled);

#endif
