// SPDX-License-Identifier: MIT
#include "dmabuf_create.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int dmabuf_create(int device, size_t size) {
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
	if (ftruncate(memfd, (off_t)size) == 0 && fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK) == 0) {
		fd = ioctl(device, UDMABUF_CREATE, &create);
	}
	fd = fd < 0 ? -errno : fd;
	close(memfd);
	return fd;
}
