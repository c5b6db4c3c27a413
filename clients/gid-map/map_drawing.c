// SPDX-License-Identifier: MIT
#include "map_drawing.h"

#include <err.h>
#include <math.h>
#include <stddef.h>

#define CORNER 0 /* of the shader's attributes */

static const char vertex_source[] = "attribute vec2 corner;\n"
				    "void main() { gl_Position = vec4(corner, 0.0, 1.0); }\n";

/* One road each 40 metres, a wide one each 200, blocks of houses and parks between, and the car. */
static const char fragment_source[] =
		"precision highp float;\n"
		"uniform vec2 size, place, turn, rows;\n"
		"float away(float at, float each) { return abs(mod(at + each / 2.0, each) - each / "
		"2.0); }\n"
		"void main() {\n"
		"  vec2 point = vec2(gl_FragCoord.x, rows.x + rows.y * gl_FragCoord.y);\n"
		"  vec2 seen = point - vec2(size.x / 2.0, size.y / 3.0);\n"
		"  vec2 at = place + vec2(seen.x * turn.x - seen.y * turn.y,\n"
		"                         seen.x * turn.y + seen.y * turn.x) * 0.5;\n"
		"  vec2 block = floor(at / 40.0);\n"
		"  float kind = mod(block.x * 7.0 + block.y * 3.0, 5.0);\n"
		"  vec3 colour = kind < 1.0 ? vec3(0.27, 0.45, 0.25) : vec3(0.20, 0.21, 0.24) + kind "
		"* 0.01;\n"
		"  if (min(away(at.x, 40.0), away(at.y, 40.0)) < 2.0) colour = vec3(0.55);\n"
		"  if (min(away(at.x, 200.0), away(at.y, 200.0)) < 4.0) colour = vec3(0.93, 0.77, "
		"0.35);\n"
		"  float car = abs(seen.x) * 2.0 + seen.y;\n"
		"  if (seen.y > -8.0 && car < 14.0) colour = vec3(0.20, 0.55, 1.0);\n"
		"  gl_FragColor = vec4(colour, 1.0);\n"
		"}\n";

static GLuint compile(GLenum kind, const char *source) {
	GLuint shader = glCreateShader(kind);
	GLint compiled = GL_FALSE;
	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
	if (!compiled) {
		char text[512] = "";
		glGetShaderInfoLog(shader, sizeof(text), NULL, text);
		warnx("the driver does not compile the map's shader: %s", text);
	}
	return shader;
}

bool map_drawing_init(struct map_drawing *drawing) {
	GLuint vertex = compile(GL_VERTEX_SHADER, vertex_source);
	GLuint fragment = compile(GL_FRAGMENT_SHADER, fragment_source);
	GLint linked = GL_FALSE;
	drawing->program = glCreateProgram();
	glAttachShader(drawing->program, vertex);
	glAttachShader(drawing->program, fragment);
	glBindAttribLocation(drawing->program, CORNER, "corner");
	glLinkProgram(drawing->program);
	glDeleteShader(vertex);
	glDeleteShader(fragment);
	glGetProgramiv(drawing->program, GL_LINK_STATUS, &linked);
	if (!linked) {
		warnx("the driver does not link the map's shaders");
		return false;
	}
	drawing->size = glGetUniformLocation(drawing->program, "size");
	drawing->place = glGetUniformLocation(drawing->program, "place");
	drawing->turn = glGetUniformLocation(drawing->program, "turn");
	drawing->rows = glGetUniformLocation(drawing->program, "rows");
	return true;
}

void map_drawing_finish(struct map_drawing *drawing) {
	glDeleteProgram(drawing->program);
}

void map_drawing_draw(const struct map_drawing *drawing, int width, int height, bool down,
		double metres) {
	static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
	/* Round a large circle, so that it never leaves the numbers that a GPU is good at. */
	double angle = metres / 500;
	glViewport(0, 0, width, height);
	glUseProgram(drawing->program);
	glUniform2f(drawing->size, (GLfloat)width, (GLfloat)height);
	glUniform2f(drawing->place, (GLfloat)(500 * cos(angle)), (GLfloat)(500 * sin(angle)));
	glUniform2f(drawing->turn, (GLfloat)cos(angle), (GLfloat)sin(angle));
	glUniform2f(drawing->rows, down ? (GLfloat)height : 0, down ? -1 : 1);
	glVertexAttribPointer(CORNER, 2, GL_FLOAT, GL_FALSE, 0, corners);
	glEnableVertexAttribArray(CORNER);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}
