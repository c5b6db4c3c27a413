// SPDX-License-Identifier: MIT
/**
 * Whether a program has its processors to itself. The display's thread may go before all ordinary
 * programs, but most of its workers are ordinary: what else runs on their processors makes streams
 * late.
 */
#ifndef CORES_H
#define CORES_H

#include <sys/types.h>

/* Some of those that were found, by name. */
struct cores_others {
	unsigned count;
	char names[96]; /* of the first ones, with commas; each once */
};

struct cores {
	char list[64]; /* such as "2-3,7" */
	unsigned number;
	struct cores_others programs; /* others that may run there, without the kernel's threads */
	/* Threads of programs and of interrupts that have a higher priority there. */
	struct cores_others before;
};

/* What is wrong, if others may run there. */
#define CORES_REMEDY "give the display processors of its own, see PROCESSORS in gid-cluster(1)"

/*
 * Looks at the processors of the program `pid`, whose first thread has, or is to have, this
 * real-time priority; 0: none. Finds only what /proc shows the caller. Returns 0 or -errno.
 */
int cores_scan(pid_t pid, int priority, struct cores *cores);

/* Writes a sentence without its end: "processors 2-3, which no other program may use". */
void cores_describe(const struct cores *cores, char *text, size_t size);

#endif
