// SPDX-License-Identifier: MIT
/* A map that moves and turns, drawn by a GPU with OpenGL ES 2. */
#ifndef GID_MAP_MAP_DRAWING_H
#define GID_MAP_MAP_DRAWING_H

#include <GLES2/gl2.h>
#include <stdbool.h>

struct map_drawing {
	GLuint program;
	GLint size, place, turn, rows;
};

/* With a context current. Returns false after saying on stderr what is wrong. */
bool map_drawing_init(struct map_drawing *drawing);
void map_drawing_finish(struct map_drawing *drawing);

/*
 * Draws the map after `metres` of the way. `down`: row 0 of the memory is the top of the picture,
 * as in buffers; otherwise the bottom, as in windows.
 */
void map_drawing_draw(
		const struct map_drawing *drawing, int width, int height, bool down, double metres);

#endif
