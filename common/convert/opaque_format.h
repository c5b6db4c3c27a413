// SPDX-License-Identifier: MIT
/** Pictures whose alpha says nothing, as those of a whole output: the format without it. */
#ifndef GID_CONVERT_OPAQUE_FORMAT_H
#define GID_CONVERT_OPAQUE_FORMAT_H

#include <gid/gid.h>
#include <string.h>

/* The format in which the alpha of `fourcc` is not there; others stay what they are. */
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
