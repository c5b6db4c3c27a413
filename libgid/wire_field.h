// SPDX-License-Identifier: MIT
/** What fields of messages may hold: for the files that check them. */
#ifndef GID_WIRE_FIELD_H
#define GID_WIRE_FIELD_H

#include "wire.h"

/* As seen on the wire, whatever this machine's pages are. */
#define GID_WIRE_PAGE 4096u
#define GID_WIRE_ERRNO_MAX 4095

/* A text in a field of `size` bytes: valid, terminated, and nothing but zeroes behind its end. */
bool gid_field_is_text(const char *field, size_t size);
bool gid_field_is_name(const char *field, size_t size);

static inline bool is_domain(uint32_t domain) {
	return domain >= 1 && domain <= GID_DOMAIN_MAX;
}

static inline bool is_slab(uint32_t slab) {
	return slab >= 1 && slab <= GID_SLAB_MAX;
}

static inline bool is_error(int32_t error) {
	return error <= 0 && error >= -GID_WIRE_ERRNO_MAX;
}

static inline bool is_credit(uint32_t credit) {
	return credit >= 1 && credit <= GID_CREDIT_MAX;
}

/* A piece of a window of at least `size` bytes, or 0 for none. */
static inline bool is_in_window(uint64_t offset, uint64_t size) {
	return offset % GID_WIRE_PAGE == 0 && size <= INT64_MAX && offset <= INT64_MAX - size;
}

/* What EXPORT and IMPORTED have in common. */
struct gid_slab_fields {
	uint32_t memory, slot_count, description_size;
	uint64_t offset, slot_size, generations;
	const struct gid_wire_layout *layout;
	const char *description;
};

/* wire_slab.c: NULL, or what is wrong. */
const char *gid_wire_check_slab(const struct gid_slab_fields *slab);

#endif
