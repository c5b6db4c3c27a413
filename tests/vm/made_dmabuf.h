// SPDX-License-Identifier: MIT
/* Memory of no device, as a dma-buf. */
#ifndef TESTS_MADE_DMABUF_H
#define TESTS_MADE_DMABUF_H

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* `size` is a multiple of the page's. Returns a descriptor, or -1. */
static inline int make_dmabuf(size_t size) {
	int memfd = memfd_create("lamp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	struct udmabuf_create create = {.memfd = (uint32_t)memfd, .size = size};
	if (memfd < 0 || device < 0 || ftruncate(memfd, (off_t)size) < 0 ||
			fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK) < 0) {
		return -1;
	}
	int fd = ioctl(device, UDMABUF_CREATE, &create);
	close(device);
	close(memfd);
	return fd;
}

#endif
