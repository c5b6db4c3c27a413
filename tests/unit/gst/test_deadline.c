// SPDX-License-Identifier: MIT
/* Films before a display that shows what comes DEADLINE before a refresh. */
#include <math.h>
#include <stdlib.h>

#include "gst/gidsink/gstgiddeadline.h"
#include "tap.h"

#define REFRESH 16666667
#define DEADLINE 5000000
#define FRAMES 12000

struct film {
	double latency_ms; /* sent -> shown, mean of the second half */
	double most_ms; /* the furthest from its time that one was shown, then, but for the misses
			 */
	int missed;
};

/*
 * A film whose frames are sent when gst_gid_deadline_send_time() says, at most `noise` later;
 * `live`: they are not there before their time. The display's refreshes are a little apart from
 * those of the film's clock.
 */
static struct film play(double rate, double noise, bool live, double (*needs)(int frame)) {
	GstGidDeadline deadline = {0};
	struct film film = {0};
	guint64 shown = 0;
	double sum = 0;
	int count = 0;
	srand(7);
	for (int i = 1; i < FRAMES; i++) {
		guint64 wanted = (guint64)(i * 1e9 / rate) + REFRESH;
		guint64 send = gst_gid_deadline_send_time(
				&deadline, shown, wanted, live ? wanted : 0);
		double sent = (double)send + noise * rand() / RAND_MAX;
		guint64 refresh = (guint64)((sent + needs(i)) / REFRESH) + 1;
		shown = refresh * REFRESH;
		double latency = (double)shown - sent;
		gst_gid_deadline_shown(&deadline, REFRESH, (guint64)latency);
		if (i >= FRAMES / 2) {
			double off = fabs((double)shown - (double)wanted) / 1e6;
			bool missed = (double)shown >
					(double)wanted + REFRESH * (live ? 1.5 : 0.51);
			film.missed += missed;
			film.most_ms = missed ? film.most_ms : fmax(film.most_ms, off);
			sum += latency;
			count++;
		}
	}
	film.latency_ms = sum / count / 1e6;
	return film;
}

static double always(int frame) {
	return DEADLINE;
}

/* A compositor that learns a shorter and shorter window. */
static double less_and_less(int frame) {
	return fmax(DEADLINE, 2 * DEADLINE - frame * 2500.0);
}

static double more_at_once(int frame) {
	return frame < FRAMES / 4 ? DEADLINE / 4.0 : DEADLINE;
}

/* A machine that is busy for 30 of 1000 frames, and so is the display. */
static double busy(int frame) {
	return frame % 1000 < 30 && rand() % 4 == 0 ? DEADLINE + REFRESH : DEADLINE;
}

static void test_changes(void) {
	const struct {
		const char *what;
		double (*needs)(int frame);
		double latency_ms; /* at most */
		int missed;
	} cases[] = {{"that learns", less_and_less, 7.5, FRAMES / 300},
			{"that needs more from some time on", more_at_once, 7.5, FRAMES / 300},
			{"that is busy at times", busy, 14, FRAMES / 100}};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct film film = play(25, 300000, false, cases[i].needs);
		tap_ok(film.latency_ms < cases[i].latency_ms && film.missed < cases[i].missed,
				"a display %s: sent %.1f ms before, %d missed", cases[i].what,
				film.latency_ms, film.missed);
	}
}

int main(void) {
	test_changes();
	const double rates[] = {24, 25, 29.97, 30, 50, 59.94, 60};
	for (size_t i = 0; i < G_N_ELEMENTS(rates); i++) {
		struct film film = play(rates[i], 300000, false, always);
		tap_ok(film.latency_ms < 7.5 && film.most_ms < 8.5 && film.missed < FRAMES / 600,
				"a film of %.2f frames: sent %.1f ms before it is shown, at most "
				"%.1f ms from its time, %d missed",
				rates[i], film.latency_ms, film.most_ms, film.missed);
	}
	struct film live = play(25, 300000, true, always);
	tap_ok(live.latency_ms < 7.5 && live.most_ms < DEADLINE / 1e6 + 19 &&
					live.missed < FRAMES / 600,
			"a live one: %.1f ms, at most %.1f ms, %d missed", live.latency_ms,
			live.most_ms, live.missed);
	const guint64 far = 3600 * G_GUINT64_CONSTANT(1000000000);
	GstGidDeadline nothing = {0};
	tap_ok(gst_gid_deadline_send_time(&nothing, 0, 12345, 0) == 12345 &&
					gst_gid_deadline_send_time(&nothing, 1, 12345, 12345) ==
							12345,
			"a display of which nothing is known changes nothing");
	GstGidDeadline lied_to = {0};
	for (int i = 0; i < 1000; i++) {
		gst_gid_deadline_shown(&lied_to, REFRESH, i % 2 ? G_MAXINT64 : 8 * REFRESH);
	}
	guint64 sent = gst_gid_deadline_send_time(&lied_to, far, far, 0);
	tap_ok(sent >= far - 9 * REFRESH && sent <= far,
			"one that lies has frames sent %.1f refreshes early",
			(double)(far - sent) / REFRESH);
	GstGidDeadline known = {0};
	gst_gid_deadline_shown(&known, REFRESH, 10000000);
	tap_ok(gst_gid_deadline_send_time(&known, 1, far, 0) == far &&
					gst_gid_deadline_send_time(&known, far, 1, 1) == 1 &&
					gst_gid_deadline_send_time(&known, G_MAXUINT64, far, 0) ==
							far,
			"nor does one that showed nothing for long, or says what cannot be");
	return tap_finish();
}
