// SPDX-License-Identifier: MIT
/* The elements' memory inside: aliases, the release guard, layouts, proposals, exports, copies. */
#include <errno.h>
#include <fcntl.h>
#include <gst/allocators/allocators.h>
#include <gst/video/video.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/gstgidexport.h"
#include "gidsrc/gstgidsealed.h"
#include "pools.h"

GST_PLUGIN_STATIC_DECLARE(gid);

/* --- aliases and the guard --- */

static void test_alias(void) {
	GstGidAllocator *allocator = make_allocator(8);
	GstBufferPool *pool = make_pool(allocator);
	GstBuffer *buffer = acquire(pool);
	GstMemory *mem = gst_buffer_peek_memory(buffer, 0), *alias;
	GstMapInfo map, refused;

	alias = gst_memory_copy(mem, 0, -1);
	tap_ok(alias->allocator != mem->allocator && data_of(alias) != data_of(mem),
			"memory that nobody writes is copied for real");
	gst_memory_unref(alias);

	gst_memory_map(mem, &map, GST_MAP_READWRITE);
	alias = gst_memory_copy(mem, 0, -1);
	tap_ok(gst_is_gid_memory(alias, domain) && data_of(alias) == (void *)map.data,
			"memory that is mapped for writing has an alias in place of a copy");
	tap_ok(!gst_memory_map(alias, &refused, GST_MAP_WRITE), "which cannot be written");
	tap_ok(gst_gid_memory_is_alias(alias) && !gst_gid_memory_is_alias(mem),
			"and is known as such");
	void *data = map.data;
	gst_memory_unmap(mem, &map);

	gst_buffer_unref(buffer);
	buffer = acquire(pool);
	tap_ok(data_of(gst_buffer_peek_memory(buffer, 0)) != data,
			"the slot is not given out while the alias lives, though its "
			"buffer came back");
	gst_memory_unref(alias);
	tap_ok(slots_in_use(allocator) == 1, "and is free when the alias is gone");
	gst_buffer_unref(buffer);
	end_pool(pool);
	tap_ok(slots_in_use(allocator) == 0, "a pool that stops gives all slots back");
	gst_object_unref(allocator);
}

struct film {
	GstGidAllocator *allocator;
	GQueue held;
	guint64 sums[8];
	guint frames, aliases, overwritten;
};

static guint64 sum_of(GstBuffer *buffer) {
	GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
	GstMapInfo map;
	guint64 sum;

	gst_buffer_map(buffer, &map, GST_MAP_READ);
	sum = XXH3_64bits(map.data, (size_t)meta->stride[0] * meta->height);
	gst_buffer_unmap(buffer, &map);
	return sum;
}

static GstPadProbeReturn on_film(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	struct film *film = data;

	if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM) {
		GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
		GstCaps *caps;
		if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) {
			return GST_PAD_PROBE_OK;
		}
		gst_query_parse_allocation(query, &caps, NULL);
		gst_gid_pool_propose(film->allocator, caps, query);
		gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
		return GST_PAD_PROBE_HANDLED;
	}
	GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
	film->aliases += gst_gid_memory_is_alias(gst_buffer_peek_memory(buffer, 0));
	film->sums[film->frames++ % 8] = sum_of(buffer);
	g_queue_push_tail(&film->held, gst_buffer_ref(buffer));
	if (g_queue_get_length(&film->held) > 5) {
		GstBuffer *oldest = g_queue_pop_head(&film->held);
		film->overwritten += sum_of(oldest) != film->sums[(film->frames - 6) % 8];
		gst_buffer_unref(oldest);
	}
	return GST_PAD_PROBE_OK;
}

static bool play(const char *text, const char *watched, GstPadProbeCallback probe, gpointer data) {
	g_autoptr(GError) error = NULL;
	g_autoptr(GstElement) pipeline = gst_parse_launch(text, &error);
	if (pipeline == NULL) {
		printf("# %s\n", error->message);
		return false;
	}
	if (watched != NULL) {
		g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), watched);
		g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
		gst_pad_add_probe(pad,
				GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM |
						GST_PAD_PROBE_TYPE_PUSH,
				probe, data, NULL);
	}
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
	g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
			bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
	gst_element_set_state(pipeline, GST_STATE_NULL);
	return message != NULL && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
}

struct codec {
	const char *encoder, *parser, *decoder;
};

static const struct codec mpeg4 = {"avenc_mpeg4", "mpeg4videoparse", "avdec_mpeg4"};
static const struct codec h264 = {"x264enc bframes=2", "h264parse", "avdec_h264"};

/* A real decoder, whose frames are held while it goes on: with the guard and without. */
static void test_guard(const struct codec *codec) {
	g_autofree char *path = g_strdup_printf("%s/%s.mp4", cockpit_folder, codec->decoder);
	g_autofree char *make = g_strdup_printf(
			"videotestsrc pattern=ball num-buffers=120 ! "
			"video/x-raw,format=I420,width=320,height=240 ! %s ! %s ! mp4mux ! "
			"filesink location=%s",
			codec->encoder, codec->parser, path);
	g_autofree char *show = g_strdup_printf(
			"filesrc location=%s ! qtdemux ! %s ! %s ! fakesink name=watch", path,
			codec->parser, codec->decoder);

	if (!tap_ok(play(make, NULL, NULL, NULL), "a film is made")) {
		return;
	}
	for (int guard = 1; guard >= 0; guard--) {
		struct film film = {.allocator = make_allocator(64), .held = G_QUEUE_INIT};
		film.allocator->guard = guard;
		bool played = play(show, "watch", on_film, &film);
		g_queue_clear_full(&film.held, (GDestroyNotify)gst_buffer_unref);
		tap_ok(played && film.frames == 120 && film.aliases > 60,
				"%u frames, %u of them aliases", film.frames, film.aliases);
		if (guard) {
			tap_ok(film.overwritten == 0, "with the guard every frame stays whole");
		} else {
			tap_ok(film.overwritten > 0, "without it %u were overwritten while held",
					film.overwritten);
		}
		gst_object_unref(film.allocator);
	}
}

/* --- the pool --- */

static void test_layout(void) {
	g_autoptr(GstCaps) caps = make_caps("I420", 1920, 1080);
	GstGidAllocator *allocator = gst_gid_allocator_new(domain, NULL, caps, 8, FALSE, NULL);
	GstBufferPool *pool = gst_gid_pool_new(allocator, caps);
	GstStructure *config = gst_buffer_pool_get_config(pool);
	GstVideoAlignment align;

	gst_video_alignment_reset(&align);
	align.padding_bottom = 12;
	for (int i = 0; i < 4; i++) {
		align.stride_align[i] = 63;
	}
	gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
	gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
	gst_buffer_pool_config_set_video_alignment(config, &align);
	tap_ok(gst_buffer_pool_set_config(pool, config), "a decoder's configuration is taken");
	tap_ok(slots_of(allocator) == 0, "without a slot");
	gst_buffer_pool_set_active(pool, TRUE);

	GstBuffer *buffer = acquire(pool);
	GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
	struct gid_slab_info *info =
			&gst_gid_memory_get_slot(gst_buffer_peek_memory(buffer, 0))->slab->info;
	tap_ok(meta->offset[1] == 1920 * 1092 && info->layout.planes[1].offset == 1920 * 1092,
			"the slab has the decoder's 1092 rows");
	tap_ok(info->layout.height == 1080, "of which 1080 are the picture's");
	tap_ok(gst_buffer_get_size(buffer) == 1920 * 1092 * 3 / 2, "in as many bytes");
	tap_ok(strstr(info->description, "framerate=(fraction)30/1") != NULL,
			"and the caps travel with it");
	gst_buffer_unref(buffer);
	end_pool(pool);
	gst_object_unref(allocator);
}

/* As videotestsrc does from GStreamer 1.28 on: it says that it can align, and not how. */
static void test_alignment_without_values(void) {
	g_autoptr(GstCaps) caps = make_caps("I420", 1920, 1080);
	GstGidAllocator *allocator = gst_gid_allocator_new(domain, NULL, caps, 8, FALSE, NULL);
	GstBufferPool *pool = gst_gid_pool_new(allocator, caps);
	GstVideoAlignment align;

	gst_video_alignment_reset(&align);
	align.padding_top = align.padding_left = align.padding_right = align.padding_bottom = 64;
	for (int given = 1; given >= 0; given--) {
		GstStructure *config = gst_buffer_pool_get_config(pool);
		gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
		gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
		if (given) {
			gst_buffer_pool_config_set_video_alignment(config, &align);
		} else {
			gst_structure_remove_fields(config, "padding-top", "padding-bottom",
					"padding-left", "padding-right", NULL);
		}
		tap_ok(gst_buffer_pool_set_config(pool, config), "alignment %s is taken",
				given ? "with values" : "without values");
	}
	gst_buffer_pool_set_active(pool, TRUE);
	GstBuffer *buffer = acquire(pool);
	GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
	tap_ok(meta->offset[0] == 0 && meta->stride[0] == 1920 && meta->offset[1] == 1920 * 1080,
			"and is none: %zu, %d, %zu", meta->offset[0], meta->stride[0],
			meta->offset[1]);
	gst_buffer_unref(buffer);
	end_pool(pool);
	gst_object_unref(allocator);
}

static void test_proposals(void) {
	g_autoptr(GstCaps) caps = make_caps("I420", 1366, 768);
	GstGidAllocator *allocator = gst_gid_allocator_new(domain, NULL, caps, 8, FALSE, NULL);
	int before = cockpit_count_settled("/proc/self/fd");

	for (int i = 0; i < 1000; i++) {
		GstQuery *query = gst_query_new_allocation(caps, TRUE);
		gst_gid_pool_propose(allocator, caps, query);
		if (i == 0) {
			GstBufferPool *pool;
			guint size, min, max;
			gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
			tap_ok(max == 0 && size >= 1366 * 768 * 3 / 2, "a pool without a maximum");
			gst_object_unref(pool);
		}
		gst_query_unref(query);
	}
	tap_ok(slots_of(allocator) == 0 && cockpit_count_settled("/proc/self/fd") == before,
			"a thousand proposals make no slot");
	gst_object_unref(allocator);
}

/* A reader may see it no more: what upstream still has is let be, and nothing new goes there. */
static void test_revoked(void) {
	GstGidAllocator *allocator = make_allocator(8);
	GstBufferPool *pool = make_pool(allocator);
	GstBuffer *back = acquire(pool), *out = acquire(pool), *next;
	GstGidSlab *old = gst_gid_memory_get_slot(gst_buffer_peek_memory(out, 0))->slab;
	guint slots = slots_of(allocator);

	gst_gid_domain_lock(domain);
	gid_slab_destroy(gid_slab_ref(old->slab), false); /* as gidd has libgid do */
	gst_gid_domain_unlock(domain);
	tap_ok(gst_gid_memory_is_revoked(gst_buffer_peek_memory(out, 0)), "memory is revoked");
	gst_buffer_unref(back);
	next = acquire(pool);
	GstMemory *mem = gst_buffer_peek_memory(next, 0);
	tap_ok(gst_gid_memory_get_slot(mem)->slab != old && !gst_gid_memory_is_revoked(mem),
			"and the next frame is elsewhere");
	tap_ok(slots_of(allocator) > slots, "the old slots are there as long as upstream has one");
	memset(data_of(gst_buffer_peek_memory(out, 0)), 1, 4096);
	gst_buffer_unref(out);
	slots = slots_of(allocator) - slots;
	out = acquire(pool);
	tap_ok(slots_of(allocator) == slots, "and no longer: %u of %u", slots_of(allocator), slots);
	gst_buffer_unref(out);
	gst_buffer_unref(next);
	end_pool(pool);
	gst_object_unref(allocator);
}

static bool caps_of_slab_are(
		enum gid_memory memory, const char *description, const char *expected) {
	/* As producers write them: each value with its type. */
	g_autoptr(GstCaps) said = gst_caps_from_string(description);
	g_autofree char *text = gst_caps_to_string(said);
	struct gid_slab_info info = {.memory = memory, .description = text};
	gid_layout_init(&info.layout, gst_video_dma_drm_fourcc_from_format(GST_VIDEO_FORMAT_BGRx),
			320, 240, 4);
	g_autoptr(GstCaps) caps = gst_gid_caps_from_slab(&info);
	g_autoptr(GstCaps) wanted = gst_caps_from_string(expected);
	return caps != NULL && gst_caps_can_intersect(caps, wanted) &&
			gst_caps_is_subset(caps, wanted);
}

/* What its owner says of it: another machine's is no dma-buf here, whatever it is there. */
static void test_caps_of_slabs(void) {
	static const char drm[] = "video/x-raw(memory:DMABuf), format=DMA_DRM, drm-format=XR24, "
				  "width=320, height=240, framerate=25/1";
	static const char raw[] = "video/x-raw, format=BGRx, width=320, height=240, framerate=25/1";
	static const char tiled[] =
			"video/x-raw(memory:DMABuf), format=DMA_DRM, "
			"drm-format=XR24:0x0100000000000001, width=320, height=240, framerate=25/1";

	tap_ok(caps_of_slab_are(GID_MEMORY_DMABUF, drm, drm), "a dma-buf has the caps of one");
	tap_ok(caps_of_slab_are(GID_MEMORY_WINDOW, drm, raw), "memory in a window has plain ones");
	tap_ok(caps_of_slab_are(GID_MEMORY_WINDOW, tiled,
			       "video/x-raw, format=BGRx, width=320, height=240"),
			"and is not tiled, whatever is said of it");

	/* what no element downstream would take, as it is nobody's caps, ends its pipeline */
	static const char *const wrong[] = {
			"video/x-raw(memory:GLMemory), format=BGRx, width=320, height=240",
			"video/x-raw, format=BGRx, width=0, height=0",
			"video/x-raw, format=BGRx, width=320, height=240, framerate=-25/1",
	};
	static const char *const shapeless[] = {
			"video/x-raw, format=BGRx, width=320, height=240, framerate=25/1, "
			"pixel-aspect-ratio=0/1",
			"video/x-raw, format=BGRx, width=320, height=240, framerate=25/1, "
			"pixel-aspect-ratio=-1/2",
	};
	for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
		tap_ok(caps_of_slab_are(GID_MEMORY_MEMFD, wrong[i],
				       "video/x-raw, format=BGRx, width=320, height=240, "
				       "framerate=0/1, pixel-aspect-ratio=1/1"),
				"not believed: %s", wrong[i]);
	}
	for (guint i = 0; i < G_N_ELEMENTS(shapeless); i++) {
		tap_ok(caps_of_slab_are(GID_MEMORY_MEMFD, shapeless[i], raw),
				"believed, but for the shape: %s", shapeless[i]);
	}
}

/* As every display of gidway shows it; GStreamer alone takes BT.709 for large pictures. */
static void test_colours_that_nobody_said(void) {
	for (guint height = 480; height <= 1080; height += 600) {
		struct gid_slab_info info = {.memory = GID_MEMORY_MEMFD, .description = ""};
		gid_layout_init(&info.layout,
				gst_video_dma_drm_fourcc_from_format(GST_VIDEO_FORMAT_NV12), 640,
				height, 4);
		g_autoptr(GstCaps) caps = gst_gid_caps_from_slab(&info);
		GstVideoInfo video;
		tap_ok(caps != NULL && gst_video_info_from_caps(&video, caps) &&
						gst_video_colorimetry_matches(&video.colorimetry,
								GST_VIDEO_COLORIMETRY_BT601),
				"%u rows of YUV of which nothing is said are BT.601", height);
	}
}

/* --- exports --- */

static GstMemory *make_fd_memory(GstAllocator *allocator, int seals) {
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate(fd, 320 * 240 * 4) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0) {
		abort();
	}
	return gst_fd_allocator_alloc(allocator, fd, 320 * 240 * 4, GST_FD_MEMORY_FLAG_NONE);
}

static void test_export(void) {
	GstAllocator *fds = gst_fd_allocator_new();
	GstMemory *sealed = make_fd_memory(fds, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE);
	GstMemory *open = make_fd_memory(fds, 0), *shared = make_fd_memory(fds, F_SEAL_SHRINK);
	struct gid_layout layout, other;
	GstGidExport *first, *again, *changed;
	int result = 0;

	gid_layout_init(&layout, gst_video_dma_drm_fourcc_from_format(GST_VIDEO_FORMAT_BGRx), 320,
			240, 4);
	other = layout;
	other.height = 200;
	first = gst_gid_export_get(domain, sealed, &layout, "video/x-raw", &result);
	tap_ok(first != NULL, "a sealed memfd is exported as it is");
	again = gst_gid_export_get(domain, sealed, &layout, "video/x-raw", &result);
	tap_ok(again == first, "once");
	changed = gst_gid_export_get(domain, sealed, &other, "video/x-raw", &result);
	tap_ok(changed != NULL && changed != first, "and again where it means something else");
	GstGidExport *none = gst_gid_export_get(domain, open, &layout, NULL, &result);
	tap_ok(none == NULL && result == -EPERM, "an unsealed one is not: %d", result);
	none = gst_gid_export_get(domain, shared, &layout, NULL, &result);
	tap_ok(none == NULL && result == -EPERM, "nor one that readers could write: %d", result);
	gst_mini_object_unref(GST_MINI_OBJECT_CAST(first));
	gst_mini_object_unref(GST_MINI_OBJECT_CAST(again));
	gst_mini_object_unref(GST_MINI_OBJECT_CAST(changed));
	gst_memory_unref(sealed);
	gst_memory_unref(open);
	gst_memory_unref(shared);
	gst_object_unref(fds);
}

/* Whoever frees the memory may be anybody, and so may those who wait for the domain's lock. */
static void test_export_ends(void) {
	GstAllocator *fds = gst_fd_allocator_new();
	GstMemory *sealed = make_fd_memory(fds, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE);
	struct gid_layout layout;
	int result = 0;

	gid_layout_init(&layout, gst_video_dma_drm_fourcc_from_format(GST_VIDEO_FORMAT_BGRx), 320,
			240, 4);
	GstGidExport *export = gst_gid_export_get(domain, sealed, &layout, NULL, &result);
	tap_ok(export != NULL, "a sealed memfd is exported");
	gst_mini_object_unref(GST_MINI_OBJECT_CAST(export));
	kill(cockpit_gidd[1], SIGSTOP);
	gst_memory_unref(sealed);
	bool connected = gid_domain_is_connected(gst_gid_domain_lock(domain));
	gst_gid_domain_unlock(domain);
	kill(cockpit_gidd[1], SIGCONT);
	tap_ok(connected, "when it is freed nobody waits for a gidd that hangs");
	gst_object_unref(fds);
}

/* --- memory of copies --- */

static void test_copies(void) {
	GstAllocator *allocator = gst_gid_sealed_allocator_get();
	GstMemory *mem = gst_allocator_alloc(allocator, 100, NULL);
	GstMapInfo map;
	if (!tap_ok(mem != NULL && gst_is_fd_memory(mem), "a copy's memory is a file")) {
		return;
	}
	int fd = gst_fd_memory_get_fd(mem);
	gst_memory_map(mem, &map, GST_MAP_WRITE);
	memset(map.data, 7, map.size);
	gst_memory_unmap(mem, &map);
	const guint8 *seen = mmap(NULL, 100, PROT_READ, MAP_SHARED, fd, 0);
	tap_ok(seen != MAP_FAILED && seen[0] == 7 && seen[99] == 7, "who gets it reads it");
	munmap((void *)seen, 100);
	tap_ok(mmap(NULL, 100, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED &&
					write(fd, "x", 1) < 0 && ftruncate(fd, 0) < 0,
			"but cannot write or shorten it");
	int other = memfd_create("other", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	tap_ok(other < 0 || (fcntl(fd, F_GET_SEALS) & F_SEAL_EXEC) != 0,
			"nor run it, where the kernel knows that");
	if (other >= 0) {
		close(other);
	}
	gst_memory_unref(mem);
	tap_ok(gst_allocator_alloc(allocator, (gsize)1 << (sizeof(gsize) * 8 - 2), NULL) == NULL,
			"memory that there is not is none");
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	if (!tap_ok(cockpit_init(), "two domains")) {
		cockpit_finish();
		return 1;
	}
	domain = gst_gid_domain_get_shared("open", NULL);
	test_alias();
	test_guard(&mpeg4);
	if (!GST_CHECK_VERSION(1, 28, 0)) { /* from then on it does not decode in place */
		test_guard(&h264);
	}
	test_layout();
	test_alignment_without_values();
	test_proposals();
	test_revoked();
	test_caps_of_slabs();
	test_colours_that_nobody_said();
	test_export();
	test_export_ends();
	test_copies();
	gst_gid_domain_unref(domain);
	cockpit_finish();
	return tap_finish();
}
