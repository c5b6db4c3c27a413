// SPDX-License-Identifier: MIT
/** Formats of pictures whose alpha has no meaning, such as those of a whole output. */
#ifndef GID_CONVERT_OPAQUE_FORMAT_H
#define GID_CONVERT_OPAQUE_FORMAT_H

#include <gid/gid.h>
#include <string.h>

/*
 * The format like `fourcc` without its alpha; `fourcc` where it has none, or there is no such
 * format.
 */
static inline uint32_t format_without_alpha(uint32_t fourcc) {
	const struct gid_format_info *with = gid_format_find(fourcc), *one;
	if (with == NULL || with->samples[3].bits == 0) {
		return fourcc;
	}
	for (size_t i = 0; (one = gid_format_at(i)) != NULL; i++) {
		if (one->kind == with->kind && one->plane_count == with->plane_count &&
				one->planes[0].bytes == with->planes[0].bytes &&
				one->samples[3].bits == 0 &&
				memcmp(one->samples, with->samples, 3 * sizeof(with->samples[0])) ==
						0) {
			return one->fourcc;
		}
	}
	return fourcc;
}

#endif
