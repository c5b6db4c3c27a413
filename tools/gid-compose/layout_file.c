// SPDX-License-Identifier: MIT
#include "layout_file.h"

#include <ctype.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS_MAX 60u /* an engine takes 64 pictures for one list */
#define RATE_MAX 1000

struct reading {
	struct layout_file *layout;
	FILE *file, *errors;
	const char *name;
	unsigned line, section; /* the line, and that where its section begins */
	unsigned canvas;	/* where [canvas] begins */
	bool section_is_empty;
	int result;
};

static __attribute__((format(printf, 2, 3))) void mistake(
		struct reading *reading, const char *format, ...) {
	va_list args;
	fprintf(reading->errors, "%s:%u: ", reading->name, reading->line);
	va_start(args, format);
	vfprintf(reading->errors, format, args);
	va_end(args);
	fputc('\n', reading->errors);
	reading->result = -EINVAL;
}

/* --- values ----------------------------------------------------------------------------------- */

/* A number at the begin of `text`, which is followed by `end`. Sets `*after` behind that. */
static bool parse_number(const char *text, char end, long *number, const char **after) {
	char *stop;
	if (!isdigit((unsigned char)text[0]) && text[0] != '-') {
		return false;
	}
	errno = 0;
	*number = strtol(text, &stop, 10);
	if (stop == text || *stop != end || errno != 0) {
		return false;
	}
	*after = stop + (end != '\0');
	return true;
}

static long read_number(struct reading *reading, const char *key, const char *value, long least,
		long most) {
	const char *after;
	long number;
	if (!parse_number(value, '\0', &number, &after) || number < least || number > most) {
		mistake(reading, "%s=%s is not a number from %ld to %ld", key, value, least, most);
		return least;
	}
	return number;
}

static void set_text(struct reading *reading, char **text, const char *value) {
	free(*text);
	*text = strdup(value);
	if (*text == NULL) {
		reading->result = -ENOMEM;
	}
}

static void read_name(struct reading *reading, const char *key, const char *value, bool is_stream,
		char **text) {
	set_text(reading, text, value);
	if (!gid_name_is_valid(value) || (!is_stream && strchr(value, '/') != NULL)) {
		mistake(reading, "%s=%s cannot be the name of a %s", key, value,
				is_stream ? "stream" : "domain");
	}
}

/* One of these words; their number. */
static uint32_t read_word(struct reading *reading, const char *key, const char *value,
		const char *const words[]) {
	for (uint32_t i = 0; words[i] != NULL; i++) {
		if (strcmp(value, words[i]) == 0) {
			return i;
		}
	}
	mistake(reading, "%s=%s is not known; the first of those that are is %s", key, value,
			words[0]);
	return 0;
}

static uint8_t read_alpha(struct reading *reading, const char *value) {
	char *end;
	double alpha = strtod(value, &end);
	if ((!isdigit((unsigned char)value[0]) && value[0] != '.') || *end != '\0' ||
			!(alpha >= 0 && alpha <= 1)) {
		mistake(reading, "alpha=%s is not a number from 0 to 1", value);
		return 255;
	}
	return (uint8_t)(alpha * 255 + 0.5);
}

static uint32_t read_colour(struct reading *reading, const char *value) {
	if (value[0] != '#' || strlen(value) != 7 ||
			strspn(value + 1, "0123456789abcdefABCDEF") != 6) {
		mistake(reading, "background=%s is not a colour such as #204080", value);
		return 0xff000000;
	}
	return 0xff000000 | (uint32_t)strtoul(value + 1, NULL, 16);
}

static struct gid_box read_box(struct reading *reading, const char *value) {
	const char *at = value;
	long numbers[4];
	const char ends[4] = {',', ',', 'x', '\0'};
	for (size_t i = 0; i < 4; i++) {
		if (!parse_number(at, ends[i], &numbers[i], &at) || numbers[i] < (i >= 2) ||
				numbers[i] > (long)GID_SIZE_MAX) {
			mistake(reading, "source=%s is not a box such as 10,20,640x360", value);
			return (struct gid_box){0};
		}
	}
	return (struct gid_box){(int32_t)numbers[0], (int32_t)numbers[1], (int32_t)numbers[2],
			(int32_t)numbers[3]};
}

/* --- keys and sections ------------------------------------------------------------------------ */

static void canvas_key(struct reading *reading, const char *key, const char *value) {
	static const char *const formats[] = {"XRGB8888", "ARGB8888", "XBGR8888", "ABGR8888",
			"BGRX8888", "BGRA8888", "RGBX8888", "RGBA8888", "RGB565", NULL};
	static const uint32_t fourccs[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_ARGB8888,
			DRM_FORMAT_XBGR8888, DRM_FORMAT_ABGR8888, DRM_FORMAT_BGRX8888,
			DRM_FORMAT_BGRA8888, DRM_FORMAT_RGBX8888, DRM_FORMAT_RGBA8888,
			DRM_FORMAT_RGB565};
	struct layout_file *layout = reading->layout;
	if (strcmp(key, "engine") == 0) {
		read_name(reading, key, value, false, &layout->engine);
	} else if (strcmp(key, "name") == 0) {
		read_name(reading, key, value, true, &layout->canvas);
	} else if (strcmp(key, "width") == 0) {
		layout->width = (uint32_t)read_number(reading, key, value, 1, GID_SIZE_MAX);
	} else if (strcmp(key, "height") == 0) {
		layout->height = (uint32_t)read_number(reading, key, value, 1, GID_SIZE_MAX);
	} else if (strcmp(key, "rate") == 0) {
		layout->rate = (uint32_t)read_number(reading, key, value, 1, RATE_MAX);
	} else if (strcmp(key, "format") == 0) {
		layout->fourcc = fourccs[read_word(reading, key, value, formats)];
	} else if (strcmp(key, "background") == 0) {
		layout->background = read_colour(reading, value);
	} else {
		mistake(reading, "the canvas has no \"%s\"", key);
	}
}

static void layer_key(struct reading *reading, struct layer_config *layer, const char *key,
		const char *value) {
	static const char *const turns[] = {"0", "90", "180", "270", "flipped", "flipped-90",
			"flipped-180", "flipped-270", NULL};
	static const char *const filters[] = {"bilinear", "nearest", NULL};
	static const char *const encodings[] = {"auto", "bt601", "bt709", NULL};
	static const char *const ranges[] = {"auto", "limited", "full", NULL};
	static const char *const alphas[] = {"auto", "multiplied", "straight", NULL};
	if (strcmp(key, "stream") == 0) {
		read_name(reading, key, value, true, &layer->stream);
	} else if (strcmp(key, "domain") == 0) {
		read_name(reading, key, value, false, &layer->domain);
	} else if (strcmp(key, "x") == 0) {
		layer->x = (int16_t)read_number(reading, key, value, INT16_MIN, INT16_MAX);
	} else if (strcmp(key, "y") == 0) {
		layer->y = (int16_t)read_number(reading, key, value, INT16_MIN, INT16_MAX);
	} else if (strcmp(key, "width") == 0) {
		layer->width = (uint16_t)read_number(reading, key, value, 1, UINT16_MAX);
	} else if (strcmp(key, "height") == 0) {
		layer->height = (uint16_t)read_number(reading, key, value, 1, UINT16_MAX);
	} else if (strcmp(key, "z") == 0) {
		layer->z = (int32_t)read_number(reading, key, value, -1000000, 1000000);
	} else if (strcmp(key, "alpha") == 0) {
		layer->alpha = read_alpha(reading, value);
	} else if (strcmp(key, "turn") == 0) {
		layer->turn = (uint8_t)read_word(reading, key, value, turns);
	} else if (strcmp(key, "source") == 0) {
		layer->source = read_box(reading, value);
	} else if (strcmp(key, "filter") == 0) {
		layer->nearest = read_word(reading, key, value, filters) == 1;
	} else if (strcmp(key, "colours") == 0) {
		layer->bt709 = read_word(reading, key, value, encodings);
	} else if (strcmp(key, "range") == 0) {
		layer->full_range = read_word(reading, key, value, ranges);
	} else if (strcmp(key, "pixels") == 0) {
		layer->straight = read_word(reading, key, value, alphas);
	} else {
		mistake(reading, "a layer has no \"%s\"", key);
	}
}

static struct layer_config *find_layer(struct reading *reading, const char *name) {
	struct layout_file *layout = reading->layout;
	for (size_t i = 0; i < layout->layer_count; i++) {
		if (strcmp(layout->layers[i].name, name) == 0) {
			return &layout->layers[i];
		}
	}
	if (layout->layer_count == LAYERS_MAX) {
		mistake(reading, "more than %u layers", LAYERS_MAX);
		return NULL;
	}
	struct layer_config *layers =
			reallocarray(layout->layers, layout->layer_count + 1, sizeof(*layers));
	if (layers == NULL) {
		reading->result = -ENOMEM;
		return NULL;
	}
	layout->layers = layers;
	char *copy = strdup(name);
	if (copy == NULL) {
		reading->result = -ENOMEM;
		return NULL;
	}
	struct layer_config *layer = &layers[layout->layer_count++];
	*layer = (struct layer_config){.name = copy, .line = reading->section, .alpha = 255};
	return layer;
}

static int handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	reading->section_is_empty = false;
	if (strcmp(section, "canvas") == 0) {
		reading->canvas = reading->section;
		canvas_key(reading, key, value);
	} else if (strncmp(section, "layer ", 6) == 0) {
		struct layer_config *layer = find_layer(reading, section + 6);
		if (layer != NULL) {
			layer_key(reading, layer, key, value);
		}
	} else {
		mistake(reading, "unknown section [%s]; there are [canvas] and [layer NAME]",
				section);
	}
	return 1;
}

/* A layer without a key would otherwise not be there, without a word. */
static void end_section(struct reading *reading) {
	if (reading->section_is_empty) {
		reading->line = reading->section;
		mistake(reading, "a section without a key");
	}
	reading->section_is_empty = false;
}

/* fgets() for inih, which tells its handler neither lines nor sections without a key. */
static char *read_line(char *buffer, int size, void *data) {
	struct reading *reading = data;
	char *line = fgets(buffer, size, reading->file);
	unsigned number = reading->line + 1;
	if (line == NULL || line[0] == '[') {
		end_section(reading);
	}
	reading->line = number;
	if (line != NULL && line[0] == '[') {
		reading->section = number;
		reading->section_is_empty = true;
	}
	return line;
}

/* Those of one z in the order of the file. */
static int compare_layers(const void *one, const void *other) {
	const struct layer_config *a = one, *b = other;
	return a->z != b->z ? (a->z > b->z) - (a->z < b->z)
			    : (a->line > b->line) - (a->line < b->line);
}

static void complete(struct reading *reading) {
	const struct layout_file *layout = reading->layout;
	if (layout->engine == NULL || layout->canvas == NULL || layout->width == 0 ||
			layout->height == 0) {
		reading->line = reading->canvas;
		mistake(reading, "[canvas] needs engine=, name=, width= and height=");
	}
	for (size_t i = 0; i < layout->layer_count; i++) {
		const struct layer_config *layer = &layout->layers[i];
		reading->line = layer->line;
		if (layer->stream == NULL) {
			mistake(reading, "[layer %s] needs stream=", layer->name);
		}
		if ((layer->width == 0) != (layer->height == 0)) {
			mistake(reading, "[layer %s] has width= or height=, but not both",
					layer->name);
		}
	}
	if (layout->layer_count > 0) {
		qsort(layout->layers, layout->layer_count, sizeof(*layout->layers), compare_layers);
	}
}

int layout_file_read_stream(
		struct layout_file *layout, FILE *file, const char *name, FILE *errors) {
	struct reading reading = {.layout = layout,
			.file = file,
			.errors = errors,
			.name = name,
			.canvas = 1};
	*layout = (struct layout_file){
			.fourcc = DRM_FORMAT_XRGB8888, .rate = 60, .background = 0xff000000};
	int ret = ini_parse_stream(read_line, &reading, handle_key, &reading);
	if (ret > 0) {
		reading.line = (unsigned)ret;
		mistake(&reading, "neither [section] nor key=value, or a line that is too long");
	} else if (ret < 0) {
		return -ENOMEM;
	}
	complete(&reading);
	return reading.result;
}

int layout_file_read(struct layout_file *layout, const char *path, FILE *errors) {
	*layout = (struct layout_file){0};
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		int error = -errno;
		fprintf(errors, "%s: %s\n", path, strerror(-error));
		return error;
	}
	int ret = layout_file_read_stream(layout, file, path, errors);
	fclose(file);
	return ret;
}

void layout_file_finish(struct layout_file *layout) {
	for (size_t i = 0; i < layout->layer_count; i++) {
		free(layout->layers[i].name);
		free(layout->layers[i].stream);
		free(layout->layers[i].domain);
	}
	free(layout->layers);
	free(layout->engine);
	free(layout->canvas);
}
