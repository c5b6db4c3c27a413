// SPDX-License-Identifier: MIT
/*
 * Arithmetic with doubles, as the evaluation report has it by Whetstone (5.1.6): additions and
 * multiplications, and functions of the mathematical library. Not Whetstone's own units: only the
 * ratio of two places means something.
 */
#include <err.h>
#include <math.h>

#include "probe.h"

#define ROUNDS 25
#define LOOPS 20000u /* translated code has doubles by software */

static double round_of(double x) {
	for (unsigned i = 0; i < LOOPS; i++) {
		x = (x + 0.5) * 0.499975;
		x = sin(x) + cos(x) * exp(-x * x);
		x = sqrt(fabs(x)) + log(x * x + 1.0) + atan(x);
	}
	return x;
}

int probe_arithmetic(int argc, char **argv) {
	struct figure figure;
	double x = 0.75;
	if (argc > 1) {
		errx(2, "arithmetic: no argument is expected, not %s", argv[1]);
	}
	probe_pin(probe_core(1));
	figure_init(&figure, "million rounds/s", ROUNDS);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = probe_now();
		x = round_of(x);
		figure_add(&figure, LOOPS * 1e3 / (double)(probe_now() - begin));
	}
	__asm__ volatile("" : : "m"(x)); /* or the loop would be left out */
	probe_begin();
	probe_print("arithmetic with doubles", &figure);
	probe_end();
	figure_finish(&figure);
	return 0;
}
