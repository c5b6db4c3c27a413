// SPDX-License-Identifier: MIT
#include "timeline_reader.h"

#include <stdbool.h>
#include <string.h>

#define SECOND 1000000000

static const struct {
	const char *name;
	enum timeline_kind kind;
} points[] = {
		{"core_commit_damage", TIMELINE_COMMIT},
		{"core_flush_damage", TIMELINE_FLUSH},
		{"core_repaint_enter_loop", TIMELINE_ENTER_LOOP},
		{"core_repaint_begin", TIMELINE_BEGIN},
		{"core_repaint_posted", TIMELINE_POSTED},
		{"renderer_gpu_end", TIMELINE_GPU_END},
		{"core_repaint_finished", TIMELINE_FINISHED},
};

/* The rest of a piece. */
struct text {
	const char *at, *end;
};

static bool skip(struct text *text, const char *expected) {
	size_t length = strlen(expected);
	if ((size_t)(text->end - text->at) < length || memcmp(text->at, expected, length) != 0) {
		return false;
	}
	text->at += length;
	return true;
}

/* Skips to behind the first `key`. */
static bool find(struct text *text, const char *key) {
	const char *found = memmem(text->at, (size_t)(text->end - text->at), key, strlen(key));
	if (found == NULL) {
		return false;
	}
	text->at = found + strlen(key);
	return true;
}

static bool read_number(struct text *text, int64_t max, int64_t *number) {
	const char *begin = text->at;
	*number = 0;
	while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
		*number = *number * 10 + (*text->at++ - '0');
		if (*number > max) {
			return false;
		}
	}
	return text->at > begin;
}

/* Seconds and ns, as in `4122, 900]`. */
static bool read_time(struct text *text, int64_t *time_ns) {
	int64_t seconds, ns;
	if (!read_number(text, INT64_MAX / SECOND - 1, &seconds) || !skip(text, ", ") ||
			!read_number(text, SECOND - 1, &ns) || !skip(text, "]")) {
		return false;
	}
	*time_ns = seconds * SECOND + ns;
	return true;
}

/* Read the time or id after a key. Without it in the line, the value stays as it was. */
static void find_time(struct text text, const char *key, int64_t *time_ns) {
	int64_t found;
	if (find(&text, key) && read_time(&text, &found)) {
		*time_ns = found;
	}
}

static void find_id(struct text text, const char *key, uint32_t *id) {
	int64_t found;
	if (find(&text, key) && read_number(&text, UINT32_MAX, &found)) {
		*id = (uint32_t)found;
	}
}

static enum timeline_kind read_kind(struct text *text) {
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		struct text rest = *text;
		if (skip(&rest, points[i].name) && skip(&rest, "\"")) {
			*text = rest;
			return points[i].kind;
		}
	}
	return TIMELINE_OTHER;
}

static void read_point(struct text text, struct timeline_line *line) {
	if (!read_time(&text, &line->time_ns) || !skip(&text, ", \"N\":\"")) {
		return;
	}
	line->kind = read_kind(&text);
	find_id(text, "\"wo\":", &line->output);
	find_id(text, "\"ws\":", &line->surface);
	find_time(text, "\"vblank_monotonic\":[", &line->stamp_ns);
	find_time(text, "\"gpu\":[", &line->stamp_ns);
}

/* Up to the last quote, as a name may contain quotes. */
static void read_name(uint32_t output, struct text text, struct timeline_line *line) {
	const char *quote = skip(&text, "\"") ? memrchr(text.at, '"', (size_t)(text.end - text.at))
					      : NULL;
	if (quote == NULL) {
		return;
	}
	size_t length = (size_t)(quote - text.at);
	if (length >= sizeof(line->name)) {
		length = sizeof(line->name) - 1;
	}
	memcpy(line->name, text.at, length);
	line->name[length] = 0;
	line->output = output;
	line->kind = TIMELINE_OUTPUT;
}

static void read_declaration(
		struct timeline_reader *reader, struct text text, struct timeline_line *line) {
	int64_t id;
	if (!read_number(&text, UINT32_MAX, &id) ||
			!skip(&text, ", \"type\":\"weston_output\", \"name\":")) {
		return;
	}
	if (text.at < text.end) {
		read_name((uint32_t)id, text, line);
	} else {
		reader->output = (uint32_t)id;
	}
}

void timeline_read(struct timeline_reader *reader, const char *bytes, size_t length,
		struct timeline_line *line) {
	struct text text = {bytes, bytes + length};
	uint32_t declared = reader->output;
	reader->output = 0;
	line->kind = TIMELINE_OTHER;
	line->time_ns = 0;
	line->stamp_ns = TIMELINE_NONE;
	line->output = line->surface = 0;
	line->name[0] = 0;
	if (skip(&text, "{ \"T\":[")) {
		read_point(text, line);
	} else if (skip(&text, "{ \"id\":")) {
		read_declaration(reader, text, line);
	} else if (declared) {
		read_name(declared, text, line);
	}
}
