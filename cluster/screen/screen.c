// SPDX-License-Identifier: MIT
#include "screen.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <wlr/interfaces/wlr_output.h>
#include <wlr/render/pixman.h>
#include <wlr/render/swapchain.h>
#include <wlr/render/wlr_texture.h>
#include <wlr/util/log.h>

#include "kms_layer.h"
#include "kms_output.h"
#include "kms_writeback.h"
#include "publisher.h"
#include "thread.h"
#include "versions.h"
#include "virtual_backend.h"

/* --- reading the composition ------------------------------------------------------------------ */

typedef void (*pixels_func)(void *data, const struct pixels *pixels);

/* For renderers whose buffers the processor cannot read: makes a copy. */
static bool read_texture(
		struct screen *screen, struct wlr_buffer *buffer, pixels_func func, void *data) {
	struct wlr_texture *texture = wlr_texture_from_buffer(screen->device->renderer, buffer);
	size_t stride = (size_t)buffer->width * 4;
	void *copy = malloc(stride * (size_t)buffer->height);
	bool read = texture != NULL && copy != NULL &&
			wlr_texture_read_pixels(texture,
					&(struct wlr_texture_read_pixels_options){
							.data = copy,
							.format = DRM_FORMAT_XRGB8888,
							.stride = (uint32_t)stride,
					});
	if (read) {
		struct pixels pixels = {
				copy, (uint32_t)buffer->width, (uint32_t)buffer->height, stride};
		func(data, &pixels);
	}
	free(copy);
	wlr_texture_destroy(texture);
	return read;
}

static bool read_buffer(
		struct screen *screen, struct wlr_buffer *buffer, pixels_func func, void *data) {
	void *memory;
	uint32_t format;
	size_t stride;
	if (!wlr_buffer_begin_data_ptr_access(
			    buffer, WLR_BUFFER_DATA_PTR_ACCESS_READ, &memory, &format, &stride)) {
		return read_texture(screen, buffer, func, data);
	}
	bool known = format == DRM_FORMAT_XRGB8888 || format == DRM_FORMAT_ARGB8888;
	if (known) {
		struct pixels pixels = {
				memory, (uint32_t)buffer->width, (uint32_t)buffer->height, stride};
		func(data, &pixels);
	}
	wlr_buffer_end_data_ptr_access(buffer);
	return known;
}

struct check {
	struct screen *screen;
	uint64_t now;
	bool passed;
};

static void check_pixels(void *data, const struct pixels *pixels) {
	struct check *check = data;
	struct screen *screen = check->screen;
	check->passed = screen->hooks->check(screen->data, screen, pixels, check->now);
}

static bool screen_check(struct screen *screen, struct wlr_buffer *buffer, uint64_t now) {
	struct check check = {.screen = screen, .now = now, .passed = true};
	if (buffer == NULL || !read_buffer(screen, buffer, check_pixels, &check)) {
		struct pixels nothing = {0}; /* unreadable pixels fail the check */
		check_pixels(&check, &nothing);
	}
	return check.passed;
}

/* --- reading back from the device ------------------------------------------------------------- */

/*
 * How long a stream counts as read after its last reader left. Returning to planes needs test-only
 * commits, and readers choose how often they come and go.
 */
#define COPIED_NS UINT64_C(1000000000)

bool screen_is_read_back(const struct screen *screen) {
	return screen->kms != NULL && !screen->readback.off && kms_writeback_is_there(screen->kms);
}

static bool screen_can_be_written(const struct screen *screen) {
	return screen->kms != NULL && kms_writeback_is_ready(screen->kms);
}

static bool screen_readback_is_due(const struct screen *screen, uint64_t now) {
	return readback_is_due(&screen->readback, screen_can_be_written(screen), now);
}

static void handle_not_written(struct screen *screen) {
	if (readback_failed(&screen->readback)) {
		wlr_log(WLR_ERROR,
				"output %s: what it shows is not read back now: the device did not "
				"write it, %u times in a row",
				screen->output->name, READBACK_FAILED_MAX);
		screen_schedule_frame(screen); /* direct planes depend on read-back */
	}
}

static void handle_written(void *data, const struct kms_dumb *picture) {
	struct screen *screen = data;
	if (picture == NULL) {
		handle_not_written(screen);
		return;
	}
	struct pixels pixels = {picture->data, picture->width, picture->height, picture->stride};
	if (readback_written(&screen->readback)) {
		wlr_log(WLR_INFO, "output %s: what it shows is read back again",
				screen->output->name);
	}
	screen->hooks->read_back(screen->data, screen, &pixels, gid_clock_now());
}

static void screen_read_back(struct screen *screen, uint64_t now) {
	if (readback_ask(&screen->readback, screen_can_be_written(screen), now)) {
		kms_writeback_ask(screen->kms, handle_written, screen);
	}
}

/* A frame was committed, and with it the write-back that was asked for. */
static void screen_expect_readback(struct screen *screen, uint64_t now) {
	uint64_t every = screen->config->writeback * screen_refresh_ns(screen);
	if (readback_sent(&screen->readback, every, now)) {
		screen->hooks->expects_readback(screen->data, screen);
	}
}

/* While another VT has the device nothing can be shown, and a pending page flip may never come. */
static bool screen_is_away(const struct screen *screen) {
	return screen->device->session != NULL && !screen->device->session->active;
}

/* Only for devices: the compositor around a window decides whether and when it is shown. */
bool screen_is_stuck(struct screen *screen, uint64_t passed) {
	bool is_device = screen->output != NULL && screen->device->session != NULL;
	return owed_frame_is_overdue(&screen->owed, is_device && !screen_is_away(screen), passed);
}

void screen_tick(struct screen *screen, uint64_t now) {
	bool again = screen->copied && now >= screen->copied_until; /* planes can be used again */
	if (again || screen_readback_is_due(screen, now)) {
		screen_schedule_frame(screen);
	}
}

/* --- publishing ------------------------------------------------------------------------------- */

/* A composition without the pictures on planes is incomplete: the next one has everything. */
static bool screen_lacks_planes(const struct screen *screen) {
	return screen->kms != NULL && !screen->copied;
}

static void screen_publish_front(struct screen *screen) {
	if (screen->publisher != NULL && screen->front != NULL) {
		screen->unpublished = screen_lacks_planes(screen) ||
				!publisher_offer(screen->publisher, screen->front);
	}
}

static int handle_publisher(int fd, uint32_t mask, void *data) {
	struct screen *screen = data;
	bool wanted = publisher_collect(screen->publisher);
	if (publisher_has_readers(screen->publisher) && !screen->copied && screen->kms != NULL) {
		screen_schedule_frame(screen); /* so that its pictures leave the planes */
	}
	if (wanted || screen->unpublished) {
		screen_publish_front(screen);
	}
	return 0;
}

int screen_publish(struct screen *screen, struct wl_event_loop *loop, const char *domain) {
	if (screen->config->stream == NULL) {
		return 0;
	}
	screen->publisher = publisher_create(domain, screen->config->stream);
	if (screen->publisher == NULL) {
		return -ENOMEM;
	}
	screen->publisher_source = wl_event_loop_add_fd(loop, publisher_get_fd(screen->publisher),
			WL_EVENT_READABLE, handle_publisher, screen);
	return screen->publisher_source != NULL ? 0 : -ENOMEM;
}

/* --- a frame ---------------------------------------------------------------------------------- */

/* Initialises the state, which the caller must finish, also after a failure. */
static bool screen_compose(struct screen *screen, struct wlr_output_state *state, uint64_t now) {
	for (int round = 0; round < 2; round++) {
		wlr_output_state_init(state);
		if (!composition_build(screen->composition, state)) {
			return false;
		}
		if (screen_check(screen, state->buffer, now) || round == 1) {
			break;
		}
		composition_forget(screen->composition);
		wlr_output_state_finish(state);
	}
	return true;
}

/* Resources that a frame has used. */
struct spent {
	uint64_t clock, cpu; /* ns */
	uint64_t sleeps;
};

/* CPU time and sleeps of the thread since its start, and the current time. */
static struct spent spent_until_now(void) {
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return (struct spent){
			.clock = gid_clock_now(),
			.cpu = gid_thread_used(),
			.sleeps = (uint64_t)usage.ru_nvcsw,
	};
}

static void count_time(struct samples *samples, uint64_t *most, uint64_t ns) {
	samples_add(samples, ns);
	*most = ns > *most ? ns : *most;
}

/* Counted for each gap: in a total, an extra frame would hide a missing one. */
static void screen_count_gap(struct screen_stats *stats, uint64_t when, uint64_t refresh) {
	uint64_t gap = stats->last != 0 && when > stats->last ? when - stats->last : 0;
	uint64_t refreshes = (gap + refresh / 2) / refresh;
	stats->skipped += refreshes > 1 ? refreshes - 1 : 0;
	stats->longest_gap_ns = gap > stats->longest_gap_ns ? gap : stats->longest_gap_ns;
	stats->last = when;
}

static void screen_count(struct screen *screen, const struct spent *begin) {
	struct screen_stats *stats = &screen->stats;
	struct spent end = spent_until_now();
	uint64_t clock = end.clock - begin->clock, cpu = end.cpu - begin->cpu;
	stats->frames++;
	stats->compose_ns += clock;
	count_time(&stats->compose, &stats->compose_max_ns, clock);
	count_time(&stats->cpu, &stats->cpu_max_ns, cpu);
	count_time(&stats->wait, &stats->wait_max_ns, clock > cpu ? clock - cpu : 0);
	stats->over_bound += screen->bound.total > 0 && cpu > screen->bound.total;
	stats->slept += end.sleeps != begin->sleeps;
}

/* A timerfd is exact to the nanosecond: the event loop's own timers round up to milliseconds. */
static void screen_arm_timer_at(struct screen *screen, uint64_t at) {
	struct itimerspec when = {
			.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)},
	};
	timerfd_settime(screen->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void screen_arm_timer(struct screen *screen, uint64_t ns) {
	screen_arm_timer_at(screen, gid_clock_now() + ns);
}

/* A real screen has refreshes: a virtual one gets its own here. */
static bool screen_is_virtual(const struct screen *screen) {
	return screen->refreshes.mhz != 0;
}

/* The composition stays; this commit only changes planes. */
static void screen_reuse_front(struct screen *screen, struct wlr_output_state *state) {
	pixman_region32_t nothing;
	pixman_region32_init(&nothing);
	wlr_output_state_init(state);
	wlr_output_state_set_buffer(state, screen->front);
	wlr_output_state_set_damage(state, &nothing);
	pixman_region32_fini(&nothing);
}

/* Whether the device may accept the same commit a little later. */
static bool is_passing(int error) {
	return error == -EBUSY || error == -EACCES || error == -EPERM || error == -EINTR;
}

/*
 * The device can only have refused the planes: everything is composed instead, in the same refresh,
 * so that nothing is missing.
 */
static bool screen_commit_composed(
		struct screen *screen, struct wlr_output_state *state, uint64_t now) {
	if (screen->kms == NULL || is_passing(screen->kms->error) ||
			!kms_layers_have_plane(screen->kms)) {
		return false;
	}
	screen->hooks->plan(screen->data, screen, screen->kms, SCREEN_REFUSED);
	wlr_output_state_finish(state);
	return screen_compose(screen, state, now) && wlr_output_commit_state(screen->output, state);
}

static void screen_render(struct screen *screen, const struct spent *begin, bool composes) {
	struct wlr_output_state state;
	uint64_t now = begin->clock;
	owed_frame_given(&screen->owed);
	if (!composes) {
		screen_reuse_front(screen, &state);
	} else if (!screen_compose(screen, &state, now)) {
		wlr_output_state_finish(&state);
		screen->stats.missed++;
		pace_cancel(&screen->pace);
		screen_arm_timer(screen, screen_refresh_ns(screen));
		return;
	}
	bool done = wlr_output_commit_state(screen->output, &state);
	if (!done && screen_commit_composed(screen, &state, now)) {
		done = composes = true;
	}
	if (done) {
		wlr_buffer_unlock(screen->front);
		screen->front = state.buffer != NULL ? wlr_buffer_lock(state.buffer) : NULL;
		screen->stats.composed += composes;
		if (composes) {
			composition_committed(screen->composition);
			screen_publish_front(screen);
		}
		screen_expect_readback(screen, now);
		screen_count(screen, begin);
		frame_clock_committed(&screen->clock, now, screen_refresh_ns(screen));
		uint64_t given = gid_clock_now();
		pace_committed(&screen->pace, given);
		if (screen_is_virtual(screen)) {
			screen_arm_timer_at(screen, refreshes_give(&screen->refreshes, given));
		}
	} else {
		screen->stats.missed++;
		pace_cancel(&screen->pace);
		screen_arm_timer(screen,
				frame_clock_refused(&screen->clock, screen_refresh_ns(screen)));
	}
	wlr_output_state_finish(&state);
}

/*
 * Moves pictures between planes and composition: readers of the stream get the composition, which
 * must be complete.
 */
static void screen_plan(struct screen *screen, uint64_t now) {
	if (screen->kms == NULL) {
		return;
	}
	if (screen->publisher != NULL && publisher_has_readers(screen->publisher)) {
		screen->copied_until = now + COPIED_NS;
	}
	bool copied = now < screen->copied_until;
	if (copied && !screen->copied) {
		screen->hooks->plan(screen->data, screen, screen->kms, SCREEN_COMPOSED);
		screen->to_plan = true;
	} else if (!copied && screen->to_plan) {
		screen->hooks->plan(screen->data, screen, screen->kms, SCREEN_PLANES);
		screen->to_plan = false;
	}
	screen->copied = copied;
}

void screen_schedule_frame(struct screen *screen) {
	if (screen->output != NULL && !screen->output->frame_pending) {
		screen_arm_timer(screen, 0);
	}
}

/* The first refresh after `now`; 0: not known. */
static uint64_t screen_next_refresh(const struct screen *screen, uint64_t now) {
	return screen_is_virtual(screen)
			? refreshes_next(&screen->refreshes, now)
			: pace_next_refresh(&screen->pace, now, screen_refresh_ns(screen));
}

/* How long to wait before composing the next frame. */
static uint64_t screen_delay(struct screen *screen, uint64_t now) {
	if (screen->clock.own_time) {
		return frame_clock_delay(&screen->clock, now, screen_refresh_ns(screen));
	}
	return pace_delay(&screen->pace, now, screen_next_refresh(screen, now),
			screen_refresh_ns(screen));
}

/* How late the frame, planned to begin then, is done; not counted if the time is unknown. */
static void screen_count_late(struct screen *screen, uint64_t begin) {
	uint64_t now = gid_clock_now();
	if (begin != 0 && now > begin) {
		samples_add(&screen->stats.late, now - begin);
	}
}

/* Never while a frame is pending: that of a virtual screen ends with screen_refresh(). */
static void screen_frame(struct screen *screen) {
	struct spent begin = spent_until_now();
	uint64_t now = begin.clock;
	uint64_t wait = screen_delay(screen, now);
	if (wait > 0) {
		screen_arm_timer_at(screen, now + wait);
		return;
	}
	uint64_t planned = screen->pace.begin;
	screen->hooks->begin(screen->data, screen, now);
	screen_plan(screen, now);
	screen->hooks->update_planes(screen->data, screen, now);
	bool fills = screen->kms != NULL && kms_layers_have_news(screen->kms);
	bool composes = composition_needs_frame(screen->composition) || screen->front == NULL;
	screen_read_back(screen, now);
	if (composes || fills || screen->readback.asked) {
		screen_render(screen, &begin, composes);
	} else {
		screen->stats.last = 0; /* an idle screen has no gaps */
		frame_clock_skip(&screen->clock);
		pace_cancel(&screen->pace);
	}
	screen_count_late(screen, planned);
}

static void handle_frame(struct wl_listener *listener, void *data) {
	struct screen *screen = wl_container_of(listener, screen, frame);
	screen_frame(screen);
}

static void screen_shown(struct screen *screen, uint32_t commit, uint64_t when) {
	uint64_t refresh = screen_refresh_ns(screen);
	owed_frame_shown(&screen->owed);
	screen->hooks->presented(screen->data, screen, commit, when);
	screen_count_gap(&screen->stats, when, refresh);
	pace_shown(&screen->pace, when, refresh);
	if (frame_clock_shown(&screen->clock, when, refresh)) {
		wlr_log(WLR_INFO,
				"output %s does not wait for its refresh: gid-cluster "
				"keeps the time itself",
				screen->output->name);
	}
}

/* Virtual screens only: presents the last frame, and asks for the next. */
static void screen_refresh(struct screen *screen) {
	uint64_t when = refreshes_take(&screen->refreshes, gid_clock_now());
	if (when == 0) {
		screen_arm_timer_at(screen, screen->refreshes.due);
		return;
	}
	screen_shown(screen, screen->output->commit_seq, when);
	wlr_output_send_frame(screen->output);
}

/*
 * A frame that is pending ends with an event of its own. While another VT has the device nothing
 * can be shown; wlroots asks for a frame afterwards.
 */
static int handle_timer(int fd, uint32_t mask, void *data) {
	struct screen *screen = data;
	uint64_t expirations;
	if (read(fd, &expirations, sizeof(expirations)) < 0 || screen->output == NULL) {
		return 0;
	}
	if (screen->refreshes.due != 0) {
		screen_refresh(screen);
	} else if (!screen->output->frame_pending && !screen_is_away(screen)) {
		screen_frame(screen);
	}
	return 0;
}

/* In the unit of gid_clock_now(). */
static uint64_t ns_of(const struct timespec *time) {
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static void handle_present(struct wl_listener *listener, void *data) {
	struct screen *screen = wl_container_of(listener, screen, present);
	const struct wlr_output_event_present *event = data;
	if (event->presented && !screen_is_virtual(screen)) {
		const struct timespec *at = presented_at(event);
		screen_shown(screen, event->commit_seq, at != NULL ? ns_of(at) : gid_clock_now());
	}
}

uint32_t screen_next_commit(const struct screen *screen) {
	uint32_t next = screen->output != NULL ? screen->output->commit_seq + 1 : 1;
	return next != 0 ? next : 1;
}

static uint32_t screen_refresh_mhz(const struct screen *screen) {
	return screen->output != NULL && screen->output->refresh > 0
			? (uint32_t)screen->output->refresh
			: OUTPUT_REFRESH_MHZ;
}

uint64_t screen_refresh_ns(const struct screen *screen) {
	return 1000000000000u / screen_refresh_mhz(screen);
}

uint64_t screen_window_ns(const struct screen *screen) {
	uint64_t refresh = screen_refresh_ns(screen);
	uint64_t window = pace_window_ns(&screen->pace, refresh);
	return screen->clock.own_time ? 0 : window < refresh ? window : refresh;
}

/* --- its mode --------------------------------------------------------------------------------- */

static struct wlr_output_mode *mode_choose(
		const struct wlr_output_mode *wanted, struct wl_list *modes) {
	struct wlr_output_mode *mode, *nearest = NULL;
	wl_list_for_each(mode, modes, link) {
		if (mode->width != wanted->width || mode->height != wanted->height) {
			continue;
		}
		if (nearest == NULL ||
				abs(mode->refresh - wanted->refresh) <
						abs(nearest->refresh - wanted->refresh)) {
			nearest = mode;
		}
	}
	return nearest;
}

/* What the configuration leaves open comes from the preferred mode. */
static struct wlr_output_mode mode_wanted(
		const struct output_config *config, const struct wlr_output_mode *preferred) {
	static const struct wlr_output_mode otherwise = {.width = OUTPUT_WIDTH,
			.height = OUTPUT_HEIGHT,
			.refresh = OUTPUT_REFRESH_MHZ};
	struct wlr_output_mode wanted = preferred != NULL ? *preferred : otherwise;
	if (config->width > 0) {
		wanted.width = (int32_t)config->width;
	}
	if (config->height > 0) {
		wanted.height = (int32_t)config->height;
	}
	if (config->refresh_mhz > 0) {
		wanted.refresh = (int32_t)config->refresh_mhz;
	}
	return wanted;
}

/*
 * Enables the output in its preferred mode; or in the mode of the configured size with the nearest
 * refresh. Without such a mode it asks for exactly the configured one. Returns false, and logs the
 * reason, if the device refuses.
 */
static bool mode_set(struct wlr_output *output, const struct output_config *config) {
	struct wlr_output_mode wanted = mode_wanted(config, wlr_output_preferred_mode(output));
	struct wlr_output_mode *mode = mode_choose(&wanted, &output->modes);
	struct wlr_output_state state;
	wlr_output_state_init(&state);
	wlr_output_state_set_enabled(&state, true);
	if (mode != NULL) {
		wlr_output_state_set_mode(&state, mode);
	} else {
		if (!wl_list_empty(&output->modes)) {
			wlr_log(WLR_INFO, "output %s has no mode of %dx%d: asking for it anyway",
					output->name, wanted.width, wanted.height);
		}
		/* A window has the refresh rate of its compositor, and accepts no other. */
		bool window = wl_list_empty(&output->modes) && !output_is_virtual(output);
		wlr_output_state_set_custom_mode(
				&state, wanted.width, wanted.height, window ? 0 : wanted.refresh);
	}
	bool done = wlr_output_commit_state(output, &state);
	wlr_output_state_finish(&state);
	if (done) {
		wlr_log(WLR_INFO, "output %s: %dx%d at %.3f Hz", output->name, output->width,
				output->height, output->refresh / 1000.0);
	} else {
		wlr_log(WLR_ERROR,
				"output %s refuses %dx%d at %.3f Hz: either it cannot, or another "
				"program has the screen",
				output->name, wanted.width, wanted.height, wanted.refresh / 1000.0);
	}
	return done;
}

/* --- the output ------------------------------------------------------------------------------- */

/* The display works without its background, too: safety pictures matter more. */
static void screen_set_background(struct screen *screen) {
	const char *path = screen->config->background;
	struct gid_box box = {.width = screen->output->width, .height = screen->output->height};
	const struct part *old = screen->background;
	if (path == NULL ||
			(old != NULL && old->box.width == box.width &&
					old->box.height == box.height)) {
		return;
	}
	struct own_picture *picture = NULL;
	struct part *background = NULL;
	int ret = own_picture_create_png(&picture, path, (uint32_t)box.width, (uint32_t)box.height);
	if (ret == 0) {
		background = composition_add(screen->composition, COMPOSITION_BACKGROUND, &box);
	}
	if (background == NULL) {
		wlr_log(WLR_ERROR, "background=%s: %s", path,
				ret == -EINVAL ? "no PNG that can be read" : "no memory");
		own_picture_unref(picture);
		return;
	}
	part_set_picture(background, picture);
	part_show(background, true);
	own_picture_unref(picture);
	part_destroy(screen->background);
	screen->background = background;
}

static void handle_request_state(struct wl_listener *listener, void *data) {
	struct screen *screen = wl_container_of(listener, screen, request_state);
	const struct wlr_output_event_request_state *event = data;
	if (wlr_output_commit_state(screen->output, event->state)) {
		composition_forget(screen->composition);
		screen_set_background(screen);
	}
}

static void screen_detach_output(struct screen *screen) {
	if (screen->output == NULL) {
		return;
	}
	screen->hooks->detaching(screen->data, screen);
	composition_detach_output(screen->composition);
	wl_list_remove(&screen->frame.link);
	wl_list_remove(&screen->present.link);
	wl_list_remove(&screen->request_state.link);
	wl_list_remove(&screen->output_destroy.link);
	wlr_buffer_unlock(screen->front);
	screen->front = NULL;
	screen->clock = (struct frame_clock){0};
	screen->refreshes = (struct refreshes){0};
	screen->owed = (struct owed_frame){0};
	screen->output = NULL;
	screen->kms = NULL;
}

static void handle_output_destroy(struct wl_listener *listener, void *data) {
	struct screen *screen = wl_container_of(listener, screen, output_destroy);
	wlr_log(WLR_ERROR, "output %s is gone", screen->output->name);
	screen_detach_output(screen);
}

static void listen(
		struct wl_signal *signal, struct wl_listener *listener, wl_notify_func_t notify) {
	listener->notify = notify;
	wl_signal_add(signal, listener);
}

bool screen_matches(const struct screen *screen, const struct wlr_output *output) {
	const char *name = screen->config->name;
	return screen->output == NULL && (name == NULL || strcmp(name, output->name) == 0);
}

bool screen_has_place(const struct screen *screen, const struct gid_box *box) {
	const struct wlr_output *output = screen->output;
	return output == NULL ||
			(box->x + box->width <= output->width &&
					box->y + box->height <= output->height);
}

/*
 * Draws into all buffers of the swapchain, so that their pages exist: else the first frames would
 * take twice as long.
 */
static void screen_fill_buffers(struct screen *screen) {
	struct wlr_output_state states[WLR_SWAPCHAIN_CAP];
	size_t count = 0;
	bool drawn = true;
	while (drawn && count < WLR_SWAPCHAIN_CAP) {
		struct wlr_output_state *state = &states[count++];
		wlr_output_state_init(state);
		drawn = composition_build(screen->composition, state);
	}
	while (count > 0) {
		wlr_output_state_finish(&states[--count]);
	}
}

void screen_measure(struct screen *screen) {
	if (screen->output != NULL && wlr_renderer_is_pixman(screen->device->renderer)) {
		(void)frame_bound_measure(screen->whole,
				(size_t)(screen->config - screen->whole->outputs),
				(uint32_t)screen->output->width, (uint32_t)screen->output->height,
				&screen->bound);
	}
}

/* The compositor around a window needs an unknown time before its own refresh. */
static bool screen_is_window(const struct screen *screen) {
	return screen->output != NULL && !output_is_virtual(screen->output) &&
			screen->device->session == NULL;
}

static enum pacing screen_pacing(const struct screen *screen) {
	enum pacing pacing = screen->config->pacing;
	return pacing == PACING_BOUND && screen_is_window(screen) ? PACING_OFF : pacing;
}

void screen_set_worst_frame(struct screen *screen, uint64_t ns) {
	screen->pace.frame_ns = screen_is_window(screen) ? 0 : ns;
}

void screen_attach_output(struct screen *screen, struct wlr_output *output) {
	struct device *device = screen->device;
	struct kms_output *kms =
			screen->config->planes != PLANES_OFF ? kms_output_from_wlr(output) : NULL;
	if (kms != NULL && screen->config->writeback > 0) {
		kms_writeback_want(kms);
	}
	if (!wlr_output_init_render(output, device->allocator, device->renderer)) {
		wlr_log(WLR_ERROR, "output %s cannot be drawn to", output->name);
		return;
	}
	if (!mode_set(output, screen->config)) {
		return;
	}
	if (!composition_attach_output(screen->composition, output)) {
		wlr_log(WLR_ERROR, "output %s: no memory", output->name);
		return;
	}
	screen->output = output;
	listen(&output->events.frame, &screen->frame, handle_frame);
	listen(&output->events.present, &screen->present, handle_present);
	listen(&output->events.request_state, &screen->request_state, handle_request_state);
	listen(&output->events.destroy, &screen->output_destroy, handle_output_destroy);
	screen_set_background(screen);
	screen->stats = (struct screen_stats){.started = gid_clock_now()};
	if (output_is_virtual(output)) {
		refreshes_init(&screen->refreshes, gid_clock_now(), screen_refresh_mhz(screen));
	}
	pace_init(&screen->pace, screen_pacing(screen));
	screen->kms = kms;
	screen->readback = (struct readback){0};
	screen->to_plan = screen->kms != NULL;
	screen->copied = false;
	screen->copied_until = 0;
	screen->bound = (struct frame_bound){0};
	screen_measure(screen);
	screen_fill_buffers(screen);
	screen->hooks->attached(screen->data, screen);
	if (screen_is_virtual(screen)) {
		output->frame_pending = false; /* no refresh shows its mode alone */
		screen_schedule_frame(screen);
	}
}

static void handle_changed(void *data) {
	screen_schedule_frame(data);
}

int screen_init(struct screen *screen, struct wl_event_loop *loop) {
	screen->composition = composition_create(screen->device->renderer, handle_changed, screen);
	screen->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	screen->timer_source = screen->timer < 0
			? NULL
			: wl_event_loop_add_fd(loop, screen->timer, WL_EVENT_READABLE, handle_timer,
					  screen);
	return screen->timer_source != NULL && screen->composition != NULL ? 0 : -ENOMEM;
}

void screen_finish(struct screen *screen) {
	if (screen->publisher_source != NULL) {
		wl_event_source_remove(screen->publisher_source);
	}
	publisher_destroy(screen->publisher);
	screen_detach_output(screen);
	if (screen->timer_source != NULL) {
		wl_event_source_remove(screen->timer_source);
	}
	if (screen->timer >= 0) {
		close(screen->timer);
	}
	composition_destroy(screen->composition);
}
