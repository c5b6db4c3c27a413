// SPDX-License-Identifier: MIT
/** Names: gids and their text form, and which strings can name a domain or a stream. */
#include <errno.h>
#include <gid/stream.h>
#include <gid/timeline.h>
#include <stdio.h>
#include <string.h>

/* The sizes that structs of the public headers keep for good: gid.h tells how they grow. */
_Static_assert(sizeof(struct gid_layout) == 64, "kept for good");
_Static_assert(sizeof(struct gid_box) == 16, "kept for good");
_Static_assert(sizeof(struct gid_frame) == 160, "kept for good");
_Static_assert(sizeof(struct gid_producer_stats) == 128, "kept for good");
_Static_assert(sizeof(struct gid_consumer_stats) == 128, "kept for good");
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(struct gid_slab_info) == 184, "kept for good");
_Static_assert(sizeof(struct gid_timeline_point) == 80, "kept for good");
#endif

gid_id gid_make(uint32_t domain, uint32_t slab, uint32_t slot, uint32_t generation) {
	if (domain < 1 || domain > GID_DOMAIN_MAX || slab < 1 || slab > GID_SLAB_MAX ||
			slot >= GID_SLOTS_MAX || generation > 0xffff) {
		return GID_NONE;
	}
	return (gid_id)domain << 56 | (gid_id)slab << 32 | slot << 16 | generation;
}

char *gid_format(gid_id gid, char text[GID_TEXT_MAX]) {
	snprintf(text, GID_TEXT_MAX, "%u:%u.%u#%u", gid_domain_of(gid), gid_slab_of(gid),
			gid_slot_of(gid), gid_generation_of(gid));
	return text;
}

/* Reads a plain decimal number, no sign and no leading zero, that `end` follows. */
static bool read_part(const char **text, char end, uint32_t *part) {
	const char *at = *text;
	uint32_t value = 0;
	do {
		if (*at < '0' || *at > '9' || value > GID_SLAB_MAX) {
			return false;
		}
		value = value * 10 + (uint32_t)(*at - '0');
		at++;
	} while (*at != end);
	if (**text == '0' && at - *text > 1) {
		return false;
	}
	*part = value;
	*text = at + (end != '\0');
	return true;
}

int gid_parse(const char *text, gid_id *gid) {
	uint32_t domain, slab, slot, generation;
	if (text == NULL || !read_part(&text, ':', &domain) || !read_part(&text, '.', &slab) ||
			!read_part(&text, '#', &slot) || !read_part(&text, '\0', &generation)) {
		return -EINVAL;
	}
	gid_id made = gid_make(domain, slab, slot, generation);
	if (made == GID_NONE) {
		return -EINVAL;
	}
	*gid = made;
	return 0;
}

static bool is_name_byte(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			c == '-' || c == '_' || c == '.';
}

/* One part of a name, up to a slash or the end; "." and ".." would be folders elsewhere. */
static bool part_is_valid(const char *part, size_t length) {
	if (length == 0 || (length <= 2 && strspn(part, ".") >= length)) {
		return false;
	}
	for (size_t i = 0; i < length; i++) {
		if (!is_name_byte(part[i])) {
			return false;
		}
	}
	return true;
}

bool gid_name_is_valid(const char *name) {
	if (name == NULL || strnlen(name, GID_NAME_MAX + 1) > GID_NAME_MAX) {
		return false;
	}
	for (;;) {
		size_t length = strcspn(name, "/");
		if (!part_is_valid(name, length)) {
			return false;
		}
		if (name[length] == '\0') {
			return true;
		}
		name += length + 1;
	}
}
