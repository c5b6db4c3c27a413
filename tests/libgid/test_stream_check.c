// SPDX-License-Identifier: MIT
/* A check beside each picture: it comes with its frame alone, and both are from one look. */
#include <errno.h>

#include "libgid/consumer.h"
#include "libgid/producer.h"
#include "stream_pair.h"

static struct {
	unsigned calls;
	int error;
	struct gid_check last;
	uint64_t sequence;
} made;

static int make_check(void *data, const struct gid_frame *frame, const struct gid_slab *slab,
		struct gid_check *check) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	if (data != &made || info.layout.width != layout.width) {
		return -EIO;
	}
	check->kind = 7;
	for (size_t i = 0; i < sizeof(check->bytes); i++) {
		check->bytes[i] = (uint8_t)(frame->sequence * 16 + i);
	}
	made.calls++;
	made.last = *check;
	made.sequence = frame->sequence;
	return made.error;
}

static bool is_last(const struct gid_frame *frame, const struct gid_check *check) {
	return frame->sequence == made.sequence && check->kind == 7 &&
			memcmp(check->bytes, made.last.bytes, sizeof(check->bytes)) == 0 &&
			memcmp(check->descriptor, made.last.descriptor,
					sizeof(check->descriptor)) == 0;
}

/* Gets the next frame and its check. */
static int receive(
		struct gid_consumer *consumer, struct gid_frame *frame, struct gid_check *check) {
	int got = gid_consumer_receive(consumer, frame);
	return got == 1 ? gid_consumer_get_check(consumer, frame, check) : -EIO;
}

static void test_checks(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_frame frame, before;
	struct gid_check check;
	unsigned wrong = 0;
	send_slot(producer, slab, 0);
	tap_ok(receive(consumer, &frame, &check) == -ENODATA, "without a check there is none");
	gid_consumer_release(consumer, &frame);
	gid_producer_set_check(producer, make_check, &made);
	for (uint32_t i = 0; i < 300; i++) {
		struct gid_frame sent = GID_FRAME_INIT;
		sent.gid = gid_slab_gid(slab, i % 4);
		sent.crop.width = i % 2 ? 16 : 0; /* with and without a second line */
		sent.crop.height = 8;
		wrong += gid_producer_send(producer, &sent) != 1;
		wrong += gid_consumer_receive(consumer, &frame) != 1;
		before = frame;
		wrong += gid_consumer_get_check(consumer, &frame, &check) != 0;
		wrong += !is_last(&frame, &check) || memcmp(&before, &frame, sizeof(frame)) != 0;
		gid_consumer_release(consumer, &frame);
		gid_producer_dispatch(producer);
	}
	tap_ok(wrong == 0 && made.calls == 300, "300 frames have each its own: %u wrong", wrong);
	gid_producer_set_check(producer, NULL, NULL);
	wrong = 0;
	for (uint32_t i = 0; i < 2 * GID_RING_ENTRIES; i++) {
		send_slot(producer, slab, i % 4);
		wrong += receive(consumer, &frame, &check) != -ENODATA;
		gid_consumer_release(consumer, &frame);
		gid_producer_dispatch(producer);
	}
	tap_ok(wrong == 0, "that of an entry before is not that of a later one without");
	gid_producer_set_check(producer, make_check, &made);
	struct gid_frame mark = GID_FRAME_INIT;
	mark.flags = GID_FRAME_FLUSH;
	gid_producer_send(producer, &mark);
	tap_ok(receive(consumer, &frame, &check) == -ENODATA, "where there is no picture is none");
}

static void test_burst(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_frame frames[3] = {GID_FRAME_INIT, GID_FRAME_INIT, GID_FRAME_INIT};
	struct gid_check check;
	unsigned right = 0;
	for (uint32_t i = 0; i < 3; i++) {
		frames[i].gid = gid_slab_gid(slab, i);
	}
	tap_ok(gid_producer_send_burst(producer, frames, 3) == 3 &&
					gid_consumer_receive_burst(consumer, frames, 3) == 3,
			"three frames by one call");
	for (uint32_t i = 0; i < 3; i++) {
		right += gid_consumer_get_check(consumer, &frames[i], &check) == 0 &&
				check.bytes[0] == (uint8_t)(frames[i].sequence * 16);
	}
	tap_ok(right == 3, "have three checks");
	gid_consumer_release_burst(consumer, frames, 3);
	gid_producer_dispatch(producer);
}

/* Somebody writes to the ring after the frame was received: the producer, or a fault. */
static void test_changes(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_wire_ring *ring = producer->subscriptions->ring.ring;
	struct gid_frame frame;
	struct gid_check check;
	send_slot(producer, slab, 1);
	gid_consumer_receive(consumer, &frame);
	uint64_t at = (frame.index - consumer->base) & (ring->entries - 1);
	struct gid_wire_entry *entry = &ring->frames_ring[at];
	entry->pts ^= 4;
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == 0 && frame.pts == 5 &&
					check.descriptor[32] == 5 && !is_last(&frame, &check),
			"what is said of a frame and its descriptor are the same");
	entry->pts ^= 4;
	entry->sequence ^= 1;
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == -EPROTO,
			"another number is another frame");
	entry->sequence ^= 1;
	entry->gid ^= 1;
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == -EPROTO,
			"and so is another gid");
	entry->gid ^= 1;
	entry->index ^= 1;
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == -ESTALE,
			"an entry of another index is not that of the frame");
	entry->index ^= 1;
	ring->checks[at].index ^= 1;
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == -ENODATA,
			"nor is a check of another index");
	ring->checks[at].index ^= 1;
	ring->checked = 0;
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == -ENODATA,
			"what an older producer has there is none");
	ring->checked = 1;
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == 0 && is_last(&frame, &check),
			"as it was sent it is right again");
	struct gid_wire_frame more = {.note_size = 16};
	memcpy(&ring->more_ring[at], &more.present_time, sizeof(ring->more_ring[at]));
	entry->kind |= UINT64_C(1) << GID_WIRE_MORE_SHIFT;
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == -EPROTO && frame.note_size == 0,
			"a note that was not received is not said to be there");
	more.note_size = 0;
	memcpy(&ring->more_ring[at], &more.present_time, sizeof(ring->more_ring[at]));
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == 0,
			"a second line that says nothing is as good as none");
	entry->kind &= ~(UINT64_C(1) << GID_WIRE_MORE_SHIFT);
	gid_consumer_release(consumer, &frame);
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == -ESTALE,
			"a frame that was released has none");
	gid_producer_dispatch(producer);
}

static void test_taken(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_frame frame;
	struct gid_check check;
	send_slot(producer, slab, 2);
	gid_consumer_receive(consumer, &frame);
	gid_producer_reclaim(producer, true);
	tap_ok(gid_consumer_get_check(consumer, &frame, &check) == -ESTALE,
			"nor has one that was taken back");
	gid_consumer_release(consumer, &frame);
	gid_producer_dispatch(producer);
	made.error = -EINVAL;
	tap_ok(send_slot(producer, slab, 3) == -EINVAL &&
					gid_consumer_receive(consumer, &frame) == -EAGAIN,
			"without a check that was to be, nothing is sent");
	made.error = 0;
	tap_ok(send_slot(producer, slab, 3) == 1 && receive(consumer, &frame, &check) == 0 &&
					(frame.flags & GID_FRAME_DISCONT) == 0,
			"and no frame is missed then");
	gid_consumer_release(consumer, &frame);
	gid_producer_dispatch(producer);
}

/* A picture that is sent again is dated anew. */
static void test_late(struct gid_slab *slab) {
	struct gid_producer_options options = {.size = sizeof(options), .keeps_shown = true};
	struct gid_producer *producer = NULL;
	struct gid_frame sent = GID_FRAME_INIT, frame;
	struct gid_check check;
	gid_producer_create(open_domain, "movie", &options, &producer);
	gid_producer_set_check(producer, make_check, &made);
	sent.gid = gid_slab_gid(slab, 0);
	sent.crop = (struct gid_box){0, 0, 8, 8};
	gid_producer_send(producer, &sent);
	struct gid_check first = made.last;
	struct gid_consumer *consumer = consume(4, false, true);
	settle(producer);
	tap_ok(receive(consumer, &frame, &check) == 0 && is_last(&frame, &check) &&
					frame.sequence == sent.sequence &&
					frame.submit_time > sent.submit_time &&
					memcmp(&first, &check, sizeof(check)) != 0,
			"who comes late gets the picture with a check of its own");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
}

int main(void) {
	if (!stream_pair_init()) {
		return tap_finish();
	}
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *consumer = consume(8, false, true);
	settle(producer);
	test_checks(producer, slab, consumer);
	test_burst(producer, slab, consumer);
	test_changes(producer, slab, consumer);
	test_taken(producer, slab, consumer);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	settle(NULL);
	test_late(slab);
	gid_slab_destroy(slab, true);
	return stream_pair_finish();
}
