// SPDX-License-Identifier: MIT
/* How a pool grows, takes slots back that nobody has read, and waits for consumers. */
#include <gst/gst.h>

#include "pools.h"

static void test_growth(void) {
	GstGidAllocator *allocator = make_allocator(10);
	GstBufferPool *pool = make_pool(allocator);
	GstBuffer *buffers[200] = {0};
	int count = 0;

	for (int i = 0; i < 10; i++) {
		buffers[count++] = acquire(pool);
	}
	tap_ok(buffers[9] != NULL && slots_of(allocator) == 10, "slabs are added up to the limit");
	buffers[count++] = acquire(pool);
	tap_ok(buffers[10] != NULL, "and beyond, while upstream has them all: it would stall");
	while (count < 200 && (buffers[count] = acquire(pool)) != NULL) {
		count++;
	}
	tap_ok(count >= 128 && count < 200, "but not for ever: %d", count);
	for (int i = 0; i < count; i++) {
		gst_buffer_unref(buffers[i]);
	}
	buffers[0] = acquire(pool);
	tap_ok(buffers[0] != NULL, "what came back is given out again");
	gst_buffer_unref(buffers[0]);
	end_pool(pool);
	gst_object_unref(allocator);
}

struct stream {
	GstGidAllocator *allocator;
	GstBufferPool *pool;
	struct gid_producer *producer;
	struct gid_domain *reader;
	struct gid_consumer *consumer;
};

static void on_released(void *data, gid_id gid) {
	gst_gid_domain_unhold(domain, gid);
}

static bool is_live(void *data) {
	return gid_consumer_get_state(((struct stream *)data)->consumer) == GID_CONSUMER_LIVE;
}

static void start_stream(struct stream *stream, GstGidAllocator *allocator, bool leaky) {
	struct gid_producer_options producer = {.size = sizeof(producer),
			.lease_ns = 60000000000u,
			.credit_max = 60,
			.released = on_released,
			.quiet = true};
	struct gid_consumer_options consumer = {.size = sizeof(consumer), .credit = 60};

	stream->allocator = allocator;
	stream->pool = make_pool(allocator);
	gid_producer_create(gst_gid_domain_lock(domain), "movie", &producer, &stream->producer);
	gst_gid_domain_add_producer(domain, stream->producer, leaky);
	gst_gid_domain_unlock(domain);
	gid_domain_connect("cluster", &stream->reader);
	gid_consumer_create(stream->reader, "open", "movie", &consumer, &stream->consumer);
	cockpit_until(stream->reader, is_live, stream);
}

static void end_stream(struct stream *stream) {
	gst_gid_domain_lock(domain);
	gst_gid_domain_remove_producer(domain, stream->producer);
	gid_producer_destroy(stream->producer);
	gst_gid_domain_unlock(domain);
	gid_consumer_destroy(stream->consumer);
	gid_domain_destroy(stream->reader);
	end_pool(stream->pool);
}

/* Sends slots until none is left, or so many are sent. */
static int send_some(struct stream *stream, int most) {
	GstBuffer *buffer;
	int count = 0;

	for (int i = 0; i < most && (buffer = acquire(stream->pool)) != NULL; i++) {
		GstGidSlot *slot = gst_gid_memory_get_slot(gst_buffer_peek_memory(buffer, 0));
		struct gid_frame frame = GID_FRAME_INIT;
		gst_gid_domain_lock(domain);
		frame.gid = gid_slab_gid(slot->slab->slab, slot->index);
		if (gid_producer_send(stream->producer, &frame) == 1) {
			gst_gid_domain_hold(domain, stream->producer, frame.gid, buffer, NULL);
			count++;
		}
		gst_gid_domain_unlock(domain);
		gst_buffer_unref(buffer);
	}
	return count;
}

static int send_all(struct stream *stream) {
	return send_some(stream, 10);
}

static void test_reclaim(void) {
	GstGidAllocator *allocator = make_allocator(6);
	struct stream stream;
	GstBuffer *buffer = NULL;
	struct gid_producer_stats stats;

	start_stream(&stream, allocator, true);
	tap_ok(send_all(&stream) == 6, "six slots are sent, and none is left");
	tap_ok(gst_buffer_pool_acquire_buffer(stream.pool, &buffer, NULL) == GST_FLOW_OK,
			"a frame that was not read gives its slot up");
	gid_producer_get_stats(stream.producer, &stats);
	tap_ok(stats.dropped >= 1 && slots_of(allocator) == 6, "as a dropped one");
	gst_buffer_unref(buffer);
	end_stream(&stream);
	gst_object_unref(allocator);
}

/* Until the producer has had to wait so often. */
static void until_waits(GstGidAllocator *allocator, guint64 count) {
	guint64 waits = 0;

	while (waits < count) {
		g_usleep(1000);
		g_mutex_lock(&allocator->lock);
		waits = allocator->waits;
		g_mutex_unlock(&allocator->lock);
	}
}

static gpointer release_later(gpointer data) {
	struct stream *stream = data;
	struct gid_frame frame;

	until_waits(stream->allocator, 1);
	gid_consumer_receive(stream->consumer, &frame);
	gid_consumer_release(stream->consumer, &frame);
	return NULL;
}

static gpointer flush_later(gpointer data) {
	struct stream *stream = data;

	until_waits(stream->allocator, 2);
	gst_buffer_pool_set_flushing(stream->pool, TRUE);
	return NULL;
}

static void test_wait(void) {
	GstGidAllocator *allocator = make_allocator(6);
	struct stream stream;
	GstBuffer *buffer = NULL;
	GThread *thread;

	start_stream(&stream, allocator, false);
	tap_ok(send_all(&stream) == 6, "six slots are sent to a consumer that must not lose any");
	thread = g_thread_new("release", release_later, &stream);
	tap_ok(gst_buffer_pool_acquire_buffer(stream.pool, &buffer, NULL) == GST_FLOW_OK,
			"upstream waits until one is released");
	g_thread_join(thread);
	tap_ok(allocator->waits == 1, "which is counted");

	thread = g_thread_new("flush", flush_later, &stream);
	GstBuffer *none = NULL;
	GstFlowReturn ret = gst_buffer_pool_acquire_buffer(stream.pool, &none, NULL);
	tap_ok(ret == GST_FLOW_FLUSHING, "or until it is told to stop: %s, %u slots",
			gst_flow_get_name(ret), slots_of(allocator));
	g_thread_join(thread);
	gst_buffer_unref(buffer);
	end_stream(&stream);
	gst_object_unref(allocator);
}

/* What is shown has no lease, and so comes back with the next picture only. */
static void test_shown(void) {
	GstGidAllocator *allocator = make_allocator(3);
	struct stream stream;
	struct gid_frame frame;
	GstBuffer *buffers[200] = {0};
	int count = 0;

	start_stream(&stream, allocator, false);
	send_some(&stream, 1);
	tap_ok(gid_consumer_receive(stream.consumer, &frame) == 1, "a picture is shown");
	while (count < 199 && (buffers[count] = acquire(stream.pool)) != NULL) {
		count++;
	}
	tap_ok(count > 3 && count < 199, "upstream has all others, and gets more: %d", count);
	tap_ok(gst_buffer_pool_acquire_buffer(stream.pool, &buffers[count], NULL) == GST_FLOW_OK,
			"where there are no more, it gets that one in the end");
	gid_consumer_release(stream.consumer, &frame);
	for (int i = 0; i <= count; i++) {
		gst_buffer_unref(buffers[i]);
	}
	end_stream(&stream);
	gst_object_unref(allocator);
}

static void count_end(gpointer count, GstMiniObject *buffer) {
	(*(int *)count)--;
}

/* Sent in the same slot for as long as it is shown, in a buffer of its own each time. */
static void test_still(void) {
	GstGidAllocator *allocator = make_allocator(3);
	struct stream stream;
	int kept = 0;

	start_stream(&stream, allocator, false);
	GstBuffer *picture = acquire(stream.pool);
	GstGidSlot *slot = gst_gid_memory_get_slot(gst_buffer_peek_memory(picture, 0));
	struct gid_frame sent = GID_FRAME_INIT, shown = GID_FRAME_INIT, last;
	for (int i = 0; i < 100; i++) {
		GstBuffer *buffer = gst_buffer_copy(picture);
		gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(buffer), count_end, &kept);
		kept++;
		gst_gid_domain_lock(domain);
		sent.gid = gid_slab_gid(slot->slab->slab, slot->index);
		gid_producer_send(stream.producer, &sent);
		gst_gid_domain_hold(domain, stream.producer, sent.gid, buffer, NULL);
		gst_gid_domain_unlock(domain);
		gst_buffer_unref(buffer);
		last = shown;
		gid_consumer_receive(stream.consumer, &shown);
		if (i > 0) {
			gid_consumer_release(stream.consumer, &last);
		}
	}
	tap_ok(kept == 1, "of a still picture the last buffer is kept: %d", kept);
	gst_buffer_unref(picture);
	end_stream(&stream);
	tap_ok(kept == 0, "until the stream ends");
	gst_object_unref(allocator);
}

/* Of two pools for one stream the first has ended, while a buffer of it is somewhere. */
static void test_second_pool(void) {
	GstGidAllocator *allocator = make_allocator(3);
	GstBufferPool *first = make_pool(allocator);
	GstBuffer *out = acquire(first), *late = acquire(first), *ready = acquire(first);

	gst_buffer_unref(ready);
	gst_buffer_pool_set_active(first, FALSE);
	tap_ok(slots_in_use(allocator) == 2, "what was ready is anybody's again");
	gst_buffer_unref(late);
	tap_ok(slots_in_use(allocator) == 1, "and what comes back late");
	gst_buffer_unref(out);
	gst_object_unref(first);
	gst_object_unref(allocator);
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	if (!tap_ok(cockpit_init(), "two domains")) {
		cockpit_finish();
		return 1;
	}
	int fds = 0, maps = 0;
	for (int round = 0; round < 2; round++) { /* GStreamer opens its own in the first */
		fds = cockpit_count_settled("/proc/self/fd");
		maps = cockpit_count("/proc/self/maps");
		domain = gst_gid_domain_get_shared("open", NULL);
		test_growth();
		test_reclaim();
		test_wait();
		test_shown();
		test_still();
		test_second_pool();
		gst_gid_domain_unref(domain);
	}
	tap_ok(cockpit_count_settled("/proc/self/fd") <= fds, "no descriptor is left behind");
	tap_ok(cockpit_count("/proc/self/maps") < maps + 10, "nor a mapping");
	cockpit_finish();
	return tap_finish();
}
