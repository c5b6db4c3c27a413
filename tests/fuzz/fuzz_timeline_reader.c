// SPDX-License-Identifier: MIT
/* Any bytes as pieces of Weston's timeline, split at newlines: what is taken is in range. */
#include "timeline_reader.h"

#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

static void demand_sound(const struct timeline_line *line) {
	demand(strnlen(line->name, sizeof(line->name)) < sizeof(line->name));
	demand(line->kind >= TIMELINE_OTHER && line->kind <= TIMELINE_FINISHED);
	demand(line->time_ns >= 0);
	demand(line->stamp_ns >= 0 || line->stamp_ns == TIMELINE_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct timeline_reader reader = {0};
	struct timeline_line line;
	const char *at = (const char *)data, *end = at + size;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline != NULL ? newline + 1 : end;
		/* Of its own size, so that the sanitizer sees a byte too far. */
		char piece[256];
		size_t length = (size_t)(next - at) < sizeof(piece) ? (size_t)(next - at) : 0;
		memcpy(piece + sizeof(piece) - length, at, length);
		timeline_read(&reader, piece + sizeof(piece) - length, length, &line);
		demand_sound(&line);
		at = next;
	}
	return 0;
}
