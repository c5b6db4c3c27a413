// SPDX-License-Identifier: MIT
/* Frames that are no pictures: what is to be forgotten of them. */
#define COCKPIT_STREAMS "clipboard/desk"

#include "frame_writer.h"

#include "clipboard_format.h"
#include "stream_pair.h"

#define NAME "clipboard/desk"
#define SECRET "the secret of before"
#define LATER "later"

static const char *text;
static bool is_published;

static void handle_published(void *data, int error) {
	is_published = error == 0;
}

static void handle_readers(void *data, uint32_t readers) {
}

static void handle_write(void *data, void *memory, uint32_t slot, uint64_t emptied) {
	clipboard_frame_write(memory, text, strlen(text));
}

static const struct frame_writer_events events = {
		.published = handle_published, .readers = handle_readers, .write = handle_write};

static void pass_on(struct frame_writer *writer) {
	settle(NULL);
	frame_writer_flush(writer);
}

static struct gid_consumer *read_stream(struct frame_writer *writer) {
	const struct gid_consumer_options options = {
			.size = sizeof(options), .credit = 4, .reconnect = true};
	struct gid_consumer *consumer = NULL;
	gid_consumer_create(cluster_domain, "open", NAME, &options, &consumer);
	for (int i = 0; i < 100 && frame_writer_readers(writer) == 0; i++) {
		pass_on(writer);
	}
	return consumer;
}

/* Sends it, and returns the frame that came, with its slab. */
static bool send_text(struct frame_writer *writer, struct gid_consumer *consumer, const char *what,
		struct gid_frame *frame, struct gid_slab **slab) {
	int got = 0;
	text = what;
	frame_writer_mark(writer);
	for (int i = 0; i < 100 && got != 1; i++) {
		pass_on(writer);
		got = gid_consumer_receive(consumer, frame);
	}
	return got == 1 && gid_slab_import(cluster_domain, frame->gid, slab) == 0;
}

/* In how many slots it is found by who has all of them mapped. */
static unsigned find(const struct gid_slab *slab, const char *what) {
	unsigned count = 0;
	for (uint32_t slot = 0; slot < clipboard_form.slots; slot++) {
		const void *view = gid_slab_view(slab, slot);
		count += view == NULL ||
				memmem(view, clipboard_form.slot_size, what, strlen(what)) != NULL;
	}
	return count;
}

static void test_who_comes_later(struct frame_writer *writer) {
	struct gid_frame frame;
	struct gid_slab *slab = NULL;
	struct gid_consumer *first = read_stream(writer);
	tap_ok(send_text(writer, first, SECRET, &frame, &slab) && find(slab, SECRET) == 1,
			"a text is read");
	gid_consumer_release(first, &frame);
	uint64_t deadline = frame_writer_deadline(writer);
	tap_ok(deadline < gid_clock_now() + 1000000000, "it is looked for what came back");
	pass_on(writer);
	tap_ok(find(slab, SECRET) == 0, "when it was read it is gone");
	tap_ok(frame_writer_deadline(writer) == UINT64_MAX, "and nothing more is to be done");
	gid_slab_unref(slab);

	tap_ok(send_text(writer, first, SECRET, &frame, &slab), "another one is not given back");
	gid_slab_unref(slab);
	gid_consumer_destroy(first);
	for (int i = 0; i < 100 && frame_writer_readers(writer) > 0; i++) {
		pass_on(writer);
	}
	struct gid_consumer *second = read_stream(writer);
	tap_ok(send_text(writer, second, LATER, &frame, &slab) && find(slab, LATER) == 1 &&
					find(slab, SECRET) == 0,
			"who comes later finds what is said since");
	gid_slab_unref(slab);
	gid_consumer_destroy(second);
	settle(NULL);
}

static void test_nobody(struct frame_writer *writer) {
	struct gid_frame frame;
	struct gid_slab *slab = NULL;
	text = SECRET;
	frame_writer_mark(writer);
	pass_on(writer);
	struct gid_consumer *consumer = read_stream(writer);
	tap_ok(send_text(writer, consumer, LATER, &frame, &slab) && find(slab, SECRET) == 0,
			"nor what was said to nobody");
	gid_slab_unref(slab);
	gid_consumer_destroy(consumer);
	settle(NULL);
}

/* No loop that sends such frames waits for it. */
static void test_gidd_hangs(void) {
	struct frame_writer *writer = NULL;
	is_published = false;
	kill(cockpit_gidd[1], SIGSTOP);
	long begin = cockpit_now_ms();
	int error = frame_writer_create(open_domain, NAME, &clipboard_form, &events, NULL, &writer);
	tap_ok(error == 0 && !is_published && cockpit_now_ms() - begin < 15000,
			"nobody waits for a gidd that hangs: %d", error);
	kill(cockpit_gidd[1], SIGCONT);
	for (int i = 0; error == 0 && i < 100 && !is_published; i++) {
		settle(NULL);
	}
	tap_ok(is_published, "but when it goes on");
	frame_writer_destroy(writer);
}

int main(void) {
	struct frame_writer *writer = NULL;
	if (!stream_pair_init()) {
		return stream_pair_finish();
	}
	int error = frame_writer_create(open_domain, NAME, &clipboard_form, &events, NULL, &writer);
	for (int i = 0; error == 0 && i < 100 && !is_published; i++) {
		settle(NULL);
	}
	tap_ok(error == 0 && is_published, "a stream of texts");
	test_who_comes_later(writer);
	test_nobody(writer);
	frame_writer_destroy(writer);
	test_gidd_hangs();
	return stream_pair_finish();
}
