// SPDX-License-Identifier: MIT
/** What both ends of a stream's peer have: the options, the time, an end and a word for a trace. */
#ifndef STREAM_PEER_H
#define STREAM_PEER_H

#include <gid/stream.h>
#include <signal.h>
#include <stdint.h>

#define MS 1000000ull
#define REPORT_NS (50 * MS)

extern struct options {
	uint64_t fps, slots, credit, lease_ms, hold, spin_us, frames, drop_old, reconnect, quiet,
			mark, lossless, crop;
} options;

/* Whether it was told to end. */
extern volatile sig_atomic_t ended;

/* Says what cannot be done, and ends. `domain` may be NULL. */
_Noreturn void fail(struct gid_domain *domain, const char *what, int error);

/* A system call that a trace of this process can be searched for. */
void mark(const char *text);

/* The two ends of a stream: each returns the process's exit status when it was told to end. */
int produce(const char *name);
int consume(const char *domain, const char *name);

#endif
