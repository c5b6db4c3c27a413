// SPDX-License-Identifier: MIT
#include "requester.h"

#include "canvas.h"
#include "canvas_report.h"
#include "drawing.h"
#include "engine_log.h"
#include "list_reader.h"
#include "sources.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS 1000000ull
#define RETRY_MS 500	    /* while gidd or a stream is not there */
#define BURST_NS (100 * MS) /* of work that is done before it is paid for */
#define LISTS_AT_ONCE 256   /* before everything else is looked at */

struct requester {
	const struct canvas_config *config;
	const struct requester_options *options;
	pthread_t thread;
	struct engine_log log;
	struct gid_domain *domain;
	struct gid_consumer *lists;
	struct canvas canvas;
	struct report report;
	struct drawing drawing;
	struct sources sources;
	bool opened;
	bool came, went;     /* the program that draws, as libgid told */
	uint64_t fence;	     /* of its last list */
	uint64_t paid_until; /* CLOCK_MONOTONIC ns: when the work so far is within its rate */
	uint64_t list_end;   /* CLOCK_MONOTONIC ns: the list in work must be done by then */
	const char *stopped; /* why the list in work was stopped */
	bool drew;	     /* the list in work */
	uint32_t words[ENGINE_LIST_WORDS_MAX];
};

/* --- a list ----------------------------------------------------------------------------------- */

/* What one list is refused for. */
struct refusal {
	int error;
	uint32_t word;
	const char *text;
};

static const char *source_text(int error) {
	switch (error) {
	case -ENOENT:
		return "a source is unknown, not granted, out of date or not of this domain";
	case -ENOTSUP:
		return "a source has a format, a modifier or an alignment that cannot be read";
	case -ERANGE:
		return "a box lies outside of its source";
	case -EDQUOT:
		return "the sources are more memory than may be imported";
	case -ENOMEM:
		return "the engine has no memory";
	default:
		return "a source cannot be imported";
	}
}

/* Asked between two parts of a long command. */
static bool goes_on(void *data) {
	struct requester *requester = data;
	if (atomic_load_explicit(&requester->options->ends, memory_order_relaxed)) {
		requester->stopped = "the engine ends";
	} else if (gid_clock_now() > requester->list_end) {
		requester->stopped = "the list takes longer than the canvas's list-ms= allows";
	} else {
		gid_domain_dispatch(requester->domain);
		if (requester->went) {
			requester->stopped = "the program that drew is gone";
		} else if (!sources_are_current(&requester->sources)) {
			requester->stopped = "a source was taken back while it was read";
		}
	}
	return requester->stopped == NULL;
}

/* The canvas as the target of what comes. Returns 0 or -errno. */
static int begin_drawing(struct requester *requester) {
	void *slot = canvas_slot(&requester->canvas);
	if (slot == NULL) {
		return -ENODATA;
	}
	requester->drew = true;
	uint64_t cost = requester->drawing.cost;
	int ret = drawing_begin(&requester->drawing, &requester->canvas.layout, slot);
	requester->drawing.cost = cost;
	return ret;
}

static int run_canvas(struct requester *requester, const struct engine_canvas *command,
		struct refusal *refusal) {
	refusal->text = "the canvas cannot have that format";
	if (!drawing_can_target(command->fourcc)) {
		return -ENOTSUP;
	}
	int ret = canvas_resize(&requester->canvas, command->fourcc, command->width,
			command->height, requester->config->memory);
	refusal->text = ret == -EDQUOT ? "the canvas would be larger than its memory= allows, or "
					 "the domain's quota"
				       : "the engine cannot make the canvas";
	return ret;
}

static int run_present(struct requester *requester, const struct engine_present *command,
		struct refusal *refusal) {
	struct gid_frame frame = GID_FRAME_INIT;
	const struct engine_rectangle *damage = &command->damage;
	if (!sources_are_current(&requester->sources)) {
		refusal->text = "a source was taken back while it was read";
		return -ESTALE;
	}
	uint64_t pts = (uint64_t)command->pts_high << 32 | command->pts_low;
	frame.pts = pts <= INT64_MAX ? pts : GID_TIME_NONE;
	frame.capture_time = gid_clock_now();
	if (damage->width != 0 && damage->height != 0 && damage->x >= 0 && damage->y >= 0 &&
			damage->x + damage->width <= (int)requester->canvas.layout.width &&
			damage->y + damage->height <= (int)requester->canvas.layout.height) {
		frame.damage = (struct gid_box){
				damage->x, damage->y, damage->width, damage->height};
	}
	int ret = canvas_present(
			&requester->canvas, &frame, (command->flags & ENGINE_PRESENT_DISCARD) != 0);
	refusal->text = ret == -ENODATA ? "there is no canvas yet: the first command is CANVAS"
					: "the picture cannot be sent";
	requester->drew = false;
	return ret;
}

static gid_id gid_from(uint32_t low, uint32_t high) {
	return (uint64_t)high << 32 | low;
}

static int run_source(struct requester *requester, const struct engine_head *head,
		struct refusal *refusal) {
	struct picture picture;
	const struct engine_layer *layer = (const struct engine_layer *)head;
	const struct engine_masks *masks = (const struct engine_masks *)head;
	bool is_layer = head->opcode == ENGINE_LAYER;
	int ret = sources_find(&requester->sources,
			is_layer ? gid_from(layer->gid_low, layer->gid_high)
				 : gid_from(masks->gid_low, masks->gid_high),
			&picture);
	if (ret == 0) {
		ret = is_layer ? drawing_layer(&requester->drawing, layer, &picture)
			       : drawing_masks(&requester->drawing, masks, &picture);
	}
	refusal->text = source_text(ret);
	return ret;
}

static int run_command(struct requester *requester, const struct engine_head *head,
		struct refusal *refusal) {
	struct drawing *drawing = &requester->drawing;
	const struct engine_clip *clip = (const struct engine_clip *)head;
	refusal->text = "the engine has no memory";
	switch (head->opcode) {
	case ENGINE_CLIP:
		return drawing_set_clip(drawing, clip->rectangles, list_elements(clip, rectangles));
	case ENGINE_FILL:
		return drawing_fill(drawing, (const struct engine_fill *)head);
	case ENGINE_POINTS:
		drawing_points(drawing, (const struct engine_points *)head);
		return 0;
	case ENGINE_LINES:
		return drawing_lines(drawing, (const struct engine_lines *)head);
	case ENGINE_TRIANGLES:
		return drawing_triangles(drawing, (const struct engine_triangles *)head);
	default:
		return run_source(requester, head, refusal);
	}
}

/* Runs a checked list to its end, or to the first command that cannot be done. */
static int run_commands(struct requester *requester, uint32_t count, struct refusal *refusal) {
	struct drawing *drawing = &requester->drawing;
	const struct engine_head *head;
	bool begun = false;
	uint64_t looked = 0;
	for (uint32_t at = 0; (head = list_next(requester->words, count, &at)) != NULL;) {
		int ret = 0;
		refusal->word = (uint32_t)((const uint32_t *)(const void *)head - requester->words);
		if (head->opcode == ENGINE_CANVAS) {
			ret = run_canvas(requester, (const struct engine_canvas *)head, refusal);
			begun = false;
		} else if (head->opcode == ENGINE_PRESENT) {
			ret = run_present(requester, (const struct engine_present *)head, refusal);
			begun = false;
		} else {
			ret = begun ? 0 : begin_drawing(requester);
			refusal->text = "there is no canvas yet: the first command is CANVAS";
			begun = true;
			ret = ret == 0 ? run_command(requester, head, refusal) : ret;
		}
		if (ret == 0 && drawing->cost - looked > (1u << 20)) {
			looked = drawing->cost;
			ret = goes_on(requester) ? 0 : -ECANCELED;
		}
		if (ret < 0) {
			return ret;
		}
	}
	return 0;
}

static void refuse(struct requester *requester, uint64_t fence, const struct refusal *refusal) {
	report_refused(&requester->report, fence, refusal->word, refusal->error, refusal->text);
	engine_log(&requester->log, "list %llu is refused at word %u: %s",
			(unsigned long long)fence, refusal->word, refusal->text);
}

static void run_list(struct requester *requester, uint32_t count, uint64_t fence, uint32_t owner) {
	struct refusal refusal = {0};
	sources_begin(&requester->sources, owner);
	requester->list_end = gid_clock_now() + requester->config->list_ns;
	requester->stopped = NULL;
	requester->drew = false;
	requester->drawing.cost = 0;
	int ret = run_commands(requester, count, &refusal);
	if (ret == 0 && !sources_are_current(&requester->sources)) {
		ret = -ESTALE;
		refusal.text = "a source was taken back while it was read";
	}
	sources_end(&requester->sources);
	if (ret == 0) {
		report_done(&requester->report, fence);
		return;
	}
	if (requester->drew) {
		canvas_revert(&requester->canvas);
	}
	refusal.error = ret;
	refusal.text = requester->stopped != NULL ? requester->stopped : refusal.text;
	refuse(requester, fence, &refusal);
}

/* Copies the list out of its slot. Returns its words, or -errno. `fence`: 0 if it is not known. */
static int read_list(
		struct requester *requester, gid_id gid, uint64_t *fence, struct refusal *refusal) {
	struct gid_slab *slab;
	struct gid_slab_info info;
	struct list_mistake mistake = {.text = "the list's memory cannot be read"};
	int ret = gid_slab_import(requester->domain, gid, &slab);
	if (ret == 0) {
		gid_slab_get_info(slab, &info);
		const void *view = gid_slab_view(slab, gid_slot_of(gid));
		ret = view == NULL || info.memory == GID_MEMORY_DMABUF
				? -ENOTSUP
				: list_copy(requester->words, view, info.slot_size, &mistake);
		if (ret > 0 && !gid_slab_is_current(slab, gid)) {
			ret = -ESTALE;
		}
		gid_slab_unref(slab);
	}
	*fence = ret > 0 ? list_fence(requester->words) : 0;
	if (ret > 0) {
		int count = ret;
		ret = list_check(requester->words, (uint32_t)count, &mistake);
		ret = ret < 0 ? ret : count;
	}
	*refusal = (struct refusal){.error = ret, .word = mistake.word, .text = mistake.text};
	return ret;
}

/* What was drawn is paid for later, at the canvas's rate. */
static void pay(struct requester *requester, uint64_t cost) {
	uint64_t rate = requester->config->pixels_per_second;
	if (rate != 0) {
		uint64_t now = gid_clock_now();
		requester->paid_until = requester->paid_until > now ? requester->paid_until : now;
		requester->paid_until += (uint64_t)((double)cost * 1e9 / (double)rate);
	}
}

/* How long no list may be taken, in ns. */
static uint64_t owed(const struct requester *requester) {
	uint64_t now = requester->paid_until == 0 ? 0 : gid_clock_now() + BURST_NS;
	return requester->paid_until > now ? requester->paid_until - now : 0;
}

static void handle_frame(struct requester *requester, const struct gid_frame *frame) {
	struct refusal refusal;
	uint64_t fence;
	if (frame->gid == GID_NONE) {
		return;
	}
	int count = read_list(requester, frame->gid, &fence, &refusal);
	if (count > 0 && fence <= requester->fence) {
		refusal = (struct refusal){.error = -EINVAL,
				.word = 4,
				.text = "a list's fence is not above that of the list before"};
		count = -EINVAL;
	}
	fence = fence > requester->fence ? fence : requester->fence;
	requester->fence = fence;
	if (count < 0) {
		refuse(requester, fence, &refusal);
		pay(requester, 1 << 10);
		return;
	}
	run_list(requester, (uint32_t)count, fence, gid_domain_of(frame->gid));
	pay(requester, requester->drawing.cost + (uint64_t)count);
}

/* --- the program that draws ------------------------------------------------------------------- */

static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct requester *requester = data;
	if (state == GID_CONSUMER_LIVE) {
		requester->came = true;
	} else {
		requester->went = true;
	}
}

/* A program came or went: nothing of the one before is left. */
static void renew(struct requester *requester) {
	if (requester->went || requester->came) {
		sources_forget(&requester->sources);
		canvas_drop(&requester->canvas);
		requester->fence = 0;
		report_set(&requester->report.page->fence, 0);
		engine_log(&requester->log, "%s",
				requester->came ? "a program draws on it"
						: "the program that drew on it is gone");
	}
	requester->came = requester->went = false;
}

/*
 * Takes lists as long as they come quickly: everything else costs system calls, and a list that
 * follows another one should not pay for them.
 */
static void take_lists(struct requester *requester) {
	struct gid_frame frame;
	for (int i = 0; i < LISTS_AT_ONCE && owed(requester) == 0; i++) {
		if ((i > 0 && gid_consumer_wait(requester->lists, 0) <= 0) ||
				gid_consumer_receive(requester->lists, &frame) != 1) {
			return;
		}
		renew(requester);
		handle_frame(requester, &frame);
		gid_consumer_release(requester->lists, &frame);
	}
}

/* --- the thread ------------------------------------------------------------------------------- */

static int open_streams(struct requester *requester) {
	const struct canvas_config *config = requester->config;
	char name[GID_NAME_MAX + 1];
	snprintf(name, sizeof(name), ENGINE_CANVAS_STREAM, config->name);
	int ret = canvas_init(&requester->canvas, requester->domain, name, config->slots,
			config->lease_ns);
	if (ret < 0) {
		return ret;
	}
	snprintf(name, sizeof(name), ENGINE_REPORT_STREAM, config->name);
	ret = report_init(&requester->report, requester->domain, name);
	if (ret < 0) {
		goto error_report;
	}
	snprintf(name, sizeof(name), ENGINE_LISTS_STREAM, config->name);
	const struct gid_consumer_options options = {
			.size = sizeof(options),
			.credit = GID_CREDIT_MAX,
			.reconnect = true,
			.spin_us = requester->options->spin_us,
			.state = handle_state,
			.data = requester,
	};
	ret = gid_consumer_create(
			requester->domain, config->domain, name, &options, &requester->lists);
	if (ret < 0) {
		goto error_consumer;
	}
	sources_init(&requester->sources, requester->domain);
	drawing_init(&requester->drawing);
	requester->drawing.go_on = goes_on;
	requester->drawing.data = requester;
	requester->came = requester->went = false;
	requester->opened = true;
	return 0;

error_consumer:
	report_finish(&requester->report);
error_report:
	canvas_finish(&requester->canvas);
	return ret;
}

static void close_streams(struct requester *requester) {
	if (requester->opened) {
		gid_consumer_destroy(requester->lists);
		sources_finish(&requester->sources);
		drawing_finish(&requester->drawing);
		report_finish(&requester->report);
		canvas_finish(&requester->canvas);
		requester->opened = false;
	}
	gid_domain_destroy(requester->domain);
	requester->domain = NULL;
}

/* Until it is to end. Returns false if that is now. */
static bool pause_for(const struct requester *requester, int ms) {
	struct pollfd fd = {.fd = requester->options->wake_fd, .events = POLLIN};
	poll(&fd, 1, ms);
	return !atomic_load(&requester->options->ends);
}

/* Returns false if it is to end. */
static bool open_all(struct requester *requester) {
	const char *last = NULL;
	for (;;) {
		int ret = gid_domain_connect(requester->options->domain, &requester->domain);
		const char *text = ret < 0 ? gid_domain_connect_error() : NULL;
		if (ret == 0) {
			ret = open_streams(requester);
			text = gid_domain_error(requester->domain);
		}
		if (ret == 0) {
			return true;
		}
		if (last == NULL) {
			engine_log(&requester->log, "%s; trying again", text);
			last = requester->config->name;
		}
		close_streams(requester);
		if (!pause_for(requester, RETRY_MS)) {
			return false;
		}
	}
}

/* Whether something was told since it was looked at: waiting for gidd also handles its messages. */
static bool has_news(const struct requester *requester) {
	return requester->came || requester->went || requester->canvas.viewer_came ||
			requester->report.reader_came;
}

static void wait_for_work(struct requester *requester) {
	uint64_t wait_ns = owed(requester);
	struct pollfd fds[] = {
			{.fd = requester->options->wake_fd, .events = POLLIN},
			{.fd = gid_domain_get_fd(requester->domain), .events = POLLIN},
			{.fd = gid_producer_get_fd(requester->canvas.producer), .events = POLLIN},
			{.fd = gid_producer_get_fd(requester->report.producer), .events = POLLIN},
			{.fd = gid_consumer_get_fd(requester->lists), .events = POLLIN},
	};
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	report_set(&requester->report.page->work_ns,
			(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	poll(fds, wait_ns > 0 ? 4 : 5, wait_ns > 0 ? (int)(wait_ns / MS) + 1 : -1);
}

static void *run(void *data) {
	struct requester *requester = data;
	const struct sched_param param = {.sched_priority = 1};
	if (requester->config->realtime) {
		int error = pthread_setschedparam(pthread_self(), SCHED_RR, &param);
		if (error != 0) {
			engine_log(&requester->log, "no real-time priority: %s", strerror(error));
		}
	}
	if (!open_all(requester)) {
		return NULL;
	}
	while (!atomic_load(&requester->options->ends)) {
		struct engine_report *page = requester->report.page;
		gid_domain_dispatch(requester->domain);
		renew(requester);
		canvas_dispatch(&requester->canvas);
		report_dispatch(&requester->report);
		report_set(&page->presented, requester->canvas.presented);
		report_set(&page->not_presented, requester->canvas.not_presented);
		bool ready = owed(requester) == 0 && gid_consumer_wait(requester->lists, 0) > 0;
		if (ready) {
			take_lists(requester);
		} else if (!has_news(requester)) {
			wait_for_work(requester);
		}
	}
	close_streams(requester);
	return NULL;
}

int requester_start(struct requester **result, const struct canvas_config *config,
		const struct requester_options *options) {
	struct requester *requester = calloc(1, sizeof(*requester));
	if (requester == NULL) {
		return -ENOMEM;
	}
	requester->config = config;
	requester->options = options;
	requester->log.name = config->name;
	int error = pthread_create(&requester->thread, NULL, run, requester);
	if (error != 0) {
		free(requester);
		return -error;
	}
	*result = requester;
	return 0;
}

void requester_join(struct requester *requester) {
	pthread_join(requester->thread, NULL);
	free(requester);
}
