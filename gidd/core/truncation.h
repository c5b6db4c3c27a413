// SPDX-License-Identifier: MIT
/** Keeps clients from shrinking the window by a descriptor that gidd gave them. */
#ifndef GIDD_TRUNCATION_H
#define GIDD_TRUNCATION_H

/*
 * A client writes its range of the domain's window by a writable descriptor, and a window is a file
 * of tmpfs, which cannot be sealed. If it got shorter, every machine that has it mapped would die
 * of SIGBUS. From now on nothing that this process opens can be truncated, wherever it is passed to
 * (Landlock, since Linux 6.2). Whoever may open the file by its path can still do it: that is the
 * user who owns it.
 *
 * To be called before other threads begin and before a window is opened. 0, or -errno: the kernel
 * has no such thing, or does not let us.
 */
int truncation_forbid(void);

#endif
