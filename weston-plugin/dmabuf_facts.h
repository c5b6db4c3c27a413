// SPDX-License-Identifier: MIT
/** What the kernel says of a descriptor that is, or is not, one of a dma-buf. */
#ifndef GID_WESTON_DMABUF_FACTS_H
#define GID_WESTON_DMABUF_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct dmabuf_facts {
	bool is_dmabuf;
	bool is_unknown; /* there is no /proc, which would say it */
	uint64_t size;	 /* bytes, which never change */
	uint64_t inode;	 /* one for each dma-buf, whoever has descriptors of it */
};

/* Asks no file system, and never waits. */
void dmabuf_facts_read(struct dmabuf_facts *facts, int fd);

#endif
