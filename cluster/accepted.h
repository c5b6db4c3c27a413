// SPDX-License-Identifier: MIT
/**
 * What the configuration takes of a stream: formats, and ways in which a picture may be turned.
 * Pure.
 */
#ifndef CLUSTER_ACCEPTED_H
#define CLUSTER_ACCEPTED_H

#include <gid/stream.h>

struct ini_file;

struct accepted {
	bool any_format;
	uint32_t formats[GID_SHOWABLE_MAX];
	uint32_t format_count;
	uint32_t transforms; /* a bit for each wl_output_transform */
};

/* XRGB8888 and ARGB8888, not turned: nothing has to be converted. */
extern const struct accepted accepted_plain;
/* Whatever can be shown. */
extern const struct accepted accepted_any;

/* The values of `formats=` and `transform=`. Tell their mistakes. */
void accepted_set_formats(struct accepted *accepted, struct ini_file *ini, const char *value);
void accepted_set_transforms(struct accepted *accepted, struct ini_file *ini, const char *value);

/* Whether the format can be shown at all, in bounded time, and is taken. */
bool accepted_has_format(const struct accepted *accepted, uint32_t fourcc);
/* Of any number. */
bool accepted_has_transform(const struct accepted *accepted, uint32_t transform);

/* As the configuration has them; "?" for a transform that there is not. */
void accepted_format_name(uint32_t fourcc, char name[5]);
const char *accepted_transform_name(uint32_t transform);

#endif
