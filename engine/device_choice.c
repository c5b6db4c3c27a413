// SPDX-License-Identifier: MIT
#include "device_choice.h"

#include <errno.h>

#ifdef ENGINE_HAS_GLES
#include "gles_drawing.h"
#endif

#define TEXT_SIZE 256

/* `*device` is NULL if that is what is asked for. */
static int make(void **device, enum canvas_back_end back_end, char *text, size_t text_size) {
	*device = NULL;
	if (back_end == CANVAS_PIXMAN) {
		snprintf(text, text_size, "drawn by pixman");
		return 0;
	}
#ifdef ENGINE_HAS_GLES
	struct gles_device *made;
	int ret = gles_device_create(&made, back_end == CANVAS_AUTO, text, text_size);
	if (ret == 0) {
		snprintf(text, text_size, "drawn by OpenGL ES: %s", made->renderer);
		*device = made;
	}
	return ret;
#else
	snprintf(text, text_size, "this gid-engine was built without OpenGL ES");
	return -ENOENT;
#endif
}

int device_choose(struct drawing *drawing, enum canvas_back_end back_end, char *text,
		size_t text_size) {
	void *device;
	int ret = make(&device, back_end, text, text_size);
#ifdef ENGINE_HAS_GLES
	if (device != NULL) {
		drawing_use(drawing, &gles_back_end, device);
	}
#endif
	return ret;
}

int device_check(const struct engine_config *config, FILE *errors) {
	for (size_t i = 0; i < config->canvas_count; i++) {
		const struct canvas_config *canvas = &config->canvases[i];
		char text[TEXT_SIZE];
		struct drawing drawing;
		if (canvas->back_end != CANVAS_GLES) {
			continue;
		}
		drawing_init(&drawing);
		int ret = device_choose(&drawing, canvas->back_end, text, sizeof(text));
		drawing_finish(&drawing);
		if (ret < 0) {
			fprintf(errors, "gid-engine: [canvas %s] backend=gles: %s, or say backend=pixman\n",
					canvas->name, text);
			return ret;
		}
	}
	return 0;
}
