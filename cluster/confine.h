// SPDX-License-Identifier: MIT
/** What the display's thread may ask of the kernel once it shows. */
#ifndef CLUSTER_CONFINE_H
#define CLUSTER_CONFINE_H

/*
 * From now on the kernel ends the process when this thread, or one that it starts later, makes a
 * system call that showing does not need. Other threads are as they were. Returns how many calls
 * are left to it, or -errno.
 */
int confine_thread(void);

/*
 * After that, and for good: also no call that takes memory, opens or maps anything, or begins a
 * thread. Returns how many calls are left.
 */
int confine_sealed(void);

#endif
