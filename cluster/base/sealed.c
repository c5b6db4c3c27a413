// SPDX-License-Identifier: MIT
#include "sealed.h"

#include <stdatomic.h>

static atomic_bool is_on;

bool sealed_is_on(void) {
	return atomic_load_explicit(&is_on, memory_order_relaxed);
}

void sealed_set(bool on) {
	atomic_store_explicit(&is_on, on, memory_order_relaxed);
}
