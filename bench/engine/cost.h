/* SPDX-License-Identifier: MIT */
/** What frames take of this program and of those that work for it, whoever that is and whenever. */
#ifndef BENCH_ENGINE_COST_H
#define BENCH_ENGINE_COST_H

#include <stdbool.h>

struct cost {
	double cpu_us;
	double faults;	  /* pages, or what came with one */
	double tables_kb; /* of pages, where they are found */
};

/* These processes count, too. Ends the program if it cannot see one. */
void cost_watch(int count, char *pids[]);

/* Whether there are any: the costs of this program alone say little. */
bool cost_is_watched(void);

struct cost cost_now(void);

/* The same once nobody works any more: memory is given back by threads that nobody waits for. */
struct cost cost_at_rest(void);

#endif
