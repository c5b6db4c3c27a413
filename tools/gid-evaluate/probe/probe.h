/* SPDX-License-Identifier: MIT */
/**
 * gid-probe measures one property of the machine it runs on, and prints JSON.
 *
 * The same program runs natively, in a container and in a guest, so that only the place differs.
 * Each part has a function that gets its own arguments and returns an exit status. Everything is
 * single-threaded unless a part says otherwise, and pinned to the cores that it names.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** One measured quantity: samples of it, in `unit`. `samples` belongs to the figure. */
struct figure {
	const char *unit;
	double *samples;
	size_t count, room;
};

/** Makes an empty figure with room for `room` samples. Ends the program if there is no memory. */
void figure_init(struct figure *figure, const char *unit, size_t room);
void figure_finish(struct figure *figure);
/** Adds a sample; beyond its room the figure keeps the samples that it has. */
void figure_add(struct figure *figure, double sample);

/** Begins the program's one JSON object on stdout; probe_end() ends it. */
void probe_begin(void);
void probe_end(void);
/** Prints the figure: its median, extremes, 99th percentile and number. Sorts the samples. */
void probe_print(const char *name, struct figure *figure);

/** The exit status where something is not there, which stderr names: nothing was measured. */
#define PROBE_WANTING 77

struct gid_domain;

/**
 * Connects to the gidd of the domain, NULL: of our own, or ends the program: with PROBE_WANTING if
 * there is none.
 */
void probe_connect(const char *name, struct gid_domain **domain);

/** CLOCK_MONOTONIC in nanoseconds. */
uint64_t probe_now(void);
/** Pins the calling thread. Ends the program if there is no such core. */
void probe_pin(int core);
/** The n-th core that this process may use; the last one if there are fewer. */
int probe_core(int n);

/* --- bare.c: messages by futexes and shared memory alone -------------------------------------- */

#define PROBE_BARE_SLOTS 8
#define PROBE_BARE_BYTES 65536

struct probe_bare_memory;

/** Who asks, and the process that answers. */
struct probe_bare {
	struct probe_bare_memory *memory;
	unsigned count; /* of messages */
	pid_t pid;
};

/** Starts the other process, on that core. To be called before there are threads. */
void probe_bare_start(struct probe_bare *bare, int core);
/** Sends a message of 1 to PROBE_BARE_BYTES bytes. Returns the ns until the answer was read. */
uint64_t probe_bare_trip(struct probe_bare *bare, uint32_t bytes, int pattern);
void probe_bare_end(struct probe_bare *bare);

int probe_memory(int argc, char **argv);
int probe_calls(int argc, char **argv);
int probe_arithmetic(int argc, char **argv);
int probe_files(int argc, char **argv);
int probe_message(int argc, char **argv);
int probe_access(int argc, char **argv);
int probe_streams(int argc, char **argv);
int probe_frames(int argc, char **argv);

#endif
