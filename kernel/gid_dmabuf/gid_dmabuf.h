/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/**
 * /dev/gid-dmabuf: from a range of a window that the caller has mapped to a dma-buf. The window is
 * a device-dax, or the memory of an ivshmem device.
 */
#ifndef GID_DMABUF_MODULE_H
#define GID_DMABUF_MODULE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Also for those who write: the mapping must be writable. Without it nobody writes by the dma-buf.
 */
#define GID_DMABUF_WRITABLE 1u
#define GID_DMABUF_SIZE_MAX (1ull << 30)

struct gid_dmabuf_export {
	__u64 address, size; /* whole pages of one mapping */
	__u32 flags;
	__s32 fd; /* out */
};

/*
 * EINVAL: no whole pages, too much, or flags that are not known; EFAULT: nothing is mapped there;
 * ERANGE: the mapping ends before; EBADF: it is not of a window; EACCES: it is not writable;
 * ENOMEM: beyond RLIMIT_MEMLOCK, which all that is exported counts against.
 */
#define GID_DMABUF_EXPORT _IOWR('G', 0x67, struct gid_dmabuf_export)

#endif
