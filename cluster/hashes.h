// SPDX-License-Identifier: MIT
/**
 * A set of pictures by their SHA-256, and the file that holds one: 64 hex digits on a line, `#`
 * begins a comment.
 */
#ifndef CLUSTER_HASHES_H
#define CLUSTER_HASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* SHA-256: nobody can make a second picture that has it, too. */
struct digest {
	uint8_t bytes[32];
};

struct hashes {
	struct digest *list; /* sorted, each once */
	size_t count, capacity;
};

/* Adds what the file holds. Returns 0, -EINVAL: not such a file, -ENOMEM, or what reading says. */
int hashes_read(struct hashes *hashes, const char *path);

/* Writes the set to a file that appears complete or not at all. Returns 0 or -errno. */
int hashes_write(const struct hashes *hashes, const char *path);

/* Returns 1: added, 0: had it already, -ENOMEM. */
int hashes_add(struct hashes *hashes, const struct digest *digest);

bool hashes_have(const struct hashes *hashes, const struct digest *digest);

void hashes_finish(struct hashes *hashes);

#endif
