// SPDX-License-Identifier: MIT
#include "pacing.h"

#include <math.h>
#include <string.h>

/*
 * The need of a frame is the time from the start of its window until its repaint was done: how late
 * the timer was, and what the repaint cost. What cannot be seen from here (the display's own
 * deadline, a GPU without timers) is the margin, learned from the frames that missed or did not
 * when need and margin said otherwise. Need and margin together give the share of frames that each
 * window would make late.
 *
 * The window is the shortest that makes late no more than the stated share. As windows are whole
 * ms, that is often far less: what is left over is saved, and spent on a shorter window.
 */

#define MS 1000000.0

static const double refresh_min_ns = 2 * MS;
static const double refresh_max_ns = 200 * MS;
static const double aim = 0.85; /* of the stated miss rate; the rest is for learning */
static const double margin_start_ns = 1.5 * MS;
static const double margin_step_ns = 0.5 * MS;
static const double learn_frames = 64;	  /* before that nothing is known */
static const double forget_frames = 8192; /* weights are halved when there are more */
static const double saved_max = 2;	  /* misses: more would come in a burst */
static const double debt_max = 4;	  /* misses: more would be paid back for minutes */
static const double spend_max = 30;	  /* times the aim may be late while they are spent */
static const double arrivals_min = 512;
static const double phase_guard_ns = 1 * MS;

const size_t gid_pacing_size = sizeof(struct gid_pacing);

static double clamp(double value, double low, double high) {
	return value < low ? low : value > high ? high : value;
}

static double aim_of(const struct gid_pacing *pacing) {
	return pacing->config.miss_rate * aim;
}

static int32_t ceiling_ms(const struct gid_pacing *pacing) {
	return (int32_t)((double)pacing->refresh_ns / MS - 1);
}

static double need_bin_ns(const struct gid_pacing *pacing) {
	return (double)pacing->refresh_ns / 128;
}

static void halve(float *weights, size_t count, double *total) {
	for (size_t i = 0; i < count; i++) {
		weights[i] /= 2;
	}
	*total /= 2;
}

/* Whether the weights were halved. */
static bool need_add(struct gid_pacing_need *need, size_t bin) {
	need->weights[bin]++;
	if (++need->total < forget_frames) {
		return false;
	}
	halve(need->weights, GID_PACING_NEED_BINS, &need->total);
	return true;
}

/*
 * A frame that needed more than the longest window is late with any, and so says nothing about
 * which is the best: the first of a program that has just started, or one that the kernel kept
 * waiting. Were it learned from, each of these would make all frames wait for a minute.
 */
static bool is_beyond(const struct gid_pacing *pacing, double need_ns) {
	return need_ns > ceiling_ms(pacing) * MS;
}

/* The upper edge, in bins, of the quantile above which a share of `above` lies. */
static double need_quantile(const struct gid_pacing_need *need, double above) {
	double rest = above * need->total;
	for (size_t bin = GID_PACING_NEED_BINS; bin > 0; bin--) {
		rest -= need->weights[bin - 1];
		if (rest < 0) {
			return (double)bin;
		}
	}
	return 0;
}

/*
 * The same where too few frames were seen to know such a rare one: the greatest need seen, or what
 * an exponential tail above the 90 % quantile lets expect, if that is more.
 */
static double need_expected(const struct gid_pacing_need *need, double above) {
	double tenth = need_quantile(need, 0.1);
	double excess = 0, weight = 0;
	for (size_t bin = (size_t)tenth; bin < GID_PACING_NEED_BINS; bin++) {
		excess += need->weights[bin] * ((double)bin + 1 - tenth);
		weight += need->weights[bin];
	}
	/* At least a bin, for all lies within one where the need hardly varies. */
	double mean_excess = fmax(weight > 0 ? excess / weight : 0, 1);
	double tail = tenth + mean_excess * log(0.1 / above);
	return fmax(need_quantile(need, 0), tail);
}

static const struct gid_pacing_need *expected_need(const struct gid_pacing *pacing) {
	const struct gid_pacing_need *after = &pacing->after[pacing->content_class];
	return after->total >= learn_frames ? after : &pacing->all;
}

/* The shortest window that makes no more than a share of `above` of the frames late. */
static double safe_window(const struct gid_pacing *pacing, double above) {
	const struct gid_pacing_need *need = expected_need(pacing);
	double bins = need->total * above >= 1 ? need_quantile(need, above)
					       : need_expected(need, above);
	return ceil((bins * need_bin_ns(pacing) + pacing->margin_ns) / MS);
}

/* The share of frames that the window would make late. */
static double late_share(const struct gid_pacing *pacing, double window_ms) {
	const struct gid_pacing_need *need = expected_need(pacing);
	double from = ceil((window_ms * MS - pacing->margin_ns) / need_bin_ns(pacing));
	double late = 0;
	for (size_t bin = (size_t)fmax(from, 0); bin < GID_PACING_NEED_BINS; bin++) {
		late += need->weights[bin];
	}
	return late / need->total;
}

/* The shorter window that gains most time for each frame that it makes late. */
static double spending_window(const struct gid_pacing *pacing, double safe_ms) {
	double best_ms = safe_ms, best_gain = 0;
	for (double window_ms = safe_ms - 1; window_ms >= 1; window_ms--) {
		double late = late_share(pacing, window_ms);
		if (late > spend_max * aim_of(pacing)) {
			break;
		}
		double gain = (safe_ms - window_ms) / late;
		if (gain > best_gain) {
			best_gain = gain;
			best_ms = window_ms;
		}
	}
	return best_ms;
}

/*
 * The longest window, from `window_ms` on, during which next to no content arrives: it waits no
 * longer than with the shorter window, and the repaint has more time.
 */
static int32_t extend(const struct gid_pacing *pacing, int32_t window_ms) {
	if (pacing->arrivals < arrivals_min) {
		return window_ms;
	}
	double bin_ns = (double)pacing->refresh_ns / GID_PACING_PHASE_BINS;
	double allowed = aim_of(pacing) / 4 * pacing->arrivals;
	size_t bin = (size_t)(window_ms * MS / bin_ns);
	while (bin < GID_PACING_PHASE_BINS) {
		allowed -= pacing->phases[bin];
		if (allowed < 0) {
			break;
		}
		bin++;
	}
	int32_t longest = (int32_t)((bin * bin_ns - phase_guard_ns) / MS);
	return longest > window_ms ? longest : window_ms;
}

static int32_t choose(struct gid_pacing *pacing) {
	int32_t ceiling = ceiling_ms(pacing);
	if (pacing->mode == GID_PACING_FREE_RUNNING) {
		return ceiling;
	}
	if (pacing->beyond > fmax(pacing->all.total, learn_frames / 8)) {
		pacing->mode = GID_PACING_FULL;
		return ceiling;
	}
	double above = aim_of(pacing) * exp2(fmin(pacing->saved, 0));
	double wanted = safe_window(pacing, above);
	if (pacing->saved >= 1 && expected_need(pacing)->total * above >= 1) {
		wanted = spending_window(pacing, wanted);
	}
	if (pacing->all.total < learn_frames) {
		pacing->mode = GID_PACING_LEARNING;
		wanted = pacing->avoidable > 0 ? fmax(wanted, pacing->config.fallback_ms)
					       : pacing->config.fallback_ms;
		return (int32_t)clamp(wanted, 1, ceiling);
	}
	if (wanted > ceiling) {
		pacing->mode = GID_PACING_FULL;
		return ceiling;
	}
	int32_t window_ms = (int32_t)fmax(wanted, 1);
	int32_t longest = extend(pacing, window_ms);
	longest = longest < ceiling ? longest : ceiling;
	pacing->mode = longest > window_ms ? GID_PACING_NOTHING_LOST : GID_PACING_LEARNED;
	return longest > window_ms ? longest : window_ms;
}

static void forget(struct gid_pacing *pacing, int64_t refresh_ns) {
	struct gid_pacing_config config = pacing->config;
	gid_pacing_init(pacing, &config);
	pacing->refresh_ns = refresh_ns;
}

/* Frames of an output with a refresh are shown on its grid, late ones a whole number later. */
static void learn_grid(struct gid_pacing *pacing, double late_ns) {
	double refresh = (double)pacing->refresh_ns;
	double off = fabs(late_ns - round(late_ns / refresh) * refresh);
	double share = off > refresh / 8 ? 1 : 0;
	pacing->off_grid += (share - pacing->off_grid) / 16;
	if (pacing->off_grid > 0.5) {
		/* For good: at the longest window such an output looks as if it had a grid. */
		pacing->mode = GID_PACING_FREE_RUNNING;
	}
}

static void learn_need(struct gid_pacing *pacing, double need_ns) {
	double bin = clamp(need_ns / need_bin_ns(pacing), 0, GID_PACING_NEED_BINS - 1);
	if (need_add(&pacing->all, (size_t)bin)) {
		pacing->beyond /= 2;
	}
	need_add(&pacing->after[pacing->content_class], (size_t)bin);
}

static void learn_margin(struct gid_pacing *pacing, double slack_ns, bool missed) {
	double wrong_ns = slack_ns - pacing->margin_ns;
	pacing->avoidable += missed;
	if (missed && wrong_ns > 0) {
		pacing->margin_ns += fmin(wrong_ns, margin_step_ns);
	} else if (!missed && wrong_ns < 0) {
		pacing->margin_ns += fmax(wrong_ns, -margin_step_ns);
	} else if (!missed) {
		/* Down by itself, or a margin that is too large might never be put to the test. */
		pacing->margin_ns -=
				margin_step_ns * aim_of(pacing) * (pacing->avoidable ? 0.1 : 4);
	}
	pacing->margin_ns = clamp(pacing->margin_ns, 0, (double)pacing->refresh_ns / 2);
	pacing->saved = clamp(pacing->saved + aim_of(pacing) - missed, -debt_max, saved_max);
}

static void learn_arrival(struct gid_pacing *pacing, double before_due_ns) {
	double refresh = (double)pacing->refresh_ns;
	double phase = before_due_ns - floor(before_due_ns / refresh) * refresh;
	double bin = clamp(phase / refresh * GID_PACING_PHASE_BINS, 0, GID_PACING_PHASE_BINS - 1);
	pacing->phases[(size_t)bin]++;
	if (++pacing->arrivals >= forget_frames) {
		halve(pacing->phases, GID_PACING_PHASE_BINS, &pacing->arrivals);
	}
}

static bool makes_sense(const struct gid_pacing *pacing, const struct gid_pacing_frame *frame) {
	double span = 1000 * (double)pacing->refresh_ns;
	double done = (double)frame->done_ns - (double)frame->due_ns;
	double shown = (double)frame->shown_ns - (double)frame->due_ns;
	return fabs(done) < span && fabs(shown) < span && frame->window_ms >= 0 &&
			frame->window_ms < span / MS;
}

static void learn(struct gid_pacing *pacing, const struct gid_pacing_frame *frame) {
	double late_ns = (double)(frame->shown_ns - frame->due_ns);
	learn_grid(pacing, late_ns);
	bool missed = late_ns > (double)pacing->refresh_ns / 2;
	pacing->frames++;
	pacing->missed += missed;
	double slack_ns = (double)(frame->due_ns - frame->done_ns);
	double need_ns = frame->window_ms * MS - slack_ns;
	if (is_beyond(pacing, need_ns)) {
		pacing->beyond++;
	} else {
		learn_need(pacing, need_ns);
		learn_margin(pacing, slack_ns, missed);
	}
	if (frame->arrival_ns != GID_PACING_NONE && frame->arrival_ns <= frame->shown_ns) {
		learn_arrival(pacing, (double)frame->due_ns - (double)frame->arrival_ns);
	}
}

void gid_pacing_init(struct gid_pacing *pacing, const struct gid_pacing_config *config) {
	struct gid_pacing_config given = *config;
	memset(pacing, 0, sizeof(*pacing));
	pacing->config.miss_rate = clamp(given.miss_rate, 0.00001, 0.1);
	pacing->config.fallback_ms = given.fallback_ms < 1 ? 1 : given.fallback_ms;
	pacing->window_ms = pacing->config.fallback_ms;
	pacing->margin_ns = margin_start_ns;
}

int32_t gid_pacing_next(struct gid_pacing *pacing, const struct gid_pacing_frame *frame) {
	if (frame != NULL && frame->refresh_ns != pacing->refresh_ns) {
		forget(pacing, frame->refresh_ns);
	}
	double refresh = (double)pacing->refresh_ns;
	if (!(refresh >= refresh_min_ns && refresh <= refresh_max_ns)) {
		pacing->mode = GID_PACING_UNSURE;
		pacing->window_ms = pacing->config.fallback_ms;
		return pacing->window_ms;
	}
	if (frame != NULL && makes_sense(pacing, frame)) {
		learn(pacing, frame);
	}
	pacing->content_class = frame != NULL ? frame->content_class % GID_PACING_CLASSES : 0;
	pacing->window_ms = choose(pacing);
	return pacing->window_ms;
}

const char *gid_pacing_mode_name(enum gid_pacing_mode mode) {
	switch (mode) {
	case GID_PACING_LEARNING:
		return "learning";
	case GID_PACING_LEARNED:
		return "learned";
	case GID_PACING_NOTHING_LOST:
		return "longer: this makes no frame later";
	case GID_PACING_FULL:
		return "full: the repaint needs the whole refresh";
	case GID_PACING_FREE_RUNNING:
		return "free-running: no refresh to wait for";
	case GID_PACING_UNSURE:
		return "unsure: no usable refresh interval";
	}
	return "unknown";
}
