// SPDX-License-Identifier: MIT
#include "window_dmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <gid_dmabuf.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEVICE "/dev/gid-dmabuf"

int gid_window_dmabuf_make(const void *data, uint64_t size, bool writable) {
	int device = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0) {
		return errno == ENOENT ? -ENOTSUP : -errno;
	}
	struct gid_dmabuf_export request = {
			.address = (uintptr_t)data,
			.size = size,
			.flags = writable ? GID_DMABUF_WRITABLE : 0,
			.fd = -1,
	};
	int ret = ioctl(device, GID_DMABUF_EXPORT, &request);
	ret = ret < 0 ? (errno == EBADF ? -ENOTSUP : -errno) : request.fd;
	close(device);
	return ret;
}
