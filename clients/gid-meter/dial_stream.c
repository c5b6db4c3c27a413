// SPDX-License-Identifier: MIT
#include "dial_stream.h"

#include <drm_fourcc.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "dial.h"

/*
 * The one that is drawn, the one that new readers get, and three for a reader: shown, prepared to
 * be shown, and on its way.
 */
#define SLOTS 5
#define LOOKS 4 /* looks in each interval, so that no shown picture is missed */

int dial_stream_fail(const struct dial_stream *dials, const char *what, int error) {
	const char *sentence = gid_domain_error(dials->domain);
	warnx("%s: %s", what, sentence[0] != '\0' ? sentence : gid_strerror(error));
	return -1;
}

/* --- a picture -------------------------------------------------------------------------------- */

/*
 * There is no free slot: readers hold all, or gidd has revoked the slab and gives no other. Leaves
 * this picture out.
 */
static void dial_stream_starve(struct dial_stream *dials, uint64_t now) {
	gid_producer_lacks_memory(dials->producer);
	dials->starved++;
	schedule_drawn(&dials->schedule, dials->sequence + 1, now, now);
}

/* Takes a slot to draw into. Returns it, or -errno. */
static int dial_stream_take(struct dial_stream *dials) {
	int error = gid_slab_renew(dials->slab);
	if (error < 0 && !dials->told) {
		dial_stream_fail(dials, "memory for the dials, which is asked for again", error);
	}
	dials->told = error < 0;
	return gid_slab_take(dials->slab);
}

static int dial_stream_send(struct dial_stream *dials, uint32_t slot, uint64_t begun) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(dials->slab, slot);
	frame.capture_time = begun;
	int ret = gid_producer_send(dials->producer, &frame);
	/* From now on only its readers keep it from being taken again. */
	gid_slab_give(dials->slab, slot);
	if (ret < 0) {
		return dial_stream_fail(dials, "a picture", ret);
	}
	dials->sequence = frame.sequence;
	dials->unread = ret > 0 ? frame.sequence : 0;
	dials->drawn++;
	return 0;
}

static int dial_stream_draw(struct dial_stream *dials) {
	uint64_t begun = gid_clock_now();
	gid_producer_dispatch(dials->producer);
	int slot = dial_stream_take(dials);
	if (slot < 0) {
		dial_stream_starve(dials, begun);
		return 0;
	}
	const struct gid_layout *layout = &dials->layout;
	uint8_t *data = gid_slab_data(dials->slab, (uint32_t)slot);
	dials_draw(data + layout->planes[0].offset, layout->width, layout->height,
			layout->planes[0].stride, (double)(begun - dials->started) / 1e9);
	int error = dial_stream_send(dials, (uint32_t)slot, begun);
	schedule_drawn(&dials->schedule, dials->sequence, begun, gid_clock_now());
	return error;
}

/* --- what became of it ------------------------------------------------------------------------ */

/* A display of our own domain counts before another one. */
static bool dial_stream_get_shown(struct dial_stream *dials, struct gid_shown *shown) {
	uint32_t own = gid_domain_number(dials->domain);
	return gid_producer_get_shown(dials->producer, own, shown) == 0 ||
			gid_producer_get_shown(dials->producer, 0, shown) == 0;
}

static void dial_stream_poll(struct dial_stream *dials, uint64_t now) {
	struct gid_shown shown;
	if (dial_stream_get_shown(dials, &shown)) {
		schedule_shown(&dials->schedule, &shown);
		if (shown.sequence > dials->newest_shown && shown.time >= dials->shown.last) {
			dials->newest_shown = shown.sequence;
			tally_add(&dials->shown, shown.time);
		}
	}
	if (dials->unread != 0 && gid_producer_consumers(dials->producer) > 0 &&
			gid_producer_unread(dials->producer) == 0) {
		dials->unread = 0;
		tally_add(&dials->taken, now);
	}
}

int dial_stream_tick(struct dial_stream *dials, uint64_t *wake) {
	uint64_t now = gid_clock_now();
	uint64_t late = dials->wake != 0 && now > dials->wake ? now - dials->wake : 0;
	dials->late = late > dials->late ? late : dials->late;
	dial_stream_poll(dials, now);
	if (dials->next <= now) {
		if (dial_stream_draw(dials) < 0) {
			return -1;
		}
		now = gid_clock_now();
	}
	dials->next = schedule_next(&dials->schedule, now);
	*wake = now + schedule_interval(&dials->schedule, now) / LOOKS;
	if (*wake > dials->next) {
		*wake = dials->next;
	}
	dials->wake = *wake;
	return 0;
}

/* --- begin and end ---------------------------------------------------------------------------- */

static int dial_stream_publish(struct dial_stream *dials, const char *stream) {
	const struct gid_producer_options options = {
			.size = sizeof(options),
			.quiet = true,
			.keeps_shown = true,
	};
	int error = gid_slab_create_for_stream(
			dials->domain, stream, &dials->layout, 0, SLOTS, NULL, &dials->slab);
	if (error < 0) {
		return dial_stream_fail(dials, "memory for the dials", error);
	}
	error = gid_producer_create(dials->domain, stream, &options, &dials->producer);
	return error < 0 ? dial_stream_fail(dials, stream, error) : 0;
}

int dial_stream_init(struct dial_stream *dials, const struct dial_stream_options *options) {
	*dials = (struct dial_stream){0};
	if (gid_domain_connect(options->domain, &dials->domain) < 0) {
		warnx("%s", gid_domain_connect_error());
		return -1;
	}
	int error = gid_layout_init(
			&dials->layout, DRM_FORMAT_XRGB8888, options->width, options->height, 64);
	if (error < 0) {
		return dial_stream_fail(dials, "--size", error);
	}
	error = dial_stream_publish(dials, options->stream);
	dials->started = dials->next = gid_clock_now();
	schedule_init(&dials->schedule, dials->started, options->rate);
	return error;
}

void dial_stream_finish(struct dial_stream *dials) {
	gid_producer_destroy(dials->producer);
	gid_slab_destroy(dials->slab, false);
	gid_domain_destroy(dials->domain);
}

void dial_stream_report(const struct dial_stream *dials) {
	bool is_shown = dials->shown.count > 0;
	const struct tally *tally = is_shown ? &dials->shown : &dials->taken;
	printf("{\"measured\": \"%s\", \"drawn\": %" PRIu64 ", \"shown\": %" PRIu64
	       ", \"seconds\": %.3f, \"rate\": %.3f, "
	       "\"interval_p50_us\": %.0f, \"interval_p99_us\": %.0f, \"interval_max_us\": %" PRIu64
	       ", \"late_max_us\": %" PRIu64 ", \"starved\": %" PRIu64 "}\n",
			is_shown ? "shown" : "taken", dials->drawn, tally->count,
			tally_seconds(tally), tally_rate(tally),
			histogram_percentile(&tally->intervals, 50),
			histogram_percentile(&tally->intervals, 99), tally->intervals.max,
			dials->late / 1000, dials->starved);
	fflush(stdout);
}
