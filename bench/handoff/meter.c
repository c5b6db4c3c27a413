// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "handoff.h"

/* Asked by us, so that it costs the other one nothing. */
static uint64_t cpu_time_of(pid_t pid) {
	clockid_t clock;
	struct timespec time;
	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0) {
		return 0;
	}
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t cpu_time(const struct meter *meter) {
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	uint64_t us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
			(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	return us * 1000 + (meter->other != 0 ? cpu_time_of(meter->other) : 0);
}

void meter_init(struct meter *meter, const struct handoff_options *options) {
	*meter = (struct meter){
			.from = options->from,
			.until = options->until,
			.latencies = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
	};
}

void meter_finish(struct meter *meter) {
	g_array_free(meter->latencies, TRUE);
}

/* The window opens after a frame, and the frame that closes it is the last of it. */
bool meter_frame(struct meter *meter, uint64_t now) {
	if (meter->ended || now < meter->from) {
		return false;
	}
	if (!meter->began) {
		meter->began = true;
		meter->cpu_ns = cpu_time(meter);
		return false;
	}
	meter->frames++;
	if (now >= meter->until) {
		meter->ended = true;
		meter->cpu_ns = cpu_time(meter) - meter->cpu_ns;
	}
	return true;
}

void meter_latency(struct meter *meter, uint64_t latency) {
	g_array_append_val(meter->latencies, latency);
}

static gint compare(gconstpointer a, gconstpointer b) {
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
	return (one > other) - (one < other);
}

static double percentile_us(const GArray *sorted, double percent) {
	guint index = (guint)((double)(sorted->len - 1) * percent / 100 + 0.5);
	return (double)g_array_index(sorted, uint64_t, index) / 1000;
}

void meter_print(struct meter *meter, uint64_t lost) {
	double cpu_us = meter->frames > 0 ? (double)meter->cpu_ns / 1000 / (double)meter->frames
					  : 0;
	printf("{\"frames\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"cpu_us\": %.3f", meter->frames,
			lost, cpu_us);
	if (meter->latencies->len > 0) {
		g_array_sort(meter->latencies, compare);
		printf(", \"p50_us\": %.3f, \"p99_us\": %.3f, \"max_us\": %.3f",
				percentile_us(meter->latencies, 50),
				percentile_us(meter->latencies, 99),
				percentile_us(meter->latencies, 100));
	}
	printf("}\n");
}
