// SPDX-License-Identifier: MIT
#include "output_lending.h"

#include <errno.h>
#include <string.h>

#include "client_program.h"
#include "picture_box.h"

/* gid_producer_lacks_memory() wants a call at least once a second. */
#define TICK_MS 500
/* Longer than a lease: consumers may hold for so long what is not shown any more. */
#define KEPT_NS UINT64_C(1500000000)
#define PAUSE_NS UINT64_C(10000000000)
/* Buffers that are held but not shown any more: a client with four buffers can go on. */
#define KEPT_MAX 2

/* --- whose buffers ---------------------------------------------------------------------------- */

static void lending_forget_client(struct output_lending *lending) {
	if (lending->client != NULL) {
		wl_list_remove(&lending->client_destroy.link);
		lending->client = NULL;
	}
}

static void handle_client_destroy(struct wl_listener *listener, void *data) {
	struct output_lending *lending = wl_container_of(listener, lending, client_destroy);
	lending_forget_client(lending);
}

/* Asks the kernel once for each client, unless clients take turns. */
static bool lending_lets(struct output_lending *lending, struct wl_client *client) {
	if (client != lending->client) {
		lending_forget_client(lending);
		lending->client = client;
		lending->client_destroy.notify = handle_client_destroy;
		wl_client_add_destroy_listener(client, &lending->client_destroy);
		lending->is_programs = client_list_has(lending->programs, client);
	}
	return lending->is_programs;
}

/* --- which memory ----------------------------------------------------------------------------- */

static bool lending_knows(const struct output_lending *lending, uint32_t key) {
	for (size_t i = 0; i < LENDING_SLABS; i++) {
		if (lending->granted[i] == key) {
			return true;
		}
	}
	return false;
}

static void lending_forget(struct output_lending *lending, uint32_t key) {
	for (size_t i = 0; i < LENDING_SLABS; i++) {
		if (lending->granted[i] == key) {
			lending->granted[i] = 0;
		}
	}
}

static void lending_learn(struct output_lending *lending, uint32_t key) {
	lending->granted[lending->next_granted++ % LENDING_SLABS] = key;
}

/* Consumers on other machines can only read windows. */
static bool lending_is_seen(const struct output_lending *lending, const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.memory == GID_MEMORY_WINDOW || !gid_producer_needs_window(lending->producer);
}

/* Reclaimed memory reads as zeroes, and is not the picture any more. */
static void handle_revoked(void *data, struct gid_slab *slab) {
	struct output_lending *lending = data;
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	lending_forget(lending, gid_slab_key(info.gid));
	lending->lost(lending->data);
}

static void lending_set_shown(struct output_lending *lending, struct lent_buffer *shown) {
	struct lent_buffer *old = lending->shown;
	struct gid_slab *before = old != NULL ? old->slab : NULL;
	struct gid_slab *now = shown != NULL ? shown->slab : NULL;
	if (before != now && before != NULL) {
		gid_slab_on_revoked(before, NULL, lending);
	}
	if (before != now && now != NULL) {
		gid_slab_on_revoked(now, handle_revoked, lending);
	}
	if (old != NULL && old != shown) {
		old->outdated = gid_clock_now();
	}
	lending->shown = shown;
}

/* --- releases --------------------------------------------------------------------------------- */

/* Buffers that consumers hold, but that are not shown any more. */
static int lending_kept(const struct output_lending *lending) {
	return wl_list_length(&lending->lent) - (lending->shown != NULL);
}

/* How long consumers have held one of them, at most. */
static uint64_t lending_kept_for(const struct output_lending *lending) {
	const struct lent_buffer *lent;
	uint64_t now = gid_clock_now(), longest = 0;
	wl_list_for_each(lent, &lending->lent, link) {
		if (lent != lending->shown && now - lent->outdated > longest) {
			longest = now - lent->outdated;
		}
	}
	return longest;
}

void output_lending_give_back(struct output_lending *lending) {
	lent_buffers_give_back(&lending->lent, lending->shown);
}

void output_lending_collect(struct output_lending *lending) {
	if (lending_kept(lending) > 0 && lending->producer != NULL) {
		gid_producer_want_release(lending->producer);
		output_lending_give_back(lending);
	}
	if (lending_kept(lending) > 0 && !lending->is_ticking) {
		lending->is_ticking = true;
		wl_event_source_timer_update(lending->timer, TICK_MS);
	}
}

/*
 * The client may need what consumers hold. The release of a buffer in two streams reaches only one
 * of them.
 */
static int handle_timer(void *data) {
	struct output_lending *lending = data;
	lending->is_ticking = false;
	output_lending_collect(lending);
	uint64_t kept_for = lending_kept_for(lending);
	if (kept_for > TICK_MS * UINT64_C(1000000)) {
		gid_producer_lacks_memory(lending->producer);
	}
	if (kept_for > KEPT_NS) {
		lending->paused_until = gid_clock_now() + PAUSE_NS;
	}
	return 0;
}

/* --- one picture ------------------------------------------------------------------------------ */

/* Returns why this picture cannot be lent; NULL: it can. */
static const char *lending_find(struct output_lending *lending, struct output_cover *cover) {
	const char *why = output_cover_find(lending->output, lending->domain, cover);
	if (why != NULL) {
		return why;
	}
	if (!lending_lets(lending, cover->client)) {
		return "lend= does not name its program";
	}
	if (!lending_is_seen(lending, cover->slab)) {
		return "a reader on another machine does not see its memory";
	}
	if (lending->is_off ||
			(gid_domain_sealed_since(lending->domain) != 0 &&
					!lending_knows(lending, gid_slab_key(cover->gid)))) {
		return "gidd lends nothing more";
	}
	output_lending_collect(lending);
	if (gid_clock_now() < lending->paused_until || lending_kept(lending) >= KEPT_MAX) {
		return "readers keep its pictures";
	}
	return NULL;
}

static bool is_all(const struct gid_slab *slab, struct gid_box crop) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return crop.x == 0 && crop.y == 0 && crop.width == (int32_t)info.layout.width &&
			crop.height == (int32_t)info.layout.height;
}

static void lending_make_frame(struct output_lending *lending, const struct output_cover *cover) {
	lending->frame = (struct gid_frame)GID_FRAME_INIT;
	lending->frame.gid = cover->gid;
	if (!is_all(cover->slab, cover->crop)) {
		lending->frame.crop = cover->crop;
	}
}

/*
 * Sends a buffer whose memory was not lent yet. gidd has to grant it first, and until then the
 * output is drawn. The damage is not known yet, so it is full. Returns whether consumers have the
 * frame now.
 */
static bool lending_try(struct output_lending *lending, uint64_t present_time) {
	uint32_t key = gid_slab_key(lending->frame.gid);
	struct gid_frame frame = lending->frame;
	frame.capture_time = gid_clock_now();
	frame.present_time = present_time;
	int ret = gid_producer_send(lending->producer, &frame);
	if (ret == -EINPROGRESS) {
		lending->asked = key;
	}
	if (ret >= 0) {
		lending_learn(lending, key);
		lending->is_begun = true;
	}
	return ret >= 0;
}

static bool same_box(struct gid_box a, struct gid_box b) {
	return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

/*
 * Consumers have the frame afterwards, or get it after the repaint. Returns NULL, or why the output
 * must be drawn.
 */
static const char *lending_lend(struct output_lending *lending, const struct output_cover *cover,
		uint64_t present_time) {
	struct gid_box crop = lending->frame.crop;
	lending_make_frame(lending, cover);
	bool is_known = lending_knows(lending, gid_slab_key(cover->gid));
	if (!is_known && !lending_try(lending, present_time)) {
		return "gidd has not granted its memory yet";
	}
	const struct forward_picture picture = {
			.gid = cover->gid, .slab = cover->slab, .buffer = cover->buffer};
	struct lent_buffer *lent = lent_buffers_add(&lending->lent, &picture);
	if (lent == NULL) {
		return "there is no memory";
	}
	lending->whole = lending->shown == NULL || !same_box(crop, lending->frame.crop);
	lending->is_unsent = !lending->is_begun && (lending->whole || lent != lending->shown);
	lending_set_shown(lending, lent);
	if (lending->is_begun) {
		output_lending_collect(lending);
	}
	return NULL;
}

#define lending_log(lending, ...) weston_log_paced(&(lending)->pacer, 30, 60000, __VA_ARGS__)

static void lending_tell(
		struct output_lending *lending, const char *why, const struct output_cover *cover) {
	const char *name = lending->output->name;
	if (why == lending->told) {
		lending->count += why == NULL;
		return;
	}
	if (why == NULL) {
		lending->count = 1;
		lending_log(lending, "gid: output %s lends pictures of process %d\n", name,
				(int)client_pid(cover->client));
	} else if (lending->told == NULL) {
		lending_log(lending,
				"gid: output %s is drawn, after %u pictures that were lent: %s\n",
				name, lending->count, why);
	} else {
		lending_log(lending, "gid: output %s is drawn: %s\n", name, why);
	}
	lending->told = why;
}

bool output_lending_begin(
		struct output_lending *lending, const char *obstacle, uint64_t present_time) {
	struct output_cover cover = {0};
	if (client_list_is_empty(lending->programs)) {
		return false;
	}
	lending->is_begun = lending->is_unsent = lending->whole = false;
	const char *why = obstacle != NULL ? obstacle : lending_find(lending, &cover);
	if (why == NULL) {
		why = lending_lend(lending, &cover, present_time);
	}
	lending_tell(lending, why, &cover);
	return why == NULL;
}

bool output_lending_put(struct output_lending *lending, struct gid_box changed, bool whole,
		uint64_t capture_time, uint64_t present_time) {
	struct gid_frame *frame = &lending->frame;
	whole = whole || lending->whole;
	if (lending->is_begun || (!lending->is_unsent && !whole && box_is_empty(changed))) {
		return false;
	}
	frame->damage = (struct gid_box){0};
	if (!whole && !box_is_empty(changed)) {
		frame->damage = (struct gid_box){changed.x + frame->crop.x,
				changed.y + frame->crop.y, changed.width, changed.height};
	}
	frame->capture_time = capture_time;
	frame->present_time = present_time;
	lending->is_unsent = true;
	return true;
}

int output_lending_send(struct output_lending *lending) {
	if (!lending->is_unsent) {
		return 0;
	}
	lending->is_unsent = false;
	int ret = gid_producer_send(lending->producer, &lending->frame);
	if (ret < 0) {
		lending_forget(lending, gid_slab_key(lending->frame.gid));
		return ret;
	}
	output_lending_collect(lending);
	return 1;
}

void output_lending_outdate(struct output_lending *lending) {
	if (lending->shown != NULL) {
		lending_set_shown(lending, NULL);
		output_lending_collect(lending);
	}
}

void output_lending_granted(struct output_lending *lending, gid_id gid, int error) {
	bool is_refused = error != 0 && error != -ENOTCONN && error != -ETIMEDOUT;
	if (is_refused && lending->asked == gid_slab_key(gid)) {
		weston_log("gid: output %s lends no pictures any more: gidd refuses to grant their "
			   "memory: %s\n",
				lending->output->name, gid_strerror(error));
		lending->is_off = true;
	}
}

/* --- create and destroy ----------------------------------------------------------------------- */

void output_lending_set_producer(struct output_lending *lending, struct gid_domain *domain,
		struct gid_producer *producer) {
	lending_set_shown(lending, NULL);
	lent_buffers_end(&lending->lent);
	memset(lending->granted, 0, sizeof(lending->granted));
	lending->is_unsent = lending->is_off = false;
	lending->asked = 0;
	lending->paused_until = 0;
	lending->domain = domain;
	lending->producer = producer;
}

int output_lending_init(struct output_lending *lending, const struct client_list *programs,
		struct weston_output *output, void (*lost)(void *data), void *data) {
	*lending = (struct output_lending){.programs = programs,
			.output = output,
			.lost = lost,
			.data = data,
			.told = ""};
	wl_list_init(&lending->lent);
	lending->timer = wl_event_loop_add_timer(
			wl_display_get_event_loop(output->compositor->wl_display), handle_timer,
			lending);
	return lending->timer != NULL ? 0 : -ENOMEM;
}

void output_lending_finish(struct output_lending *lending) {
	output_lending_set_producer(lending, NULL, NULL);
	lending_forget_client(lending);
	wl_event_source_remove(lending->timer);
}
