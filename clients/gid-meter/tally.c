// SPDX-License-Identifier: MIT
#include "tally.h"

void tally_add(struct tally *tally, uint64_t time) {
	if (tally->count == 0) {
		tally->first = time;
	} else {
		histogram_add(&tally->intervals, (time - tally->last) / 1000);
	}
	tally->last = time;
	tally->count++;
}

double tally_seconds(const struct tally *tally) {
	return (double)(tally->last - tally->first) / 1e9;
}

double tally_rate(const struct tally *tally) {
	double seconds = tally_seconds(tally);
	return seconds > 0 ? (double)(tally->count - 1) / seconds : 0;
}
