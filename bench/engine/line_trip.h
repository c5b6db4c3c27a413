// SPDX-License-Identifier: MIT
/** How far apart two processors are: what an engine's short lists depend on most. */
#ifndef GID_BENCH_LINE_TRIP_H
#define GID_BENCH_LINE_TRIP_H

/*
 * How long it takes to write a line of memory, have another thread answer, and read that, in ns. In
 * a virtual machine it is another time whenever the host moves one of its processors.
 */
double line_trip_ns(void);

#endif
