// SPDX-License-Identifier: MIT
#include "dmabuf_create.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Written before the memory is a dma-buf, so that no device has to be synchronised. */
static bool memfd_fill(int memfd, size_t size, uint8_t byte) {
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	if (memory == MAP_FAILED) {
		return false;
	}
	memset(memory, byte, size);
	munmap(memory, size);
	return true;
}

static int create(int device, size_t size, uint8_t byte) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size = (size + page - 1) / page * page;
	int memfd = memfd_create("gidway", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memfd < 0) {
		return -errno;
	}
	struct udmabuf_create create = {
			.memfd = (uint32_t)memfd,
			.flags = UDMABUF_FLAGS_CLOEXEC,
			.size = size,
	};
	int fd = -1;
	if (ftruncate(memfd, (off_t)size) == 0 && (byte == 0 || memfd_fill(memfd, size, byte)) &&
			fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK) == 0) {
		fd = ioctl(device, UDMABUF_CREATE, &create);
	}
	fd = fd < 0 ? -errno : fd;
	close(memfd);
	return fd;
}

int dmabuf_create(int device, size_t size) {
	return create(device, size, 0);
}

int dmabuf_create_filled(size_t size, uint8_t byte) {
	int device = open(DMABUF_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0) {
		return -errno;
	}
	int fd = create(device, size, byte);
	close(device);
	return fd;
}
