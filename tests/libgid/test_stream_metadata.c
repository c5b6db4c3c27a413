// SPDX-License-Identifier: MIT
/* Bytes beside a frame: they come with their frame, stay as long as it, and nobody can do harm by
 * them. */
#include <errno.h>

#include "libgid/consumer.h"
#include "libgid/producer.h"
#include "stream_pair.h"

static int send_with(struct gid_producer *producer, struct gid_slab *slab, uint32_t slot,
		const void *bytes, uint32_t size) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(slab, slot);
	int error = gid_producer_put_metadata(producer, &frame, bytes, size);
	int sent = gid_producer_send(producer, &frame);
	return error < 0 ? error : sent;
}

/* The next frame, and its metadata; negative: there is none, or why it cannot be had. */
static int receive_with(struct gid_consumer *consumer, struct gid_frame *frame, void *bytes,
		uint32_t room) {
	struct gid_slab *slab = NULL;
	if (gid_consumer_receive(consumer, frame) != 1 ||
			gid_slab_import(cluster_domain, frame->gid, &slab) < 0) {
		return -EIO;
	}
	int size = gid_consumer_get_metadata(consumer, frame, slab, bytes, room);
	gid_slab_unref(slab);
	return size;
}

static uint8_t sent[GID_METADATA_DEFAULT + 1], got[GID_METADATA_DEFAULT + 1];

static void test_bytes(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_frame frame;
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t size = i * 997 % (GID_METADATA_DEFAULT + 1);
		memset(sent, (int)i, size);
		wrong += send_with(producer, slab, i % 4, sent, size) != 1;
		int came = receive_with(consumer, &frame, got, sizeof(got));
		wrong += came != (int)size || memcmp(got, sent, size) != 0;
		gid_consumer_release(consumer, &frame);
		gid_producer_dispatch(producer);
	}
	tap_ok(wrong == 0, "300 frames have each its own metadata, of any size: %u wrong", wrong);
	send_with(producer, slab, 0, sent, 10);
	send_slot(producer, slab, 1);
	tap_ok(receive_with(consumer, &frame, got, 9) == -EMSGSIZE,
			"too little room for it is told");
	gid_consumer_release(consumer, &frame);
	tap_ok(receive_with(consumer, &frame, got, sizeof(got)) == 0, "a frame without has none");
	gid_consumer_release(consumer, &frame);
	gid_producer_dispatch(producer);
}

static void test_wrong(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_frame frame = GID_FRAME_INIT;
	tap_ok(gid_producer_put_metadata(producer, &frame, sent, 1) == -EINVAL,
			"there is none without a picture");
	frame.gid = gid_slab_gid(slab, 0);
	tap_ok(gid_producer_put_metadata(producer, &frame, sent, sizeof(sent)) == -EMSGSIZE &&
					frame.metadata == GID_NONE,
			"nor more of it than there is room for");
	tap_ok(gid_producer_put_metadata(producer, &frame, sent, 0) == 0 &&
					frame.metadata == GID_NONE,
			"nothing is none");
	frame.metadata = gid_make(2, 7, 3, 0);
	tap_ok(gid_producer_send(producer, &frame) == 1 && frame.metadata == GID_NONE,
			"that of another producer's frame is not sent on");
	tap_ok(receive_with(consumer, &frame, got, sizeof(got)) == 0, "and does not come");
	gid_consumer_release(consumer, &frame);
	gid_producer_dispatch(producer);
}

/* The same picture again and again, each time with something else beside it, while it is held. */
static void test_still(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_frame frames[GID_METADATA_PLACES];
	uint32_t wrong = 0, taken = 1;
	send_with(producer, slab, 0, "0", 1);
	receive_with(consumer, &frames[0], got, sizeof(got));
	int error = 0;
	for (uint32_t i = 1; error == 0 && i <= GID_METADATA_PLACES; i++) {
		int ret = send_with(producer, slab, 0, &i, sizeof(i));
		error = ret < 0 ? ret : 0;
		int size = receive_with(consumer, &frames[1], got, sizeof(got));
		wrong += error == 0 && (size != sizeof(i) || memcmp(got, &i, sizeof(i)) != 0);
		wrong += error < 0 && size != 0;
		taken += error == 0;
		gid_consumer_release(consumer, &frames[1]);
	}
	tap_ok(wrong == 0 && error == -ENOBUFS && taken == GID_METADATA_PLACES,
			"%u are beside a picture that is held, then it comes without", taken);
	uint32_t last = taken - 1;
	tap_ok(send_with(producer, slab, 0, &last, sizeof(last)) >= 0,
			"what is there already needs no room");
	receive_with(consumer, &frames[1], got, sizeof(got));
	gid_consumer_release(consumer, &frames[1]);
	gid_consumer_release(consumer, &frames[0]);
	gid_producer_dispatch(producer);
	tap_ok(send_with(producer, slab, 0, sent, 9) == 1 &&
					receive_with(consumer, &frames[0], got, sizeof(got)) == 9,
			"and when it is back there is room");
	gid_consumer_release(consumer, &frames[0]);
	gid_producer_dispatch(producer);
}

static void test_taken(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_slab *imported = NULL;
	struct gid_frame frame;
	send_with(producer, slab, 2, sent, 100);
	gid_consumer_receive(consumer, &frame);
	gid_slab_import(cluster_domain, frame.gid, &imported);
	gid_producer_reclaim(producer, true);
	tap_ok(gid_consumer_get_metadata(consumer, &frame, imported, got, sizeof(got)) == -ESTALE,
			"that of a frame that was taken back may be another's");
	gid_consumer_release(consumer, &frame);
	gid_slab_unref(imported);
	gid_producer_dispatch(producer);
}

static void test_late(struct gid_slab *slab) {
	struct gid_producer_options options = {
			.size = sizeof(options), .keeps_shown = true, .metadata_max = 100};
	struct gid_producer *producer = NULL;
	struct gid_frame frame;
	gid_producer_create(open_domain, "camera/still", &options, &producer);
	tap_ok(send_with(producer, slab, 3, sent, 101) == -EMSGSIZE,
			"a producer's own bound holds");
	tap_ok(send_with(producer, slab, 3, sent, 100) == 0, "nobody is there yet");
	struct gid_consumer *consumer = NULL;
	gid_consumer_create(cluster_domain, "open", "camera/still", NULL, &consumer);
	settle(producer);
	tap_ok(receive_with(consumer, &frame, got, sizeof(got)) == 100 &&
					memcmp(got, sent, 100) == 0,
			"who comes late has it with the picture");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	settle(NULL);
}

static void test_liar(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_wire_ring *ring = producer->subscriptions->ring.ring;
	struct gid_slab *places = gid_slab_find(open_domain, ring->metadata);
	struct gid_frame frame;
	const uint32_t lies[] = {UINT32_MAX, GID_METADATA_MAX + 1, 20480 - 8 + 1};
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		memset(&frame, 0, sizeof(frame));
		frame = (struct gid_frame)GID_FRAME_INIT;
		frame.gid = gid_slab_gid(slab, 1);
		gid_producer_put_metadata(producer, &frame, sent, 8);
		uint32_t *size = gid_slab_data(places, gid_slot_of(frame.metadata));
		gid_producer_send(producer, &frame);
		*size = lies[i];
		wrong += receive_with(consumer, &frame, got, sizeof(got)) != -EPROTO;
		gid_consumer_release(consumer, &frame);
		gid_producer_dispatch(producer);
	}
	tap_ok(wrong == 0, "a size that cannot be is told: %u wrong", wrong);
	gid_id honest = ring->metadata;
	ring->metadata = gid_make(1, 4711, 0, 0);
	int size = -EAGAIN;
	while (size == -EAGAIN) {
		send_with(producer, slab, 1, sent, 8);
		size = receive_with(consumer, &frame, got, sizeof(got));
		gid_consumer_release(consumer, &frame);
		gid_producer_dispatch(producer);
	}
	tap_ok(size == -ENOENT, "a slab that is not there: %d", size);
	int asked_again = 0;
	for (int i = 0; i < 10; i++) {
		ring->metadata = gid_make(1, 5000u + (uint32_t)i, 0, 0);
		send_with(producer, slab, 1, sent, 8);
		asked_again += receive_with(consumer, &frame, got, sizeof(got)) == -EAGAIN;
		gid_consumer_release(consumer, &frame);
		gid_producer_dispatch(producer);
	}
	tap_ok(asked_again > 0, "gidd is not asked for another one with each frame: %d",
			asked_again);
	/* a picture is no more than bytes */
	ring->metadata = gid_slab_gid(slab, 0);
	send_with(producer, slab, 1, sent, 8);
	size = receive_with(consumer, &frame, got, sizeof(got));
	tap_ok(size == -EAGAIN || size >= -EPROTO, "a slab of pictures does no harm");
	gid_consumer_release(consumer, &frame);
	ring->metadata = honest;
	gid_producer_dispatch(producer);
}

/* As when a reader lost it, and there was no other memory for it. */
static void test_revoked(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumer) {
	struct gid_slab *places =
			gid_slab_find(open_domain, producer->subscriptions->ring.ring->metadata);
	struct gid_frame frame;
	places->kind->take_back(places);
	settle(producer);
	int ret = 0, size = -EAGAIN;
	while (size == -EAGAIN) { /* gidd is not asked for one slab after the other */
		ret = send_with(producer, slab, 1, "new", 3);
		size = receive_with(consumer, &frame, got, sizeof(got));
		gid_consumer_release(consumer, &frame);
		gid_producer_dispatch(producer);
	}
	tap_ok(ret == 1 && size == 3 && memcmp(got, "new", 3) == 0,
			"of a slab that was revoked there is another one: %d, %d", ret, size);
}

static void test_gone(struct gid_slab *slab) {
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *consumer = consume(8, false, true);
	struct gid_slab *imported = NULL;
	struct gid_frame frame;
	settle(producer);
	send_with(producer, slab, 0, sent, 5);
	gid_consumer_receive(consumer, &frame);
	gid_slab_import(cluster_domain, frame.gid, &imported);
	gid_producer_destroy(producer);
	settle(NULL);
	int size = gid_consumer_get_metadata(consumer, &frame, imported, got, sizeof(got));
	tap_ok(size < 0, "none is read of a stream that is over: %d", size);
	gid_slab_unref(imported);
	gid_consumer_destroy(consumer);
	settle(NULL);
}

static void hear_granted(void *data, gid_id gid, int error) {
	*(int *)data = error;
}

/* The picture's memory is granted, and that of its metadata. */
static void test_unwaited(struct gid_slab *slab) {
	int refused = 0;
	struct gid_producer_options options = {.size = sizeof(options),
			.credit_max = 8,
			.granted = hear_granted,
			.data = &refused};
	struct gid_producer *producer = NULL;
	struct gid_frame frame = GID_FRAME_INIT;
	gid_producer_create(open_domain, "movie", &options, &producer);
	settle(producer);
	struct gid_consumer *consumer = consume(8, false, true);
	settle(producer);
	frame.gid = gid_slab_gid(slab, 0);
	int error = gid_producer_put_metadata(producer, &frame, sent, 5);
	tap_ok(error == -EINPROGRESS, "who waits for nothing has none at first: %d", error);
	for (int i = 0; i < 400 && error == -EINPROGRESS; i++) {
		cockpit_sleep_ms(5);
		settle(producer);
		error = gid_producer_put_metadata(producer, &frame, sent, 5);
	}
	tap_ok(error == 0 && refused == 0, "but once its memory is granted: %d, %d", error,
			refused);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	settle(NULL);
}

/* All but what is left for it. */
static struct gid_slab *take_quota(void) {
	struct gid_slab *all = NULL;
	gid_slab_create(open_domain, &layout, (uint64_t)31 << 20, 1, NULL, &all);
	return all;
}

static int put_until(struct gid_producer *producer, struct gid_frame *frame, int unlike) {
	int error = unlike;
	for (int i = 0; i < 2000 && error == unlike; i++) {
		cockpit_sleep_ms(5);
		settle(producer);
		error = gid_producer_put_metadata(producer, frame, sent, 5);
	}
	return error;
}

/* Memory for it is not to be had now: why, and then it is. */
static void test_without_memory(struct gid_slab *slab, bool waits) {
	int refused = 0;
	struct gid_producer_options options = {.size = sizeof(options),
			.granted = waits ? NULL : hear_granted,
			.data = &refused};
	struct gid_producer *producer = NULL;
	struct gid_frame frame = GID_FRAME_INIT;
	gid_producer_create(open_domain, "movie", &options, &producer);
	frame.gid = gid_slab_gid(slab, 0);
	struct gid_slab *all = NULL;
	if (waits) { /* it had some, and lost it */
		gid_producer_put_metadata(producer, &frame, sent, 5);
		struct gid_slab *places =
				gid_slab_find(open_domain, gid_producer_metadata_slab(producer));
		places->kind->take_back(places);
	}
	all = take_quota();
	int error = waits ? gid_producer_put_metadata(producer, &frame, sent, 5)
			  : put_until(producer, &frame, -EINPROGRESS);
	tap_ok(all != NULL && error == (waits ? -EAGAIN : -EDQUOT),
			"who %s for gidd is told that there is no memory for it: %d",
			waits ? "waits" : "does not wait", error);
	tap_ok(gid_producer_put_metadata(producer, &frame, sent, 5) == error,
			"also before gidd is asked again");
	gid_slab_destroy(all, false);
	error = put_until(producer, &frame, error);
	error = error == -EINPROGRESS ? put_until(producer, &frame, error) : error;
	tap_ok(error == 0, "and has it once there is: %d", error);
	gid_producer_destroy(producer);
	settle(NULL);
}

int main(void) {
	if (stream_pair_init()) {
		struct gid_slab *slab = make_slab(4);
		struct gid_producer *producer = produce(0, GID_CREDIT_MAX);
		struct gid_consumer *consumer = consume(8, false, false);
		settle(producer);
		test_bytes(producer, slab, consumer);
		test_wrong(producer, slab, consumer);
		test_still(producer, slab, consumer);
		test_taken(producer, slab, consumer);
		test_late(slab);
		test_liar(producer, slab, consumer);
		test_revoked(producer, slab, consumer);
		gid_consumer_destroy(consumer);
		gid_producer_destroy(producer);
		settle(NULL);
		test_gone(slab);
		test_unwaited(slab);
		test_without_memory(slab, false);
		test_without_memory(slab, true);
		gid_slab_destroy(slab, false);
		settle(NULL);
	}
	return stream_pair_finish();
}
