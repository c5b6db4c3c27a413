// SPDX-License-Identifier: MIT
/* What the machine itself takes, with nobody in between. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "handoff.h"

/* --- an eventfd to another core and back, with both asleep in between ------------------------- */

struct echo {
	int there, back;
	int cpu;
};

static void *echo_run(void *data) {
	struct echo *echo = data;
	uint64_t value;
	handoff_pin(echo->cpu);
	while (read(echo->there, &value, sizeof(value)) == sizeof(value) && value == 1) {
		if (write(echo->back, &value, sizeof(value)) < 0) {
			break;
		}
	}
	return NULL;
}

int handoff_eventfd(const struct handoff_options *options) {
	struct echo echo = {eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC), options->peer_cpu};
	struct meter meter;
	pthread_t thread;
	int result = pthread_create(&thread, NULL, echo_run, &echo);
	if (echo.there < 0 || echo.back < 0 || result != 0) {
		fprintf(stderr, "eventfd: %s\n", strerror(result != 0 ? result : errno));
		return 1;
	}
	handoff_pin(options->cpu);
	meter_init(&meter, options);
	for (uint64_t next = handoff_now(); !meter.ended; next += 1000000000ull / options->rate) {
		handoff_sleep_until(next);
		uint64_t value = 1, begin = handoff_now();
		if (write(echo.there, &value, sizeof(value)) < 0 ||
				read(echo.back, &value, sizeof(value)) < 0) {
			break;
		}
		uint64_t now = handoff_now();
		if (meter_frame(&meter, now)) {
			meter_latency(&meter, now - begin);
		}
	}
	uint64_t end = 2;
	if (write(echo.there, &end, sizeof(end)) > 0) {
		pthread_join(thread, NULL);
	}
	meter_print(&meter, 0);
	meter_finish(&meter);
	close(echo.there);
	close(echo.back);
	return 0;
}

/* --- reading frames of private memory, as often and as cold as a consumer reads shared ones ----
 */

#define PRIVATE_FRAMES 8

int handoff_private(const struct handoff_options *options) {
	struct meter meter;
	size_t bytes = options->bytes;
	uint8_t *memory = mmap(NULL, bytes * PRIVATE_FRAMES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED) {
		fprintf(stderr, "%zu bytes: %s\n", bytes * PRIVATE_FRAMES, strerror(errno));
		return 1;
	}
	memset(memory, 0x55, bytes * PRIVATE_FRAMES);
	meter_init(&meter, options);
	uint64_t next = handoff_now();
	uint64_t sum = 0;
	for (uint32_t i = 0; !meter.ended; i++, next += 1000000000ull / options->rate) {
		handoff_sleep_until(next);
		meter_frame(&meter, handoff_now());
		sum += handoff_read(memory + (i % PRIVATE_FRAMES) * bytes, bytes);
	}
	meter_print(&meter, 0);
	meter_finish(&meter);
	munmap(memory, bytes * PRIVATE_FRAMES);
	return sum == 0; // never: the sum is used, so that the memory is read
}
