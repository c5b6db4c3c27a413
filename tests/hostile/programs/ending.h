// SPDX-License-Identifier: MIT
/* How the hostile programs end: a signal asks them to, and they still say what they did. */
#ifndef HOSTILE_ENDING_H
#define HOSTILE_ENDING_H

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t ending;

static inline void ending_handle(int number) {
	ending = 1;
}

/* From now on `ending` says whether to end. A call that sleeps is interrupted. */
static inline void ending_init(void) {
	struct sigaction action = {.sa_handler = ending_handle};
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

#endif
