// SPDX-License-Identifier: MIT
/** What the kernel reports of a descriptor: whether it is a dma-buf, and which. */
#ifndef GID_WESTON_DMABUF_FACTS_H
#define GID_WESTON_DMABUF_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct dmabuf_facts {
	bool is_dmabuf;
	bool is_unknown; /* there is no /proc to tell */
	uint64_t size;	 /* in bytes; never changes */
	uint64_t inode;	 /* the same for all descriptors of one dma-buf */
};

/* Asks no file system, and never blocks. */
void dmabuf_facts_read(struct dmabuf_facts *facts, int fd);

#endif
