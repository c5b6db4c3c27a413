// SPDX-License-Identifier: MIT
/* The connection of a requester with its engine. */
#include <drm_fourcc.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "canvas_request.h"
#include "pause.h"

#define LEASE_NS 120000000000ull /* a long list may take as long as an engine lets it */
#define RING_AGAIN_NS 200000000u /* between two bells for a list that is waited for */
#define LIST_ROW 1024u		 /* pixels of a slot's layout, which are words here */
#define BATCH_WORDS 65536u	 /* of a slot, at least */

static const char memory_went[] = "the engine or the list's memory went while the list was made";

static _Thread_local char create_text[256];

int canvas_fail(struct gid_canvas *canvas, int error, const char *format, ...) {
	va_list args;
	va_start(args, format);
	vsnprintf(canvas->text, sizeof(canvas->text), format, args);
	va_end(args);
	return error;
}

const char *gid_canvas_create_error(void) {
	return create_text;
}

const char *gid_canvas_error(const struct gid_canvas *canvas) {
	return canvas->text;
}

bool gid_canvas_is_connected(const struct gid_canvas *canvas) {
	return canvas->engine != 0 && canvas->report != NULL;
}

int gid_canvas_get_fd(const struct gid_canvas *canvas) {
	return canvas->epoll_fd;
}

uint32_t gid_canvas_engine(const struct gid_canvas *canvas) {
	return canvas->engine;
}

bool gid_canvas_needs_window(const struct gid_canvas *canvas) {
	return gid_producer_needs_window(canvas->lists);
}

/* --- what the engine says --------------------------------------------------------------------- */

static uint64_t load(const uint64_t *field) {
	return __atomic_load_n(field, __ATOMIC_ACQUIRE);
}

/* What its report says last is how far an engine came. */
static void note_done(struct gid_canvas *canvas) {
	const uint64_t fence = canvas->report == NULL ? 0 : load(&canvas->report->fence);
	canvas->done = fence > canvas->done ? fence : canvas->done;
}

/* Those that are under way, and what the engine knew by them. */
static void drop_lists(struct gid_canvas *canvas) {
	note_done(canvas);
	canvas->epoch++;
	canvas->rung = 0;
	canvas->has_canvas = false;
	canvas->lost = canvas->fence;
}

static void drop_engine(struct gid_canvas *canvas) {
	canvas->engine = 0;
	drop_lists(canvas);
}

static bool is_taken(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.revoked;
}

/*
 * Lists are lost with their memory: gidd took it; or it moved, and we came too late. In both cases
 * what was sent is not there any more.
 */
static void check_memory(struct gid_canvas *canvas) {
	if (gid_slab_is_current(canvas->slab, canvas->sent)) {
		return;
	}
	if (is_taken(canvas->slab) || canvas->emptied != gid_slab_emptied(canvas->slab)) {
		canvas->emptied = gid_slab_emptied(canvas->slab);
		drop_lists(canvas);
	}
}

static void handle_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	struct gid_canvas *canvas = data;
	if (!joined && consumers == 0) {
		drop_engine(canvas);
	} else if (joined) {
		canvas->engine = domain;
	}
}

/* The slot that lists are added to also comes back, when the engine sleeps, and stays ours. */
static void handle_released(void *data, gid_id gid) {
	struct gid_canvas *canvas = data;
	uint32_t slot = gid_slot_of(gid);
	canvas->freed++;
	if (canvas->batch == NULL || slot != canvas->slot) {
		gid_slab_give(canvas->slab, slot);
	}
}

/* Between two looks whether a report can be imported by now, of which nobody tells. */
#define IMPORT_RETRY_NS 50000000u

static void forget_report(struct gid_canvas *canvas) {
	note_done(canvas);
	gid_slab_unref(canvas->report_slab);
	canvas->report_slab = NULL;
	canvas->report = NULL;
}

static void handle_report_state(void *data, enum gid_consumer_state state, int reason) {
	struct gid_canvas *canvas = data;
	if (state != GID_CONSUMER_LIVE) {
		forget_report(canvas);
		canvas->report_gid = GID_NONE;
		canvas->knows_refused = false;
	}
}

/*
 * Its gid comes once, through the ring, and may be here before the grant, which comes by way of the
 * daemons: then it is to be tried again.
 */
static void take_report(struct gid_canvas *canvas) {
	struct gid_slab *slab;
	struct gid_slab_info info;
	if (gid_slab_import(canvas->domain, canvas->report_gid, &slab) < 0) {
		return;
	}
	gid_slab_get_info(slab, &info);
	const struct engine_report *report = info.slot_size < sizeof(*report)
			? NULL
			: gid_slab_view(slab, gid_slot_of(canvas->report_gid));
	/* Its numbers are loaded whole, which some processors only do where they lie. */
	if (report == NULL || (uintptr_t)report % _Alignof(uint64_t) != 0 ||
			report->magic != ENGINE_REPORT_MAGIC || report->version != ENGINE_VERSION) {
		gid_slab_unref(slab);
		canvas->report_gid = GID_NONE;
		return;
	}
	canvas->report_slab = slab;
	canvas->report = report;
	if (!canvas->knows_refused) { /* a report that has moved may tell of more */
		canvas->refused = load(&report->refused);
		canvas->knows_refused = true;
	}
}

int gid_canvas_dispatch(struct gid_canvas *canvas) {
	struct gid_frame frame;
	gid_producer_dispatch(canvas->lists);
	/* A ring has no more in it: an engine that tells without end is heard again next time. */
	for (uint32_t i = 0;
			i < GID_CREDIT_MAX && gid_consumer_receive(canvas->reports, &frame) == 1;
			i++) {
		/* The same one again only wakes us. */
		if (frame.gid != GID_NONE && frame.gid != canvas->report_gid) {
			forget_report(canvas);
			canvas->report_gid = frame.gid;
		}
		gid_consumer_release(canvas->reports, &frame);
	}
	if (canvas->report == NULL && canvas->report_gid != GID_NONE) {
		take_report(canvas);
	}
	return 0;
}

/* The engine refused lists: reads why it refused the last one. */
static int read_refusal(struct gid_canvas *canvas, uint64_t refused) {
	const struct engine_report *report = canvas->report;
	for (int tries = 0; tries < 100; tries++) {
		uint64_t before = load(&report->refusals);
		uint64_t words[ENGINE_REPORT_TEXT / 8];
		for (size_t i = 0; i < ENGINE_REPORT_TEXT / 8; i++) {
			words[i] = load((const uint64_t *)(const void *)report->refused_text + i);
		}
		int error = __atomic_load_n(&report->refused_error, __ATOMIC_ACQUIRE);
		uint32_t word = __atomic_load_n(&report->refused_word, __ATOMIC_ACQUIRE);
		uint64_t fence = load(&report->refused_fence);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (before % 2 == 0 && load(&report->refusals) == before) {
			canvas->refused = refused;
			/* The list that told how large the canvas is may be among them. */
			canvas->has_canvas = canvas->has_canvas && error != -ENODATA &&
					(canvas->canvas_fence == 0 || fence < canvas->canvas_fence);
			return canvas_fail(canvas, error < 0 && error >= -4095 ? error : -EPROTO,
					"the engine refused list %llu at word %u: %.*s",
					(unsigned long long)fence, word, (int)sizeof(words) - 1,
					(const char *)words);
		}
	}
	return canvas_fail(canvas, -EPROTO, "the engine refused a list");
}

void gid_canvas_get_stats(const struct gid_canvas *canvas, struct gid_canvas_stats *stats) {
	const struct engine_report *report = canvas->report;
	*stats = (struct gid_canvas_stats){0};
	if (report != NULL) {
		stats->lists = load(&report->lists);
		stats->refused = load(&report->refused);
		stats->presented = load(&report->presented);
		stats->not_presented = load(&report->not_presented);
		stats->work_ns = load(&report->work_ns);
		stats->slots = report->slots;
		stats->back_end = report->back_end;
		stats->copied_sources = load(&report->copied_sources);
		stats->copied_canvases = load(&report->copied_canvases);
	}
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* Sleeps until something happens to the canvas or its domain, or the time is over. */
static void sleep_until(struct gid_canvas *canvas, uint64_t deadline) {
	uint64_t now = gid_clock_now();
	struct pollfd fds[] = {
			{.fd = gid_domain_get_fd(canvas->domain), .events = POLLIN},
			{.fd = canvas->epoll_fd, .events = POLLIN},
	};
	uint64_t freed = canvas->freed, lost = canvas->lost;
	gid_producer_want_release(canvas->lists);
	if (canvas->freed != freed || canvas->lost != lost) {
		return; /* what came before is not told again */
	}
	if (canvas->report == NULL && canvas->report_gid != GID_NONE &&
			deadline > now + IMPORT_RETRY_NS) {
		deadline = now + IMPORT_RETRY_NS;
	}
	int timeout = deadline == UINT64_MAX ? -1
			: deadline <= now    ? 0
					     : (int)((deadline - now + 999999) / 1000000);
	poll(fds, 2, timeout);
}

static void dispatch_all(struct gid_canvas *canvas) {
	gid_domain_dispatch(canvas->domain);
	gid_canvas_dispatch(canvas);
}

static uint64_t deadline_after(int timeout_ms) {
	return timeout_ms < 0 ? UINT64_MAX : gid_clock_now() + (uint64_t)timeout_ms * 1000000;
}

static bool is_done(const struct gid_canvas *canvas, uint64_t fence) {
	return canvas->report != NULL && load(&canvas->report->fence) >= fence;
}

/*
 * The engine is to tell when this list is done: by its report, or by giving back a batch that has
 * no more. Returns whether it is done.
 */
static bool want(struct gid_canvas *canvas, uint64_t fence) {
	gid_producer_want_release(canvas->lists);
	if (canvas->batch != NULL) {
		__atomic_store_n(&canvas->batch->wanted, fence, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
	return is_done(canvas, fence);
}

/*
 * Has an engine that sleeps look at the batch once more: its bell may have been lost on the way to
 * another machine, or the batch may have moved to other memory while the engine read it. Returns
 * when that is to be asked again.
 */
static uint64_t ring_again(struct gid_canvas *canvas) {
	struct gid_frame frame = GID_FRAME_INIT;
	uint64_t now = gid_clock_now();
	if (now - canvas->rung_at < RING_AGAIN_NS) {
		return canvas->rung_at + RING_AGAIN_NS;
	}
	if (canvas->batch != NULL && canvas->report != NULL &&
			(load(&canvas->report->asleep) & 1) != 0) {
		frame.gid = gid_slab_gid(canvas->slab, canvas->slot);
		gid_producer_send(canvas->lists, &frame);
		canvas->rung_at = now;
	}
	return now + RING_AGAIN_NS;
}

int gid_canvas_wait(struct gid_canvas *canvas, uint64_t fence, int timeout_ms) {
	uint64_t deadline = deadline_after(timeout_ms);
	uint64_t spin_end = canvas->options.spin_us == 0
			? 0
			: gid_clock_now() + canvas->options.spin_us * 1000ull;
	spin_end = spin_end < deadline ? spin_end : deadline;
	if (fence > canvas->fence) {
		return canvas_fail(canvas, -EINVAL, "no list with this fence was submitted");
	}
	for (;;) {
		if (fence <= canvas->lost) { /* also if a new engine did later ones */
			return fence <= canvas->done ? 0
						     : canvas_fail(canvas, -EPIPE,
								       "the engine ended, or "
								       "the list's memory was "
								       "taken back, before the "
								       "list was done");
		}
		if (is_done(canvas, fence)) {
			break;
		}
		if (spin_end != 0 && gid_clock_now() < spin_end) {
			give_way();
			continue;
		}
		spin_end = 0;
		dispatch_all(canvas);
		if (want(canvas, fence)) {
			break;
		}
		check_memory(canvas);
		if (fence <= canvas->lost) {
			continue;
		}
		uint64_t again = ring_again(canvas);
		if (gid_clock_now() >= deadline) {
			return canvas_fail(canvas, -ETIMEDOUT, "the list is not done in this time");
		}
		sleep_until(canvas, deadline < again ? deadline : again);
		dispatch_all(canvas);
	}
	uint64_t refused = load(&canvas->report->refused);
	int ret = refused != canvas->refused ? read_refusal(canvas, refused) : 0;
	if (fence >= canvas->canvas_fence) {
		canvas->canvas_fence = 0;
	}
	return ret;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Other memory for batches, if gidd took what there was. Returns 0 or -errno. */
static int renew_memory(struct gid_canvas *canvas) {
	if (!is_taken(canvas->slab)) {
		return 0;
	}
	check_memory(canvas);
	if (canvas->words != NULL) { /* the list that was begun is in what there was */
		return canvas_fail(canvas, -ENOTCONN, "%s", memory_went);
	}
	int ret = gid_slab_renew(canvas->slab);
	if (ret < 0) {
		return canvas_fail(canvas, ret, "%s", gid_domain_error(canvas->domain));
	}
	canvas->emptied = gid_slab_emptied(canvas->slab);
	for (uint32_t slot = 0; slot < SLOTS_MAX; slot++) {
		gid_slab_give(canvas->slab, slot); /* nobody tells that they came back */
	}
	return 0;
}

/* A free slot; waits for one. Returns it or -errno. */
static int take_slot(struct gid_canvas *canvas) {
	uint64_t spin_end = 0;
	for (;;) {
		if (!gid_canvas_is_connected(canvas)) {
			dispatch_all(canvas);
		}
		if (!gid_canvas_is_connected(canvas)) {
			return canvas_fail(canvas, -ENOTCONN, "the engine is away");
		}
		int slot = renew_memory(canvas);
		if (slot < 0) {
			return slot;
		}
		slot = gid_slab_take(canvas->slab);
		if (slot >= 0) {
			return slot;
		}
		gid_producer_dispatch(canvas->lists);
		slot = gid_slab_take(canvas->slab);
		if (slot >= 0) {
			return slot;
		}
		uint64_t now = gid_clock_now();
		spin_end = spin_end == 0 ? now + canvas->options.spin_us * 1000ull : spin_end;
		if (now < spin_end) {
			give_way();
		} else {
			sleep_until(canvas, UINT64_MAX);
			dispatch_all(canvas);
		}
	}
}

/* No more lists come to the batch: its slot comes back when the engine is done with it. */
static void close_batch(struct gid_canvas *canvas) {
	if (canvas->batch == NULL) {
		return;
	}
	__atomic_store_n(&canvas->batch->end, canvas->end | ENGINE_CLOSED, __ATOMIC_RELEASE);
	canvas->batch = NULL;
	if (gid_slab_holders(canvas->slab, canvas->slot) == 0) {
		gid_slab_give(canvas->slab, canvas->slot);
	}
}

bool canvas_has_room(struct gid_canvas *canvas) {
	if (canvas_has_batch(canvas, LIST_SHORT)) {
		return true;
	}
	int slot = gid_canvas_is_connected(canvas) ? gid_slab_take(canvas->slab) : -EAGAIN;
	if (slot >= 0) {
		gid_slab_give(canvas->slab, (uint32_t)slot);
	}
	return slot >= 0;
}

int canvas_open_batch(struct gid_canvas *canvas, uint32_t words) {
	if (!gid_canvas_is_connected(canvas)) {
		dispatch_all(canvas);
	}
	if (!gid_canvas_is_connected(canvas)) {
		return canvas_fail(canvas, -ENOTCONN, "the engine is away");
	}
	check_memory(canvas);
	if (canvas_has_batch(canvas, words)) {
		return 0;
	}
	close_batch(canvas);
	int slot = take_slot(canvas);
	if (slot < 0) {
		return slot;
	}
	canvas->slot = (uint32_t)slot;
	canvas->batch = gid_slab_data(canvas->slab, canvas->slot);
	canvas->end = sizeof(*canvas->batch) / 4;
	canvas->batch_epoch = canvas->epoch;
	canvas->sent = GID_NONE;
	*canvas->batch = (struct engine_batch){
			.magic = ENGINE_BATCH_MAGIC,
			.version = ENGINE_VERSION,
			.serial = ++canvas->serial,
			.end = canvas->end,
	};
	return 0;
}

/* Has the engine look at the batch, which it does by itself as long as it has it and is awake. */
static int send_batch(struct gid_canvas *canvas) {
	struct gid_frame frame = GID_FRAME_INIT;
	for (;;) {
		frame.gid = gid_slab_gid(canvas->slab, canvas->slot);
		int sent = gid_producer_send(canvas->lists, &frame);
		if (sent < 0) {
			return canvas_fail(canvas, sent, "%s", gid_domain_error(canvas->domain));
		}
		if (sent > 0) {
			canvas->sent = frame.gid;
			canvas->rung_at = gid_clock_now();
			return 0;
		}
		if (gid_producer_consumers(canvas->lists) == 0) {
			return canvas_fail(canvas, -ENOTCONN, "the engine is away");
		}
		sleep_until(canvas, UINT64_MAX); /* until one of those under way is back */
		dispatch_all(canvas);
		if (canvas->batch_epoch != canvas->epoch) {
			return canvas_fail(canvas, -ENOTCONN, "%s", memory_went);
		}
	}
}

int canvas_publish(struct gid_canvas *canvas) {
	check_memory(canvas);
	if (canvas->batch == NULL || canvas->batch_epoch != canvas->epoch || canvas->engine == 0) {
		return canvas_fail(canvas, -ENOTCONN, "%s", memory_went);
	}
	canvas->fence++;
	canvas->end += canvas->count;
	__atomic_store_n(&canvas->batch->end, canvas->end, __ATOMIC_RELEASE);
	/* After this store: an engine that falls asleep says so before it looks again. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	uint64_t asleep = canvas->report == NULL ? 0 : load(&canvas->report->asleep);
	/* Of memory that has moved the engine does not know. */
	bool is_known = canvas->sent == gid_slab_gid(canvas->slab, canvas->slot);
	bool must_ring = !is_known || ((asleep & 1) != 0 && asleep != canvas->rung);
	if (must_ring) {
		canvas->rung = asleep;
		int ret = send_batch(canvas);
		if (ret < 0) {
			return ret;
		}
	}
	if (canvas->sets_size) {
		canvas->has_canvas = true;
		canvas->canvas_fence = canvas->fence;
	}
	return 0;
}

int gid_canvas_share(struct gid_canvas *canvas, struct gid_slab *slab) {
	if (canvas->engine == 0) {
		return canvas_fail(canvas, -ENOTCONN, "the engine is away");
	}
	int ret = gid_slab_grant(slab, canvas->engine);
	if (ret < 0) {
		return canvas_fail(canvas, ret, "%s", gid_domain_error(canvas->domain));
	}
	canvas_expect(canvas, gid_slab_gid(slab, 0));
	return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static bool is_size(uint32_t width, uint32_t height) {
	return width >= 1 && width <= GID_SIZE_MAX && height >= 1 && height <= GID_SIZE_MAX;
}

static int complete_options(
		struct gid_canvas_options *options, const struct gid_canvas_options *given) {
	uint32_t size = given->size < sizeof(*options) ? given->size : sizeof(*options);
	*options = (struct gid_canvas_options){0};
	memcpy(options, given, size);
	options->size = sizeof(*options);
	options->fourcc = options->fourcc == 0 ? DRM_FORMAT_XRGB8888 : options->fourcc;
	options->list_words = options->list_words == 0 ? 16384 : options->list_words;
	options->lists = options->lists == 0 ? 16 : options->lists;
	options->connect_ms = options->connect_ms == 0 ? 5000 : options->connect_ms;
	bool good = is_size(options->width, options->height) && options->list_words >= 64 &&
			options->list_words <= ENGINE_LIST_WORDS_MAX && options->lists >= 2 &&
			options->lists <= LISTS_MAX;
	return good ? 0 : -EINVAL;
}

/* Short lists share a slot, so there are fewer slots than lists that may be under way. */
static int make_slab(struct gid_canvas *canvas, const char *name) {
	char stream[GID_NAME_MAX + 1];
	struct gid_layout layout;
	const uint64_t longest = canvas->options.list_words;
	const uint32_t header = sizeof(struct engine_batch) / 4;
	uint32_t rows = (uint32_t)((longest > BATCH_WORDS ? longest : BATCH_WORDS) + header +
					LIST_ROW - 1) /
			LIST_ROW;
	canvas->slot_words = rows * LIST_ROW;
	uint64_t slots = (longest * canvas->options.lists + BATCH_WORDS - 1) / BATCH_WORDS;
	slots = longest > BATCH_WORDS ? canvas->options.lists : slots;
	slots = slots < 4 ? 4 : slots > SLOTS_MAX ? SLOTS_MAX : slots;
	snprintf(stream, sizeof(stream), ENGINE_LISTS_STREAM, name);
	int ret = gid_layout_init(&layout, DRM_FORMAT_ARGB8888, LIST_ROW, rows, 64);
	return ret < 0 ? ret
		       : gid_slab_create_for_stream(canvas->domain, stream, &layout, 0,
					 (uint32_t)slots, "commands of gid-engine", &canvas->slab);
}

static int make_streams(struct gid_canvas *canvas, const char *engine, const char *name) {
	char stream[GID_NAME_MAX + 1];
	const struct gid_producer_options lists = {
			.size = sizeof(lists),
			.lease_ns = LEASE_NS,
			.credit_max = GID_CREDIT_MAX,
			.released = handle_released,
			.subscriber = handle_subscriber,
			.data = canvas,
			.quiet = true,
	};
	const struct gid_consumer_options reports = {
			.size = sizeof(reports),
			.reconnect = true,
			.state = handle_report_state,
			.data = canvas,
	};
	snprintf(stream, sizeof(stream), ENGINE_LISTS_STREAM, name);
	int ret = gid_producer_create(canvas->domain, stream, &lists, &canvas->lists);
	if (ret < 0) {
		return ret;
	}
	snprintf(stream, sizeof(stream), ENGINE_REPORT_STREAM, name);
	return gid_consumer_create(canvas->domain, engine, stream, &reports, &canvas->reports);
}

static int make_descriptor(struct gid_canvas *canvas) {
	int fds[] = {gid_producer_get_fd(canvas->lists), gid_consumer_get_fd(canvas->reports)};
	canvas->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; canvas->epoll_fd >= 0 && i < 2; i++) {
		struct epoll_event event = {.events = EPOLLIN};
		if (epoll_ctl(canvas->epoll_fd, EPOLL_CTL_ADD, fds[i], &event) < 0) {
			return -errno;
		}
	}
	return canvas->epoll_fd < 0 ? -errno : 0;
}

static int wait_for_engine(struct gid_canvas *canvas) {
	uint64_t deadline = deadline_after(canvas->options.connect_ms);
	dispatch_all(canvas);
	while (!gid_canvas_is_connected(canvas)) {
		if (gid_clock_now() >= deadline) {
			return -ETIMEDOUT;
		}
		sleep_until(canvas, deadline);
		dispatch_all(canvas);
	}
	return 0;
}

int gid_canvas_create(struct gid_domain *domain, const char *engine, const char *name,
		const struct gid_canvas_options *options, struct gid_canvas **result) {
	struct gid_canvas *canvas = calloc(1, sizeof(*canvas));
	create_text[0] = '\0';
	if (canvas == NULL) {
		return -ENOMEM;
	}
	canvas->domain = domain;
	canvas->epoll_fd = -1;
	int ret = complete_options(&canvas->options, options);
	if (ret < 0 || !gid_name_is_valid(name) || strlen(name) > ENGINE_NAME_MAX) {
		free(canvas);
		snprintf(create_text, sizeof(create_text),
				"the canvas's name, size or options are out of range");
		return -EINVAL;
	}
	ret = make_slab(canvas, name);
	ret = ret < 0 ? ret : make_streams(canvas, engine, name);
	ret = ret < 0 ? ret : make_descriptor(canvas);
	if (ret < 0) {
		snprintf(create_text, sizeof(create_text), "%s", gid_domain_error(domain));
		goto error_canvas;
	}
	ret = canvas->options.connect_ms < 0 ? 0 : wait_for_engine(canvas);
	if (ret < 0) {
		snprintf(create_text, sizeof(create_text),
				"no gid-engine in domain %s serves a canvas %s to us: does it run, "
				"does its file have [canvas %s] with our domain, and does "
				"gidway.conf share engine/%s and canvas/%s?",
				engine, name, name, name, name);
		goto error_canvas;
	}
	*result = canvas;
	return 0;

error_canvas:
	gid_canvas_destroy(canvas);
	return ret;
}

int gid_canvas_resize(struct gid_canvas *canvas, uint32_t fourcc, uint32_t width, uint32_t height) {
	if (canvas->words != NULL) {
		return canvas_fail(canvas, -EBUSY, "a list was begun already");
	}
	if (!is_size(width, height)) {
		return canvas_fail(canvas, -EINVAL, "the canvas's size is out of range");
	}
	canvas->options.fourcc = fourcc == 0 ? DRM_FORMAT_XRGB8888 : fourcc;
	canvas->options.width = width;
	canvas->options.height = height;
	canvas->has_canvas = false;
	return 0;
}

void gid_canvas_destroy(struct gid_canvas *canvas) {
	if (canvas == NULL) {
		return;
	}
	gid_producer_destroy(canvas->lists);
	gid_consumer_destroy(canvas->reports);
	forget_report(canvas);
	gid_slab_destroy(canvas->slab, false);
	if (canvas->epoll_fd >= 0) {
		close(canvas->epoll_fd);
	}
	free(canvas);
}
