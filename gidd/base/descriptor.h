// SPDX-License-Identifier: MIT
/** Checks what a descriptor from a peer really is, by what the kernel says of it. */
#ifndef GIDD_DESCRIPTOR_H
#define GIDD_DESCRIPTOR_H

#include <sys/types.h>

#include "wire.h"

/*
 * A slab's memory: of the kind that is stated, large enough for slots and generation table; where
 * it is a memfd, sealed against shrinking and all future writers. A writable description gives way
 * to a read-only one of the same memory in `*fd`. Returns 0 with the file's size in bytes; or
 * -errno with a sentence: -EBADF, -EPERM, -ERANGE, -ENOSYS, or why it cannot be opened again.
 */
int descriptor_take_slab(
		int *fd, const struct gid_wire_imported *slab, uint64_t *bytes, const char **why);

/* Where the slab ends in its file: behind its slots, or its generation table. */
uint64_t descriptor_slab_end(const struct gid_wire_imported *slab);

bool descriptor_is_read_only(int fd);

/*
 * A ring or page: a memfd that only its maker can write, and that has all its pages: -ENODATA.
 * Read-only from then on, other errors, as above.
 */
int descriptor_take_shared(int *fd, uint64_t size, const char **why);

/* One end of a SOCK_STREAM socketpair. -EBADF with a sentence. */
int descriptor_check_doorbell(int fd, const char **why);

/* Finds the file's identity, for any kind of file. Never waits. */
bool descriptor_find_file(int fd, dev_t *device, ino_t *inode);

/* A number that identifies the memory as long as it exists; 0: the kernel does not tell it. */
uint64_t descriptor_inode(int fd);

#endif
