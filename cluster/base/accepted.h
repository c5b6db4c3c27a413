// SPDX-License-Identifier: MIT
/**
 * What the configuration accepts of a stream: formats, transforms, and pictures by their SHA-256.
 * Pure, but for the file of hashes: 64 hex digits on a line, `#` begins a comment.
 */
#ifndef CLUSTER_ACCEPTED_H
#define CLUSTER_ACCEPTED_H

#include <gid/stream.h>

#include "pixels.h"

struct ini_file;

/* A set of pictures. */
struct hashes {
	struct digest *list; /* sorted, each once */
	size_t count, capacity;
};

struct accepted {
	bool any_format;
	uint32_t formats[GID_SHOWABLE_MAX];
	uint32_t format_count;
	uint32_t transforms;	/* a bit for each wl_output_transform */
	struct hashes pictures; /* none: all may be shown */
};

/* XRGB8888 and ARGB8888 without a transform: nothing has to be converted. */
extern const struct accepted accepted_plain;
/* Whatever can be shown. */
extern const struct accepted accepted_any;

/* Read the values of `formats=` and `transform=`, and report mistakes. */
void accepted_set_formats(struct accepted *accepted, struct ini_file *ini, const char *value);
void accepted_set_transforms(struct accepted *accepted, struct ini_file *ini, const char *value);

/* Whether the format is accepted, and can be shown in bounded time. */
bool accepted_has_format(const struct accepted *accepted, uint32_t fourcc);
/* Of any number. */
bool accepted_has_transform(const struct accepted *accepted, uint32_t transform);

/* As the configuration has them; "?" for a transform that there is not. */
void accepted_format_name(uint32_t fourcc, char name[5]);
const char *accepted_transform_name(uint32_t transform);

/* Adds what the file holds. Returns 0, -EINVAL: not such a file, -ENOMEM, or what reading says. */
int hashes_read(struct hashes *hashes, const char *path);

/*
 * Writes the set, behind the whole lines of `before`, to a file that appears complete or not at
 * all. Returns 0 or -errno.
 */
int hashes_write(const struct hashes *hashes, const char *before, const char *path);

/* Returns 1: added, 0: had it already, -ENOMEM. */
int hashes_add(struct hashes *hashes, const struct digest *digest);

bool hashes_have(const struct hashes *hashes, const struct digest *digest);

void hashes_finish(struct hashes *hashes);

#endif
