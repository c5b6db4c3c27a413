// SPDX-License-Identifier: MIT
/*
 * What gid-capture does between a source of pictures and the readers of its stream: both are of the
 * test, and so is libgid, which calls back when the test says so.
 */
#include "capture.h"

#include <cursor_note.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wayland-server-core.h>
#include <window_note.h>

#include "common/display_connection.h"
#include "tap.h"

struct gid_slab {
	uint32_t holders;
	bool revoked;
	struct gid_layout layout;
};

static struct {
	struct wl_display *server, *display;
	struct screens_output output;
	struct screens_window shown; // that is captured, if the options name one
	struct source source;
	struct wl_buffer *asked; // of the source
	int refreshes;
	struct gid_producer_options producer;
	struct gid_producer_stats stats;
	int lacks;		    // how often the producer was told to have no memory
	bool releases;		    // while something is sent a reader gives something back
	struct gid_slab window;	    // for readers on other machines
	bool needs_window, is_full; // which have all of its slots
	const struct gid_slab *sent;
	uint8_t note[GID_NOTE_MAX]; // of the picture that was sent last
	uint32_t note_size;
} fake;

/* --- a compositor that answers ---------------------------------------------------------------- */

struct wl_display *display_connect(void) {
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
			wl_client_create(fake.server, ends[0]) == NULL) {
		return NULL;
	}
	return fake.display = wl_display_connect_to_fd(ends[1]);
}

int display_add_to_loop(struct wl_display *display, sd_event *event, sd_event_source **source) {
	return 0;
}

static void answer(void) {
	wl_display_flush(fake.display);
	wl_event_loop_dispatch(wl_display_get_event_loop(fake.server), 0);
	wl_display_flush_clients(fake.server);
	wl_display_dispatch(fake.display);
}

int screens_init(struct screens *screens, struct wl_display *display) {
	*screens = (struct screens){.display = display};
	return 0;
}

void screens_finish(struct screens *screens) {
}

struct screens_output *screens_find_output(struct screens *screens, const char *name) {
	return &fake.output;
}

struct screens_window *screens_find_window(struct screens *screens, const char *words) {
	return &fake.shown;
}

int capture_clipboard_init(struct capture_clipboard *clipboard, sd_event *event,
		struct wl_display *display, struct gid_domain *domain, const char *stream,
		const char *viewer) {
	return -1;
}

void capture_clipboard_finish(struct capture_clipboard *clipboard) {
}

/* --- a source --------------------------------------------------------------------------------- */

static void fake_capture(struct source *source, struct wl_buffer *buffer, struct gid_box stale) {
	fake.asked = buffer;
}

static void fake_refresh(struct source *source) {
	fake.refreshes++;
}

static void fake_destroy(struct source *source) {
}

static const struct source_interface source_interface = {
		.capture = fake_capture, .refresh = fake_refresh, .destroy = fake_destroy};

struct source *image_copy_source_create(const struct screens *screens,
		const struct source_subject *subject, const struct source_events *events,
		void *data) {
	fake.source = (struct source){.interface = &source_interface,
			.events = events,
			.data = data,
			.knows_damage = true,
			.knows_transform = true,
			.without_cursor = !subject->cursor};
	return &fake.source;
}

struct source *screencopy_source_create(const struct screens *screens,
		const struct source_subject *subject, const struct source_events *events,
		void *data) {
	return NULL;
}

struct source *weston_source_create(const struct screens *screens,
		const struct source_subject *subject, const struct source_events *events,
		void *data) {
	return NULL;
}

/* The compositor has drawn what it was asked for. */
static void draw(void) {
	const struct source_picture picture = {.time = 1};
	fake.asked = NULL;
	fake.source.events->captured(fake.source.data, &picture);
}

/* --- memory ----------------------------------------------------------------------------------- */

struct screen_buffer *screen_buffer_create(struct wl_shm *shm, const struct source_form *form) {
	struct screen_buffer *buffer = calloc(1, sizeof(*buffer));
	if (buffer != NULL) {
		gid_layout_init(&buffer->layout, form->fourcc, form->width, form->height, 4);
		buffer->size = gid_layout_size(&buffer->layout);
		buffer->data = calloc(1, buffer->size);
		buffer->buffer = (struct wl_buffer *)buffer;
		wl_list_init(&buffer->link);
	}
	return buffer;
}

void screen_buffer_destroy(struct screen_buffer *buffer) {
	wl_list_remove(&buffer->link);
	free((void *)buffer->data);
	free(buffer->slab);
	free(buffer);
}

int screen_buffer_export(struct screen_buffer *buffer, struct gid_domain *domain) {
	buffer->slab = calloc(1, sizeof(*buffer->slab));
	return buffer->slab == NULL ? -ENOMEM : 0;
}

uint32_t gid_slab_holders(const struct gid_slab *slab, uint32_t slot) {
	return slab->holders;
}

void gid_slab_get_info(const struct gid_slab *slab, struct gid_slab_info *info) {
	*info = (struct gid_slab_info){.layout = slab->layout, .revoked = slab->revoked};
}

gid_id gid_slab_gid(const struct gid_slab *slab, uint32_t slot) {
	fake.sent = slab;
	return 1;
}

int gid_slab_create_for_stream(struct gid_domain *domain, const char *stream,
		const struct gid_layout *layout, uint64_t slot_size, uint32_t slots,
		const char *description, struct gid_slab **slab) {
	fake.window.layout = *layout;
	*slab = &fake.window;
	return 0;
}

int gid_slab_renew(struct gid_slab *slab) {
	return 0;
}

int gid_slab_take(struct gid_slab *slab) {
	return fake.is_full ? -EAGAIN : 0;
}

void gid_slab_give(struct gid_slab *slab, uint32_t slot) {
}

void *gid_slab_data(const struct gid_slab *slab, uint32_t slot) {
	static uint8_t data[4096];
	return data;
}

void gid_slab_destroy(struct gid_slab *slab, bool revoke) {
}

/* --- the stream ------------------------------------------------------------------------------- */

int gid_domain_connect(const char *name, struct gid_domain **domain) {
	return 0;
}

const char *gid_domain_connect_error(void) {
	return "";
}

const char *gid_domain_error(const struct gid_domain *domain) {
	return "";
}

int gid_domain_get_fd(const struct gid_domain *domain) {
	return eventfd(0, EFD_CLOEXEC);
}

int gid_domain_dispatch(struct gid_domain *domain) {
	return 0;
}

void gid_domain_destroy(struct gid_domain *domain) {
}

int gid_producer_create(struct gid_domain *domain, const char *name,
		const struct gid_producer_options *options, struct gid_producer **producer) {
	fake.producer = *options;
	fake.stats = (struct gid_producer_stats){0};
	*producer = (struct gid_producer *)&fake;
	return 0;
}

void gid_producer_destroy(struct gid_producer *producer) {
}

int gid_producer_get_fd(const struct gid_producer *producer) {
	return eventfd(0, EFD_CLOEXEC);
}

int gid_producer_dispatch(struct gid_producer *producer) {
	return 0;
}

uint32_t gid_producer_consumers(const struct gid_producer *producer) {
	return 1;
}

bool gid_producer_needs_window(const struct gid_producer *producer) {
	return fake.needs_window;
}

void gid_producer_want_release(struct gid_producer *producer) {
}

void gid_producer_lacks_memory(struct gid_producer *producer) {
	fake.lacks++;
}

void gid_producer_count_copy_for(
		struct gid_producer *producer, enum gid_copy_reason reason, uint64_t bytes) {
}

void gid_producer_get_stats(const struct gid_producer *producer, struct gid_producer_stats *stats) {
	*stats = fake.stats;
}

/* As the real one: what came back is collected first, and told. */
int gid_producer_send(struct gid_producer *producer, struct gid_frame *frame) {
	if (fake.releases) {
		fake.producer.released(fake.producer.data, 2);
	}
	fake.stats.frames++;
	fake.note_size = frame->note_size;
	memcpy(fake.note, frame->note, frame->note_size);
	return 1;
}

/* --- the checks ------------------------------------------------------------------------------- */

/* A source has told its form, and has been asked for the first picture. */
static bool begin_as(
		struct capture *capture, const struct capture_options *options, sd_event **event) {
	const struct source_form form = {
			.fourcc = DRM_FORMAT_XRGB8888, .width = 4, .height = 4, .stride = 16};
	memset(&fake, 0, sizeof(fake));
	fake.output.name = "one";
	fake.server = wl_display_create();
	if (sd_event_new(event) < 0 || capture_init(capture, options, *event) < 0) {
		return false;
	}
	fake.source.events->form(fake.source.data, &form);
	answer();
	return fake.asked != NULL;
}

static bool begin(struct capture *capture, sd_event **event) {
	static const struct capture_options options = {.stream = "desk"};
	return begin_as(capture, &options, event);
}

static void end(struct capture *capture, sd_event *event) {
	capture_finish(capture);
	sd_event_unref(event);
	wl_display_destroy_clients(fake.server);
	wl_display_destroy(fake.server);
}

static void test_what_is_being_sent(void) {
	struct capture capture;
	sd_event *event;
	bool begun = begin(&capture, &event);
	fake.releases = true;
	draw();
	tap_ok(begun && fake.asked != NULL && capture.asked->slab != fake.sent,
			"a release while a picture is sent has no other one drawn into its memory");
	end(&capture, event);
}

static void test_memory_that_goes(void) {
	struct capture capture;
	sd_event *event;
	bool begun = begin(&capture, &event);
	capture.asked->slab->revoked = true;
	fake.producer.released(fake.producer.data, 2);
	draw();
	tap_ok(begun && fake.stats.frames == 0 && fake.refreshes == 1,
			"a picture whose memory is taken as it is drawn is asked for again");
	end(&capture, event);
}

static void test_other_machines(void) {
	struct capture capture;
	sd_event *event;
	bool begun = begin(&capture, &event);
	fake.needs_window = fake.is_full = true;
	draw();
	tap_ok(begun && fake.lacks == 1,
			"who keeps all memory that other machines can see loses it");
	tap_ok(capture.pause_us > 0,
			"and meanwhile pictures are not drawn in vain without a pause");
	end(&capture, event);
}

static void test_counts(void) {
	struct capture capture;
	sd_event *event;
	bool begun = begin(&capture, &event);
	draw();
	for (int times = 0; times < 2; times++) {
		capture.screens.output_gone(&capture, &fake.output);
		capture.screens.output_there(&capture, &fake.output);
		fake.stats.frames = 5;
	}
	capture.screens.output_gone(&capture, &fake.output);
	tap_ok(begun && capture.past.frames == 1 + 5 + 5,
			"what was sent is counted once, however often the output goes");
	end(&capture, event);
}

static void test_notes(void) {
	static const struct capture_options bare = {.stream = "desk", .no_cursor = true};
	static const struct capture_options one = {.stream = "desk", .window = "one"};
	struct capture capture;
	struct window_note note;
	sd_event *event;
	bool begun = begin(&capture, &event);
	draw();
	tap_ok(begun && fake.note_size == 0, "nothing is said of an output with its cursor");
	end(&capture, event);
	begun = begin_as(&capture, &bare, &event);
	draw();
	tap_ok(begun && without_cursor_note_read(fake.note, fake.note_size),
			"but that it lacks the cursor");
	end(&capture, event);
	begun = begin_as(&capture, &one, &event);
	fake.shown.app_id = "org.example.one";
	fake.shown.title = "One";
	draw();
	tap_ok(begun && window_note_read(&note, fake.note, fake.note_size) &&
					strcmp(note.app_id, "org.example.one") == 0 &&
					strcmp(note.title, "One") == 0,
			"and of a window what it is called now");
	fake.shown.title = "Two";
	capture.screens.window_named(&capture, &fake.shown);
	capture.screens.window_named(&capture, &fake.shown);
	tap_ok(fake.refreshes == 1, "a window that is renamed is drawn anew, once");
	draw();
	tap_ok(window_note_read(&note, fake.note, fake.note_size) && strcmp(note.title, "Two") == 0,
			"so that readers hear of it");
	capture.screens.window_named(&capture, &fake.shown);
	tap_ok(fake.refreshes == 2, "each time");
	fake.shown.title = NULL;
	capture.screens.window_gone(&capture, &fake.shown);
	draw();
	tap_ok(fake.note_size == 0, "until it is closed");
	end(&capture, event);
}

int main(void) {
	test_what_is_being_sent();
	test_memory_that_goes();
	test_other_machines();
	test_counts();
	test_notes();
	return tap_finish();
}
