// SPDX-License-Identifier: MIT
/* Where a picture lies in its window. */
#include "common/window.h"

#include "tap.h"

static bool lies(const struct window *window, struct box box) {
	struct box found = window_picture_box(window);
	return found.x == box.x && found.y == box.y && found.width == box.width &&
			found.height == box.height;
}

int main(void) {
	struct window window = {.width = 800, .height = 360};
	tap_ok(lies(&window, (struct box){0, 0, 0, 0}), "nowhere, before there is one");
	window.picture_width = 640;
	tap_ok(lies(&window, (struct box){0, 0, 0, 0}), "nor while it has no height");
	window.picture_height = 360;
	tap_ok(lies(&window, (struct box){80, 0, 640, 360}), "in the middle");
	window.picture_width = 320;
	window.picture_height = 40;
	tap_ok(lies(&window, (struct box){0, 130, 800, 100}), "as large as fits");
	window.options.place = (struct box){10, 20, 320, 80};
	tap_ok(lies(&window, (struct box){10, 40, 320, 40}), "in the place that the user chose");
	window.options.place = (struct box){0};
	window.width = 2000;
	window.height = 3;
	window.picture_width = 3000;
	window.picture_height = 5;
	window.scale.value = 180;
	tap_ok(lies(&window, (struct box){0, 0, 2000, 3}),
			"pixel by pixel, where it has as many as the window has on its screen");
	window.picture_height = 6;
	tap_ok(lies(&window, (struct box){250, 0, 1500, 3}), "else as large as fits");
	return tap_finish();
}
