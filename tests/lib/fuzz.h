// SPDX-License-Identifier: MIT
/** What targets have in common: what must hold, and inputs that are read as sequences of choices.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void demand(bool good) {
	if (!good) {
		__builtin_trap();
	}
}

static inline void handle_trap(int number) {
	__builtin_trap();
}

/* What ends by SIGTRAP, as GLib does at errors, leaves its input behind as others do. */
static inline void keep_trapped(void) {
	signal(SIGTRAP, handle_trap);
}

struct input {
	const uint8_t *data;
	size_t size;
};

/* The next choice, 0 at the end of the input. */
static inline uint32_t take(struct input *input, uint32_t below) {
	if (input->size == 0) {
		return 0;
	}
	input->size--;
	return *input->data++ % below;
}

#endif
