/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/**
 * /dev/gid-dmabuf: exports a range of a window that the caller has mapped as a dma-buf. The window
 * is a device-dax, or the memory of an ivshmem device.
 */
#ifndef GID_DMABUF_MODULE_H
#define GID_DMABUF_MODULE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Allows writing, which needs a writable mapping. Without it nobody can write by the dma-buf. */
#define GID_DMABUF_WRITABLE 1u
#define GID_DMABUF_SIZE_MAX (1ull << 30)

struct gid_dmabuf_export {
	__u64 address, size; /* whole pages of one mapping */
	__u32 flags;
	__s32 fd; /* set by the kernel */
};

/*
 * EINVAL: not whole pages, too much, or unknown flags; EFAULT: nothing is mapped there; ERANGE: the
 * mapping ends before the range; EBADF: not memory of a window; EACCES: the mapping is not
 * readable, or not writable; ENOMEM: beyond RLIMIT_MEMLOCK, which counts everything exported.
 */
#define GID_DMABUF_EXPORT _IOWR('G', 0x67, struct gid_dmabuf_export)

#endif
