// SPDX-License-Identifier: MIT
/* Any bytes as a gid's text, as a name and as a layout: what is taken must hold what is promised.
 */
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void try_text(const char *text) {
	gid_id gid;
	char back[GID_TEXT_MAX];
	if (gid_parse(text, &gid) == 0) {
		demand(strcmp(gid_format(gid, back), text) == 0);
		demand(gid_make(gid_domain_of(gid), gid_slab_of(gid), gid_slot_of(gid),
				       gid_generation_of(gid)) == gid);
	}
	if (gid_name_is_valid(text)) {
		size_t length = strlen(text);
		demand(length >= 1 && length <= GID_NAME_MAX);
		demand(text[0] != '/' && text[length - 1] != '/' && strstr(text, "//") == NULL);
		demand(strspn(text,
				       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789-_./") == length);
		demand(strcmp(text, "..") != 0 && strncmp(text, "../", 3) != 0 &&
				strstr(text, "/../") == NULL);
	}
}

static void try_layout(const uint8_t *data, size_t size) {
	struct gid_layout layout;
	uint64_t slot_size;
	if (size < sizeof(layout) + sizeof(slot_size)) {
		return;
	}
	memcpy(&layout, data, sizeof(layout));
	memcpy(&slot_size, data + sizeof(layout), sizeof(slot_size));
	uint64_t whole = gid_layout_size(&layout);
	demand(whole == 0 || gid_layout_check(&layout, whole) == 0);
	if (gid_layout_check(&layout, slot_size) < 0 || layout.modifier != 0) {
		return;
	}
	demand(whole != 0);
	for (uint32_t i = 0; i < layout.plane_count; i++) {
		const struct gid_plane *plane = &layout.planes[i];
		unsigned __int128 last = gid_format_rows(layout.fourcc, i, layout.height) - 1;
		uint32_t row = gid_format_row_bytes(layout.fourcc, i, layout.width);
		demand(row > 0 && row <= plane->stride);
		demand(plane->offset + last * plane->stride + row <= slot_size);
	}
	struct gid_layout made;
	demand(gid_layout_init(&made, layout.fourcc, layout.width, layout.height, 1) == 0);
	demand(made.plane_count == layout.plane_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *text = malloc(size + 1);
	demand(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	try_text(text);
	free(text);
	try_layout(data, size);
	return 0;
}
