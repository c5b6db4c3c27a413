// SPDX-License-Identifier: MIT
/*
 * A source that makes a frame each 60th of a second, by a clock that is slewed as gidsink does it,
 * before a display that shows what comes DEADLINE before a refresh.
 */
#include <stdlib.h>

#include "gst/gidsink/gstgidphase.h"
#include "tap.h"

#define REFRESH 16666667
#define DEADLINE 5000000
#define FRAMES 12000
#define SLEW 16 /* refreshes that a correction takes */

struct run {
	double latency_ms; /* of those in time, mean of the second half */
	int missed; /* in the second half: came later than a refresh after the least possible */
	int locked_after; /* frames */
};

/*
 * `drift`: how much faster the source is; `noise`: by how much a frame is late, at random. With
 * `queued`, a frame whose refresh is taken waits for the next one; no more than one does.
 */
static struct run simulate(double begin, double drift, double noise, int spike_every, bool queued) {
	GstGidPhase phase = {0};
	guint64 last = 0;
	struct run run = {.locked_after = -1};
	double time = begin, sum = 0;
	int count = 0;
	srand(7);
	for (int i = 0; i < FRAMES; i++) {
		double late = noise * rand() / RAND_MAX;
		double sent = time + late;
		guint64 refresh = (guint64)((sent + DEADLINE) / REFRESH) + 1;
		if (spike_every > 0 && i % spike_every == 0) {
			refresh++; /* the display itself misses one */
		}
		if (queued && refresh <= last) {
			refresh = last + 1;
		}
		last = refresh;
		double latency = (double)refresh * REFRESH - sent;
		double later = (double)gst_gid_phase_shown(&phase, REFRESH, (guint64)latency);
		double slew = later / SLEW / REFRESH;
		slew = slew > 0.01 ? 0.01 : slew < -0.01 ? -0.01 : slew;
		time += REFRESH * (1 - drift) * (1 + slew);
		bool good = latency < DEADLINE + REFRESH;
		if (latency < DEADLINE + 3000000 && run.locked_after < 0) {
			run.locked_after = i;
		}
		if (i >= FRAMES / 2) {
			run.missed += !good;
			sum += good ? latency : 0;
			count += good;
		}
	}
	run.latency_ms = sum / count / 1e6;
	return run;
}

int main(void) {
	for (int i = 0; i < 8; i++) {
		struct run run = simulate(i * REFRESH / 8.0, 0, 300000, 0, false);
		tap_ok(run.latency_ms < 7.5 && run.missed < FRAMES / 200 && run.locked_after >= 0 &&
						run.locked_after < 600,
				"from phase %d/8: %.1f ms, %d missed, found after %d frames", i,
				run.latency_ms, run.missed, run.locked_after);
	}
	struct run fast = simulate(0, 0.001, 300000, 0, false),
		   slow = simulate(0, -0.001, 300000, 0, false);
	tap_ok(fast.latency_ms < 8.5 && fast.missed < FRAMES / 100,
			"a source that is faster than the display: %.1f ms, %d missed",
			fast.latency_ms, fast.missed);
	tap_ok(slow.latency_ms < 8.5 && slow.missed < FRAMES / 100,
			"a slower one: %.1f ms, %d missed", slow.latency_ms, slow.missed);
	struct run spikes = simulate(0, 0, 300000, 100, false);
	tap_ok(spikes.latency_ms < 9 && spikes.missed < FRAMES / 2 / 100 * 2,
			"a display that misses one refresh in 100: %.1f ms, %d missed",
			spikes.latency_ms, spikes.missed);
	struct run queue = simulate(0, 0, 300000, 1000, true);
	tap_ok(queue.latency_ms < 13 && queue.missed < FRAMES / 2 / 5,
			"one that shows one frame a refresh, after it missed one: %.1f ms, %d missed",
			queue.latency_ms, queue.missed);
	GstGidPhase free_running = {0};
	gint64 later = 1;
	for (int i = 0; i < 1000; i++) {
		later = gst_gid_phase_shown(&free_running, REFRESH, REFRESH + 300000);
	}
	tap_ok(later == 0, "a display that shows each frame a refresh later is not followed");
	GstGidPhase phase = {0};
	gst_gid_phase_shown(&phase, REFRESH, 20000000);
	gst_gid_phase_shown(&phase, 2 * REFRESH, 30000000);
	tap_ok(phase.best <= 30000000 && phase.best > 29000000 && !phase.missed,
			"what was learned of another mode is forgotten");
	GstGidPhase late = {0};
	guint64 in_time = 10000000, missed = in_time + REFRESH;
	gst_gid_phase_shown(&late, REFRESH, in_time);
	gst_gid_phase_shown(&late, REFRESH, missed);
	tap_ok(gst_gid_phase_late_by(&late, missed) == 0,
			"a frame that found the display's deadline out is not late");
	gst_gid_phase_shown(&late, REFRESH, missed);
	tap_ok(gst_gid_phase_late_by(&late, missed) == REFRESH, "one after that is, by a refresh");
	gst_gid_phase_shown(&late, REFRESH, in_time);
	tap_ok(gst_gid_phase_late_by(&late, in_time) == 0, "and those in time are not");
	return tap_finish();
}
