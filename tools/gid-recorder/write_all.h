// SPDX-License-Identifier: MIT
#ifndef RECORDER_WRITE_ALL_H
#define RECORDER_WRITE_ALL_H

#include <stddef.h>

/* Writes all of it, however many calls that takes. Returns 0 or -errno. */
int write_all(int fd, const void *bytes, size_t size);

#endif
