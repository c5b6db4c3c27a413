// SPDX-License-Identifier: MIT
/*
 * The programs of the benchmark `handoff`: what makes frames, what takes them, and the bare limits
 * beside them. bench/handoff.py runs them, one process a core, and puts the figures together.
 */
#ifndef BENCH_HANDOFF_H
#define BENCH_HANDOFF_H

#include <gst/gst.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the generator writes at the start of each frame. */
struct handoff_header {
	uint64_t magic;
	uint64_t sequence;
	uint64_t time; // CLOCK_MONOTONIC, ns: when the frame was complete
};

#define HANDOFF_MAGIC 0x6f6666646e616847ull
#define HANDOFF_PAGE 4096

struct handoff_options {
	const char *role;
	const char *pipeline; // send: what follows the generator; receive: what leads to us
	const char *caps;     // send, wake: of the frames
	uint64_t from, until; // what is measured, CLOCK_MONOTONIC, ns
	uint64_t bytes;	      // private: of a frame
	int cpu;	      // to run on
	int peer_cpu;	      // eventfd, wake: of the other side
	uint32_t rate;	      // frames a second
	bool read_all;	      // receive: read every byte
	bool time_from_pts;   // receive: memory is not to be mapped just for the header
};

uint64_t handoff_now(void);
void handoff_sleep_until(uint64_t time);
void handoff_pin(int cpu);

/* Reads every byte, as a consumer that really uses the picture would. Returns their sum. */
uint64_t handoff_read(const void *data, size_t size);

/* --- meter.c: what a window of time costs this process ---------------------------------------- */

struct meter {
	uint64_t from, until;
	uint64_t frames; // in the window
	uint64_t cpu_ns; // at the beginning of it, and in all at the end
	pid_t other;	 // another process that counts, too, or 0
	bool began, ended;
	GArray *latencies; // uint64_t, ns
};

void meter_init(struct meter *meter, const struct handoff_options *options);
void meter_finish(struct meter *meter);

/* A frame is here at `now`. Returns whether it counts. */
bool meter_frame(struct meter *meter, uint64_t now);
void meter_latency(struct meter *meter, uint64_t latency);

/* One JSON object on stdout: frames, cpu_us a frame and, where there are any, latencies in µs. */
void meter_print(struct meter *meter, uint64_t lost);

/* --- sleeper.c: a process on another core, which sleeps until it is woken, again and again -----
 */

struct sleeper_page;

struct sleeper {
	struct sleeper_page *page; // shared with it
	pid_t pid;
};

/* `source`: it is one, of a pipeline into a fakesink. */
bool sleeper_start(struct sleeper *sleeper, int cpu, bool source);
void sleeper_wake(struct sleeper *sleeper);
void sleeper_end(struct sleeper *sleeper);

/* --- the roles -------------------------------------------------------------------------------- */

/* generator.c: a live source that writes a word into every page of a frame. */
GType handoff_generator_get_type(void);
void handoff_generator_set(GstElement *generator, struct meter *meter, uint32_t rate);

int handoff_send(const struct handoff_options *options);	// pipelines.c
int handoff_receive(const struct handoff_options *options);	// pipelines.c
int handoff_wake(const struct handoff_options *options);	// pipelines.c
int handoff_wake_source(const struct handoff_options *options); // pipelines.c
int handoff_eventfd(const struct handoff_options *options);	// limits.c
int handoff_private(const struct handoff_options *options);	// limits.c

#endif
