// SPDX-License-Identifier: MIT
/** Restricts the system calls of the display's thread once it shows pictures. */
#ifndef CLUSTER_CONFINE_H
#define CLUSTER_CONFINE_H

/*
 * From now on the kernel ends the process if this thread, or one that it starts later, makes a
 * system call that showing pictures does not need. Other threads are not affected. Returns the
 * number of allowed calls, or -errno.
 */
int confine_thread(void);

/*
 * After confine_thread(), for good: also forbids calls that allocate memory, open or map anything,
 * or start a thread. Returns the number of allowed calls.
 */
int confine_sealed(void);

#endif
