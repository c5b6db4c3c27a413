// SPDX-License-Identifier: MIT
#include "layout_file.h"

#include <ctype.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ini_file.h"

#define LAYERS_MAX 60u /* an engine takes 64 pictures for one list */
#define RATE_MAX 1000

struct reading {
	struct ini_file ini;
	struct layout_file *layout;
	unsigned canvas; /* where [canvas] begins */
};

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

static void read_name(struct reading *reading, const char *key, const char *value, bool is_stream,
		char **text) {
	ini_file_text(&reading->ini, text, value);
	if (!gid_name_is_valid(value) || (!is_stream && strchr(value, '/') != NULL)) {
		ini_file_mistake(&reading->ini, "%s=%s cannot be the name of a %s", key, value,
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
	ini_file_mistake(&reading->ini, "%s=%s is not known; the first of those that are is %s",
			key, value, words[0]);
	return 0;
}

static uint8_t read_alpha(struct reading *reading, const char *value) {
	char *end;
	double alpha = strtod(value, &end);
	if ((!isdigit((unsigned char)value[0]) && value[0] != '.') || *end != '\0' ||
			!(alpha >= 0 && alpha <= 1)) {
		ini_file_mistake(&reading->ini, "alpha=%s is not a number from 0 to 1", value);
		return 255;
	}
	return (uint8_t)(alpha * 255 + 0.5);
}

static uint32_t read_colour(struct reading *reading, const char *value) {
	if (value[0] != '#' || strlen(value) != 7 ||
			strspn(value + 1, "0123456789abcdefABCDEF") != 6) {
		ini_file_mistake(&reading->ini, "background=%s is not a colour such as #204080",
				value);
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
			ini_file_mistake(&reading->ini,
					"source=%s is not a box such as 10,20,640x360", value);
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
		layout->width = (uint32_t)ini_file_number(
				&reading->ini, key, value, 1, GID_SIZE_MAX);
	} else if (strcmp(key, "height") == 0) {
		layout->height = (uint32_t)ini_file_number(
				&reading->ini, key, value, 1, GID_SIZE_MAX);
	} else if (strcmp(key, "rate") == 0) {
		layout->rate = (uint32_t)ini_file_number(&reading->ini, key, value, 1, RATE_MAX);
	} else if (strcmp(key, "format") == 0) {
		layout->fourcc = fourccs[read_word(reading, key, value, formats)];
	} else if (strcmp(key, "background") == 0) {
		layout->background = read_colour(reading, value);
	} else {
		ini_file_no_key(&reading->ini, "the canvas", key,
				"engine, name, width, height, rate, format, background");
	}
}

static void layer_key(struct reading *reading, struct layer_config *layer, const char *key,
		const char *value) {
	static const char *const turns[] = {"0", "90", "180", "270", "flipped", "flipped-90",
			"flipped-180", "flipped-270", NULL};
	static const char *const filters[] = {"bilinear", "nearest", NULL};
	static const char *const matrices[] = {
			"auto", "bt601", "bt709", "bt2020", "smpte240m", "fcc", NULL};
	static const uint8_t numbers[] = {GID_MATRIX_UNKNOWN, GID_MATRIX_BT601, GID_MATRIX_BT709,
			GID_MATRIX_BT2020, GID_MATRIX_SMPTE240M, GID_MATRIX_FCC};
	static const char *const ranges[] = {"auto", "full", "limited", NULL}; /* enum gid_range */
	static const char *const alphas[] = {"auto", "multiplied", "straight", NULL};
	if (strcmp(key, "stream") == 0) {
		read_name(reading, key, value, true, &layer->stream);
	} else if (strcmp(key, "domain") == 0) {
		read_name(reading, key, value, false, &layer->domain);
	} else if (strcmp(key, "x") == 0) {
		layer->x = (int16_t)ini_file_number(
				&reading->ini, key, value, INT16_MIN, INT16_MAX);
	} else if (strcmp(key, "y") == 0) {
		layer->y = (int16_t)ini_file_number(
				&reading->ini, key, value, INT16_MIN, INT16_MAX);
	} else if (strcmp(key, "width") == 0) {
		layer->width = (uint16_t)ini_file_number(&reading->ini, key, value, 1, UINT16_MAX);
	} else if (strcmp(key, "height") == 0) {
		layer->height = (uint16_t)ini_file_number(&reading->ini, key, value, 1, UINT16_MAX);
	} else if (strcmp(key, "z") == 0) {
		layer->z = (int32_t)ini_file_number(&reading->ini, key, value, -1000000, 1000000);
	} else if (strcmp(key, "alpha") == 0) {
		layer->alpha = read_alpha(reading, value);
	} else if (strcmp(key, "turn") == 0) {
		layer->turn = (uint8_t)read_word(reading, key, value, turns);
	} else if (strcmp(key, "source") == 0) {
		layer->source = read_box(reading, value);
	} else if (strcmp(key, "filter") == 0) {
		layer->nearest = read_word(reading, key, value, filters) == 1;
	} else if (strcmp(key, "colours") == 0) {
		layer->colours.matrix = numbers[read_word(reading, key, value, matrices)];
	} else if (strcmp(key, "range") == 0) {
		layer->colours.range = (uint8_t)read_word(reading, key, value, ranges);
	} else if (strcmp(key, "pixels") == 0) {
		layer->straight = read_word(reading, key, value, alphas);
	} else {
		ini_file_no_key(&reading->ini, "a layer", key,
				"stream, domain, x, y, width, height, z, alpha, turn, source, "
				"filter, colours, range, pixels");
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
		ini_file_mistake(&reading->ini, "more than %u layers", LAYERS_MAX);
		return NULL;
	}
	struct layer_config *layers =
			reallocarray(layout->layers, layout->layer_count + 1, sizeof(*layers));
	if (layers == NULL) {
		reading->ini.result = -ENOMEM;
		return NULL;
	}
	layout->layers = layers;
	char *copy = strdup(name);
	if (copy == NULL) {
		reading->ini.result = -ENOMEM;
		return NULL;
	}
	struct layer_config *layer = &layers[layout->layer_count++];
	*layer = (struct layer_config){.name = copy, .line = reading->ini.section, .alpha = 255};
	return layer;
}

static void handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	if (strcmp(section, "canvas") == 0) {
		reading->canvas = reading->ini.section;
		canvas_key(reading, key, value);
	} else if (strncmp(section, "layer ", 6) == 0) {
		struct layer_config *layer = find_layer(reading, section + 6);
		if (layer != NULL) {
			layer_key(reading, layer, key, value);
		}
	} else {
		ini_file_mistake(&reading->ini,
				"unknown section [%s]; there are [canvas] and [layer NAME]",
				section);
	}
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
		reading->ini.line = reading->canvas;
		ini_file_mistake(
				&reading->ini, "[canvas] needs engine=, name=, width= and height=");
	}
	for (size_t i = 0; i < layout->layer_count; i++) {
		const struct layer_config *layer = &layout->layers[i];
		reading->ini.line = layer->line;
		if (layer->stream == NULL) {
			ini_file_mistake(&reading->ini, "[layer %s] needs stream=", layer->name);
		}
		if ((layer->width == 0) != (layer->height == 0)) {
			ini_file_mistake(&reading->ini,
					"[layer %s] has width= or height=, but not both",
					layer->name);
		}
	}
	if (layout->layer_count > 0) {
		qsort(layout->layers, layout->layer_count, sizeof(*layout->layers), compare_layers);
	}
}

int layout_file_read_stream(
		struct layout_file *layout, FILE *file, const char *name, FILE *errors) {
	struct reading reading = {
			.ini = {.file = file, .name = name, .errors = errors},
			.layout = layout,
			.canvas = 1,
	};
	*layout = (struct layout_file){
			.fourcc = DRM_FORMAT_XRGB8888, .rate = 60, .background = 0xff000000};
	if (ini_file_read(&reading.ini, handle_key, &reading) != -ENOMEM) {
		complete(&reading);
	}
	return reading.ini.result;
}

int layout_file_read(struct layout_file *layout, const char *path, FILE *errors) {
	*layout = (struct layout_file){0};
	FILE *file = ini_file_open(path, errors);
	if (file == NULL) {
		return -errno;
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
