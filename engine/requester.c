// SPDX-License-Identifier: MIT
#include "requester.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "canvas.h"
#include "canvas_report.h"
#include "device_choice.h"
#include "drawing.h"
#include "engine_log.h"
#include "fused_row.h"
#include "helpers.h"
#include "list_reader.h"
#include "pause.h"
#include "rate_limit.h"
#include "realtime_budget.h"
#include "sources.h"
#include "thread.h"

#define RETRY_MS 500	   /* while gidd or a stream is not there */
#define LISTS_AT_ONCE 1024 /* taken in one turn */
/* Of a list: after one that costs more, sleeping programs are woken at once. */
#define LONG_COST 65536
/* Pixels that could be drawn while so many bytes are mapped. */
#define TOUCH_COST(bytes) ((bytes) / 32)
#define TURN_COST (1u << 19) /* of lists, after which the real-time budget is updated */
#define NAP_NS 30000	     /* a program writes some ten thousand words in this time */
/* Written during a nap: more than that, and the program does not wait for its lists. */
#define AHEAD_WORDS 4096u
#define LOOKS_LEAST 64u	 /* without a nap, after one that was in vain */
#define LOOKS_MOST 4096u /* the same after many naps in vain */

struct requester {
	struct canvas_config config;
	const char *engine; /* the domain */
	uint32_t spin_us;
	int wake_fd;	  /* becomes readable when the thread is to end */
	atomic_bool ends; /* set before that */
	pthread_t thread;
	struct engine_log log;
	struct gid_domain *domain;
	struct gid_consumer *lists;
	struct canvas canvas;
	struct report report;
	struct drawing drawing;
	struct helper_job job;	    /* by other threads, with what is drawn */
	uint64_t charged_helper_ns; /* of `job.used_ns` that the real-time budget was charged with
				     */
	struct sources sources;
	struct gid_frame frame;	     /* of the batch that is read */
	struct gid_slab *lists_slab; /* that it lies in; NULL: none is read */
	struct list_batch batch;
	uint32_t looks;	     /* for more of a batch, before the next nap */
	uint32_t more_looks; /* the same after the next nap, if that is in vain */
	bool has_lingered;   /* linger() has just looked for more, in vain */
	bool taken; /* a batch was reclaimed: its writer sends it again, or its lists are lost */
	uint64_t signalled; /* the last fence that a sleeping program was woken for */
	bool opened;
	bool program_joined, program_left; /* reported by libgid, not handled yet */
	uint64_t fence;			   /* of its last list */
	struct realtime_budget realtime_budget;
	uint64_t turn_cost;	      /* of lists since the real-time budget was updated */
	struct rate_limit rate_limit; /* of its work, at the canvas's rate */
	uint64_t list_end; /* CLOCK_MONOTONIC ns: the list in work must be done by then; 0: not set
			    */
	const char *stopped; /* why the list in work was stopped */
	bool drew;	     /* the list in work */
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
	case -EIO:
		return "the graphics device lost the picture";
	case -EAGAIN:
		return "a source is still being written by its device";
	default:
		return "a source cannot be imported";
	}
}

/* Work of helpers counts as this canvas's work. */
static void update_realtime_budget(struct requester *requester) {
	realtime_budget_charge(&requester->realtime_budget,
			requester->job.used_ns - requester->charged_helper_ns);
	requester->charged_helper_ns = requester->job.used_ns;
	realtime_budget_update(&requester->realtime_budget);
}

/* Asked between two parts of a long command. */
static bool goes_on(void *data) {
	struct requester *requester = data;
	update_realtime_budget(requester);
	const uint64_t now = gid_clock_now();
	if (requester->list_end == 0) { /* it has run for a millisecond: its time counts from now */
		requester->list_end = now + requester->config.list_ns;
	}
	if (atomic_load_explicit(&requester->ends, memory_order_relaxed)) {
		requester->stopped = "the engine ends";
	} else if (now > requester->list_end) {
		requester->stopped = "the list takes longer than the canvas's list-ms= allows";
	} else {
		/*
		 * This may move the canvas to other memory, and what helpers draw while that is
		 * copied would be lost.
		 */
		if (!requester->job.is_open) {
			gid_domain_dispatch(requester->domain);
		}
		if (requester->program_left) {
			requester->stopped = "the program that drew is gone";
		} else if (!sources_are_current(&requester->sources)) {
			requester->stopped = "a source was taken back while it was read";
		}
	}
	return requester->stopped == NULL;
}

/* Makes the canvas the target of the next commands. Returns 0 or -errno. */
static int begin_drawing(struct requester *requester, struct refusal *refusal) {
	void *slot;
	int ret = canvas_begin(&requester->canvas, &slot);
	refusal->text = ret == -ENODATA ? "there is no canvas yet: the first command is CANVAS"
					: "the engine cannot make the canvas";
	if (ret < 0) {
		return ret;
	}
	requester->drew = true;
	uint64_t cost = requester->drawing.cost;
	ret = drawing_begin(&requester->drawing, &requester->canvas.layout, slot);
	requester->drawing.cost = cost;
	return ret;
}

static int run_canvas(struct requester *requester, const struct engine_canvas *command,
		struct refusal *refusal) {
	refusal->text = "the canvas cannot have that format";
	if (!drawing_can_target(command->fourcc)) {
		return -ENOTSUP;
	}
	drawing_forget(&requester->drawing); /* its memory goes, or becomes black */
	requester->drawing.cost += (uint64_t)command->width * command->height;
	int ret = canvas_resize(&requester->canvas, command->fourcc, command->width,
			command->height, requester->config.memory);
	requester->drew = requester->drew || ret == 0;
	refusal->text = ret == -EDQUOT ? "the canvas would be larger than its memory= allows, or "
					 "the domain's quota"
				       : "the engine cannot make the canvas";
	return ret;
}

static void report_copies(struct requester *requester) {
	const struct drawing_copies *copies = &requester->drawing.copies;
	struct engine_report *page = requester->report.page;
	report_set(&page->copied_sources, copies->sources);
	report_set(&page->copied_canvases, copies->begun + copies->flushed);
}

static int run_present(struct requester *requester, const struct engine_present *command,
		struct refusal *refusal) {
	struct gid_frame frame = GID_FRAME_INIT;
	const struct engine_rectangle *damage = &command->damage;
	int ret = drawing_flush(&requester->drawing);
	if (ret < 0) {
		refusal->text = "the engine has no memory, or its graphics device lost the picture";
		return ret;
	}
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
	const bool discards = (command->flags & ENGINE_PRESENT_DISCARD) != 0;
	ret = canvas_present(&requester->canvas, &frame, discards);
	report_set(&requester->report.page->presented, requester->canvas.presented);
	report_copies(requester);
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

/* Errors are not reported here: the list that draws the source will get them. */
static void run_expect(struct requester *requester, const struct engine_expect *command) {
	struct gid_slab *slab = sources_expect(
			&requester->sources, gid_from(command->gid_low, command->gid_high));
	struct gid_slab_info info = {0};
	if (slab != NULL) {
		gid_slab_get_info(slab, &info);
	}
	for (uint32_t i = 0; i < info.slot_count; i++) {
		gid_slab_view(slab, i);
		requester->drawing.cost += TOUCH_COST(info.slot_size);
		if (!goes_on(requester)) {
			return;
		}
	}
}

static int run_command(struct requester *requester, const struct engine_head *head,
		struct refusal *refusal) {
	struct drawing *drawing = &requester->drawing;
	const struct engine_clip *clip = (const struct engine_clip *)head;
	refusal->text = "the engine has no memory, or lost its graphics device";
	switch (head->opcode) {
	case ENGINE_CLIP:
		return drawing_set_clip(drawing, clip->rectangles, list_elements(clip, rectangles));
	case ENGINE_FILL:
		return drawing_fill(drawing, (const struct engine_fill *)head);
	case ENGINE_POINTS:
		return drawing_points(drawing, (const struct engine_points *)head);
	case ENGINE_LINES:
		return drawing_lines(drawing, (const struct engine_lines *)head);
	case ENGINE_TRIANGLES:
		return drawing_triangles(drawing, (const struct engine_triangles *)head);
	case ENGINE_POLYGON:
		return drawing_polygon(drawing, (const struct engine_polygon *)head);
	default:
		return run_source(requester, head, refusal);
	}
}

/* Runs a checked list to its end, or to the first command that cannot be done. */
static int run_commands(struct requester *requester, const uint32_t *words, uint32_t count,
		struct refusal *refusal) {
	struct drawing *drawing = &requester->drawing;
	const struct engine_head *head;
	bool begun = false;
	uint64_t looked = 0, copied = requester->canvas.copied;
	for (uint32_t at = 0; (head = list_next(words, count, &at)) != NULL;) {
		int ret = 0;
		refusal->word = (uint32_t)((const uint32_t *)(const void *)head - words);
		if (head->opcode == ENGINE_CANVAS) {
			ret = run_canvas(requester, (const struct engine_canvas *)head, refusal);
			begun = false;
		} else if (head->opcode == ENGINE_PRESENT) {
			ret = run_present(requester, (const struct engine_present *)head, refusal);
			begun = false;
		} else if (head->opcode == ENGINE_EXPECT) {
			run_expect(requester, (const struct engine_expect *)head);
			ret = requester->stopped == NULL ? 0 : -ECANCELED;
		} else {
			ret = begun ? 0 : begin_drawing(requester, refusal);
			begun = true;
			ret = ret == 0 ? run_command(requester, head, refusal) : ret;
		}
		drawing->cost += requester->canvas.copied - copied;
		copied = requester->canvas.copied;
		if (ret == 0 && drawing->cost - looked > (1u << 20)) {
			looked = drawing->cost;
			ret = goes_on(requester) ? 0 : -ECANCELED;
		}
		if (ret < 0) {
			return ret;
		}
	}
	return drawing_catch_up(drawing);
}

static void refuse(struct requester *requester, uint64_t fence, const struct refusal *refusal) {
	report_refused(&requester->report, fence, refusal->word, refusal->error, refusal->text);
	engine_log(&requester->log, "list %llu is refused at word %u: %s",
			(unsigned long long)fence, refusal->word, refusal->text);
}

static void run_list(struct requester *requester, const uint32_t *words, uint32_t count,
		uint64_t fence) {
	struct refusal refusal = {0};
	sources_begin(&requester->sources, gid_domain_of(requester->frame.gid));
	requester->list_end = 0;
	requester->stopped = NULL;
	requester->drew = false;
	requester->drawing.cost = 0;
	int ret = run_commands(requester, words, count, &refusal);
	drawing_wait(&requester->drawing);
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
		drawing_forget(&requester->drawing);
	}
	refusal.error = ret;
	refusal.text = requester->stopped != NULL ? requester->stopped : refusal.text;
	refuse(requester, fence, &refusal);
}

/* What was drawn counts against the canvas's rate. */
static void charge(struct requester *requester, uint64_t cost) {
	requester->turn_cost += cost;
	if (requester->turn_cost >= TURN_COST) {
		requester->turn_cost = 0;
		update_realtime_budget(requester);
	}
	if (requester->rate_limit.rate != 0) {
		rate_limit_charge(&requester->rate_limit, cost, gid_clock_now());
	}
}

/* How long no list may be taken, in ns. */
static uint64_t list_delay_ns(const struct requester *requester) {
	const struct rate_limit *limit = &requester->rate_limit;
	return limit->paid_until == 0 ? 0 : rate_limit_delay_ns(limit, gid_clock_now());
}

/* A list in its copy. */
static void handle_list(struct requester *requester, const uint32_t *words, uint32_t count) {
	struct list_mistake mistake;
	uint64_t fence = list_fence(words);
	if (requester->taken && fence > requester->fence + 1) {
		refuse(requester, requester->fence,
				&(struct refusal){.error = -ESTALE,
						.text = "lists were lost: their memory was taken "
							"back"});
	}
	requester->taken = false;
	int ret = list_check(words, count, &mistake);
	if (ret == 0 && fence <= requester->fence) {
		ret = -EINVAL;
		mistake = (struct list_mistake){
				2, "a list's fence is not above that of the list before"};
	}
	fence = fence > requester->fence ? fence : requester->fence;
	requester->fence = fence;
	if (ret < 0) {
		refuse(requester, fence,
				&(struct refusal){.error = ret,
						.word = mistake.word,
						.text = mistake.text});
		charge(requester, 1 << 10);
		return;
	}
	run_list(requester, words, count, fence);
	charge(requester, requester->drawing.cost + count);
}

/* --- batches of lists ------------------------------------------------------------------------- */

/* Gives the batch back. What was read of it is remembered: its writer may go on, and send it again.
 */
static void release_batch(struct requester *requester) {
	if (requester->lists_slab != NULL) {
		gid_consumer_release(requester->lists, &requester->frame);
		gid_slab_unref(requester->lists_slab);
		requester->lists_slab = NULL;
	}
}

/* Gives up a batch that broke the rules: what comes in its slot next is another one. */
static void refuse_batch(
		struct requester *requester, int error, const struct list_mistake *mistake) {
	refuse(requester, requester->fence,
			&(struct refusal){.error = error,
					.word = mistake->word,
					.text = mistake->text});
	charge(requester, 1 << 10);
	requester->batch.serial = 0;
	report_sleep(&requester->report);
}

/*
 * The batch was reclaimed. It may come again, in other memory or with another generation, and is
 * then continued.
 */
static void miss_batch(struct requester *requester) {
	requester->taken = true;
	charge(requester, 1 << 10);
	report_sleep(&requester->report);
}

/* Begins with the batch of a frame, or goes on with it. Takes the frame, if it returns true. */
static bool enter_batch(struct requester *requester, const struct gid_frame *frame) {
	struct gid_slab *slab;
	struct gid_slab_info info;
	struct list_mistake mistake = {.text = "the batch's memory cannot be read"};
	int ret = gid_slab_import(requester->domain, frame->gid, &slab);
	if (ret == 0) {
		gid_slab_get_info(slab, &info);
		const void *view = gid_slab_view(slab, gid_slot_of(frame->gid));
		ret = view == NULL || info.memory == GID_MEMORY_DMABUF ? -ENOTSUP
				: !gid_slab_is_current(slab, frame->gid)
				? -ESTALE
				: batch_begin(&requester->batch, view, info.slot_size, &mistake);
		if (ret < 0) {
			gid_slab_unref(slab);
		}
	}
	if (ret == -ENOENT || ret == -ESTALE) {
		miss_batch(requester);
		return false;
	}
	if (ret < 0) {
		refuse_batch(requester, ret, &mistake);
		return false;
	}
	requester->frame = *frame;
	requester->lists_slab = slab;
	return true;
}

/* Tells the program, if it sleeps for a list that is done. */
static void wake_waiting(struct requester *requester) {
	const uint64_t wanted = batch_wanted(&requester->batch);
	if (wanted != 0 && wanted <= requester->fence && wanted != requester->signalled) {
		requester->signalled = wanted;
		report_send(&requester->report);
	}
}

/* The same just after a list was done: its fence is published before `wanted` is loaded. */
static void tell_done(struct requester *requester) {
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	wake_waiting(requester);
}

/* The next list of the batch that is read, or its end. */
static void take_list(struct requester *requester) {
	struct list_mistake mistake;
	const uint32_t *words;
	const uint32_t at = requester->batch.at;
	int count = batch_next(&requester->batch, &words, &mistake);
	if ((count < 0 || requester->batch.at != at) && /* words were copied in this call */
			(!batch_is_there(&requester->batch) ||
					!gid_slab_is_current(requester->lists_slab,
							requester->frame.gid))) {
		batch_undo(&requester->batch);
		miss_batch(requester);
		release_batch(requester);
	} else if (count < 0) {
		refuse_batch(requester, count, &mistake);
		release_batch(requester);
	} else if (count > 0) {
		handle_list(requester, words, (uint32_t)count);
		if (requester->drawing.cost >= LONG_COST) {
			tell_done(requester);
		}
	} else if (batch_is_over(&requester->batch)) {
		release_batch(requester);
	}
}

/* --- the program that draws ------------------------------------------------------------------- */

static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct requester *requester = data;
	if (state == GID_CONSUMER_LIVE) {
		requester->program_joined = true;
	} else {
		requester->program_left = true;
	}
}

/* A program came or went: drops all state of the last one. */
static void renew(struct requester *requester) {
	if (requester->program_left || requester->program_joined) {
		release_batch(requester);
		requester->batch.serial = 0;
		requester->taken = false;
		requester->signalled = 0;
		sources_forget(&requester->sources);
		drawing_forget(&requester->drawing);
		canvas_drop(&requester->canvas);
		requester->fence = 0;
		report_set(&requester->report.page->fence, 0);
		engine_log(&requester->log, "%s",
				requester->program_joined ? "a program draws on it"
							  : "the program that drew on it is gone");
	}
	requester->program_joined = requester->program_left = false;
}

/* The next batch, if the ring has one. */
static bool take_batch(struct requester *requester) {
	struct gid_frame frame;
	const bool has_looked = requester->has_lingered;
	requester->has_lingered = false;
	if (!has_looked && gid_consumer_wait(requester->lists, 0) <= 0) {
		return false;
	}
	if (gid_consumer_receive(requester->lists, &frame) != 1) {
		return false;
	}
	renew(requester);
	report_wake(&requester->report);
	if (frame.gid != GID_NONE && !enter_batch(requester, &frame)) {
		gid_consumer_release(requester->lists, &frame);
	}
	return true;
}

/*
 * Lets a program go ahead that writes on, whether its lists are drawn or not: many lists that are
 * drawn at once cost us less of a processor than to look for each of them, and a program on the
 * same processor has that meanwhile. One that waits for its lists waits for a nap, too, and then
 * for none for twice as many looks as after the last such nap.
 */
static void let_go_ahead(struct requester *requester) {
	if (requester->looks > 0) {
		requester->looks--;
		return;
	}
	nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	if (batch_ahead(&requester->batch) >= AHEAD_WORDS) {
		requester->more_looks = LOOKS_LEAST;
		return;
	}
	requester->looks = requester->more_looks;
	requester->more_looks = requester->looks < LOOKS_MOST ? 2 * requester->looks : LOOKS_MOST;
}

/*
 * Before a sleep, looks for more of the batch for a while; the program need not ring meanwhile.
 * Then the batch goes back to its writer, whom the report tells that it has to send it again.
 * Returns whether there is more.
 */
static bool linger(struct requester *requester) {
	wake_waiting(requester);
	let_go_ahead(requester);
	const uint64_t until = gid_clock_now() + requester->spin_us * 1000ull;
	do {
		wake_waiting(requester);
		give_way();
		if (batch_has_news(&requester->batch)) {
			return true;
		}
	} while (gid_clock_now() < until);
	report_sleep(&requester->report);
	if (batch_has_news(&requester->batch)) {
		report_wake(&requester->report);
		return true;
	}
	wake_waiting(requester);
	release_batch(requester);
	requester->has_lingered = true;
	return false;
}

/*
 * Takes lists as long as they come quickly: everything else costs system calls, and a list that
 * follows another one should not pay for them. Returns false if there was none; `*delay_ns` says
 * for how long none may be taken. That is asked once: a delay that ends before the thread sleeps
 * must not look as if there were no lists.
 */
static bool take_lists(struct requester *requester, uint64_t *delay_ns) {
	bool any = false;
	for (int i = 0; i < LISTS_AT_ONCE && (*delay_ns = list_delay_ns(requester)) == 0; i++) {
		if (requester->lists_slab == NULL) {
			if (!take_batch(requester)) {
				break;
			}
		} else if (!batch_is_read(&requester->batch) || linger(requester)) {
			take_list(requester);
		}
		any = true;
	}
	return any;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Chooses the graphics device; without one pixman draws. */
static void choose_device(struct requester *requester) {
	const enum canvas_back_end back_end = requester->config.back_end;
	char text[256];
	int ret = device_choose(&requester->drawing, back_end, text, sizeof(text));
	requester->report.page->back_end = requester->drawing.back_end != NULL;
	if (back_end != CANVAS_PIXMAN) {
		engine_log(&requester->log, "%s%s", text, ret < 0 ? ": drawn by pixman" : "");
	}
}

static int open_streams(struct requester *requester) {
	const struct canvas_config *config = &requester->config;
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
	requester->report.page->slots = config->slots; /* before anybody reads it */
	snprintf(name, sizeof(name), ENGINE_LISTS_STREAM, config->name);
	const struct gid_consumer_options options = {
			.size = sizeof(options),
			.credit = GID_CREDIT_MAX,
			.reconnect = true,
			.spin_us = requester->spin_us,
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
	choose_device(requester);
	requester->drawing.job = &requester->job;
	requester->drawing.fuses = fused_row_can();
	requester->drawing.go_on = goes_on;
	requester->drawing.data = requester;
	requester->batch.serial = requester->signalled = 0;
	requester->looks = requester->more_looks = LOOKS_LEAST;
	requester->has_lingered = false;
	requester->program_joined = requester->program_left = false;
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
		release_batch(requester);
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

/* Waits so long, or until the thread is to end. Returns false in that case. */
static bool pause_for(const struct requester *requester, int ms) {
	struct pollfd fd = {.fd = requester->wake_fd, .events = POLLIN};
	poll(&fd, 1, ms);
	return !atomic_load(&requester->ends);
}

/* Returns false if it is to end. */
static bool open_all(struct requester *requester) {
	const char *last = NULL;
	for (;;) {
		int ret = gid_domain_connect(requester->engine, &requester->domain);
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
			last = requester->config.name;
		}
		close_streams(requester);
		if (!pause_for(requester, RETRY_MS)) {
			return false;
		}
	}
}

/* Whether callbacks reported something that is not handled yet: waiting for gidd also runs them. */
static bool has_news(const struct requester *requester) {
	return requester->program_joined || requester->program_left ||
			requester->report.reader_joined;
}

/* `delay_ns`: for how long no list may be taken, or 0: there is none. */
static void wait_for_work(struct requester *requester, uint64_t delay_ns) {
	struct pollfd fds[] = {
			{.fd = requester->wake_fd, .events = POLLIN},
			{.fd = gid_domain_get_fd(requester->domain), .events = POLLIN},
			{.fd = gid_producer_get_fd(requester->canvas.producer), .events = POLLIN},
			{.fd = gid_producer_get_fd(requester->report.producer), .events = POLLIN},
			{.fd = gid_consumer_get_fd(requester->lists), .events = POLLIN},
	};
	report_set(&requester->report.page->work_ns, gid_thread_used() + requester->job.used_ns);
	/* Of a batch that is read the next list is delayed; the last one is done. */
	if (requester->lists_slab != NULL) {
		tell_done(requester);
	}
	helper_job_sleep(&requester->job);
	/* Without the lists while they are delayed. */
	poll(fds, delay_ns > 0 ? 4 : 5, rate_limit_timeout_ms(delay_ns));
	helper_job_wake(&requester->job);
}

/* Whether memory of the canvas or of the report was revoked or emptied. */
static bool has_lost_memory(const struct requester *requester) {
	return report_is_lost(&requester->report) || canvas_is_lost(&requester->canvas);
}

static void *run(void *data) {
	struct requester *requester = data;
	int error = realtime_budget_init(&requester->realtime_budget, requester->config.realtime);
	if (error < 0) {
		engine_log(&requester->log, "no real-time priority: %s", strerror(-error));
	}
	if (!open_all(requester)) {
		return NULL;
	}
	helper_job_wake(&requester->job);
	while (!atomic_load(&requester->ends)) {
		struct engine_report *page = requester->report.page;
		update_realtime_budget(requester);
		gid_domain_dispatch(requester->domain);
		if (has_lost_memory(requester)) {
			engine_log(&requester->log,
					"its memory was taken back before it could be "
					"moved; beginning anew");
			close_streams(requester);
			if (!open_all(requester)) {
				break;
			}
			continue;
		}
		renew(requester);
		canvas_dispatch(&requester->canvas);
		report_dispatch(&requester->report);
		report_set(&page->presented, requester->canvas.presented);
		report_set(&page->not_presented, requester->canvas.not_presented);
		uint64_t delay_ns;
		if (!take_lists(requester, &delay_ns) && !has_news(requester)) {
			wait_for_work(requester, delay_ns);
		}
	}
	helper_job_sleep(&requester->job);
	close_streams(requester);
	return NULL;
}

static void release(struct requester *requester) {
	helper_job_finish(&requester->job);
	canvas_config_finish(&requester->config);
	if (requester->wake_fd >= 0) {
		close(requester->wake_fd);
	}
	free(requester);
}

int requester_start(struct requester **result, const struct canvas_config *config,
		const char *domain, uint32_t spin_us, struct helpers *helpers) {
	struct requester *requester = calloc(1, sizeof(*requester));
	if (requester == NULL) {
		return -ENOMEM;
	}
	requester->engine = domain;
	requester->spin_us = spin_us;
	requester->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error = requester->wake_fd < 0 ? -errno : 0;
	if (error == 0) {
		error = canvas_config_copy(&requester->config, config);
	}
	requester->log.name = requester->config.name;
	helper_job_init(&requester->job, helpers);
	requester->rate_limit.rate = requester->config.pixels_per_second;
	if (error == 0) {
		error = gid_thread_start(
				&requester->thread, GID_THREAD_STACK_USUAL, run, requester);
	}
	if (error != 0) {
		release(requester);
		return error;
	}
	*result = requester;
	return 0;
}

void requester_end(struct requester *requester) {
	atomic_store(&requester->ends, true);
	eventfd_write(requester->wake_fd, 1);
}

void requester_join(struct requester *requester) {
	pthread_join(requester->thread, NULL);
	release(requester);
}
