// SPDX-License-Identifier: MIT
/* Whatever memory upstream has a picture in, it arrives as it was: each byte is compared. */
#include <fcntl.h>
#include <gst/allocators/allocators.h>
#include <gst/video/video.h>
#include <sys/mman.h>
#include <unistd.h>

#include "came.h"
#include "sink_pair.h"

#define WIDTH 62
#define HEIGHT 18
#define SPACE 65536u /* more than any case needs */

static GstVideoInfo info; /* of I420 */
static guint number;	  /* of the picture */

/* --- pictures --------------------------------------------------------------------------------- */

static gint plane_width(guint plane) {
	return GST_VIDEO_INFO_COMP_WIDTH(&info, plane);
}

static gint plane_height(guint plane) {
	return GST_VIDEO_INFO_COMP_HEIGHT(&info, plane);
}

static guint8 pixel(guint picture, guint plane, gint x, gint y) {
	return (guint8)(picture * 101 + plane * 53 + (guint)x * 7 + (guint)y * 29);
}

/* How a picture lies in memory, from its first byte on. */
struct place {
	const char *what;
	gsize offset[GST_VIDEO_MAX_PLANES];
	gint stride[GST_VIDEO_MAX_PLANES];
	gsize size;
	gsize cuts[2]; /* it may be three pieces of memory: with a GstVideoMeta, each of whole
			  planes */
	bool plain;    /* as the caps say it: no GstVideoMeta */
};

static const struct place places[] = {
		{.what = "as the caps say", .cuts = {1, 1200}, .plain = true},
		{.what = "as the caps say, and more behind it",
				.size = 9000,
				.cuts = {600, 8999},
				.plain = true},
		{"with rows far apart", {0, 4096, 8192}, {128, 96, 80}, 12288, {4096, 8192}, false},
		{"with its planes the other way round", {4096, 2048, 0}, {64, 64, 64}, 8192,
				{2048, 4096}, false},
		{"with rows of its planes in turn", {0, 4096, 4096 + 64}, {64, 128, 128}, 8192,
				{2000, 4096}, false},
		{"from the last row to the first",
				{(HEIGHT - 1) * 64, 2048 + 8 * 32, 4096 + 8 * 32}, {-64, -32, -32},
				8192, {2048, 4096}, false},
		{"not at its memory's begin", {777, 4099, 8195}, {67, 35, 33}, 12288, {4000, 8100},
				false},
};

static struct place resolve(const struct place *place) {
	struct place resolved = *place;
	if (place->plain) {
		for (guint i = 0; i < 3; i++) {
			resolved.offset[i] = GST_VIDEO_INFO_PLANE_OFFSET(&info, i);
			resolved.stride[i] = GST_VIDEO_INFO_PLANE_STRIDE(&info, i);
		}
		resolved.size = MAX(place->size, GST_VIDEO_INFO_SIZE(&info));
	}
	return resolved;
}

static void draw(guint8 *memory, const struct place *place, guint picture) {
	memset(memory, 0xee, place->size);
	for (guint plane = 0; plane < 3; plane++) {
		for (gint y = 0; y < plane_height(plane); y++) {
			guint8 *row = memory + place->offset[plane];
			row += (gssize)y * place->stride[plane];
			for (gint x = 0; x < plane_width(plane); x++) {
				row[x] = pixel(picture, plane, x, y);
			}
		}
	}
}

/* How many bytes are others. */
static guint count_wrong(GstBuffer *buffer, guint picture) {
	GstVideoFrame frame;
	guint wrong = 0;
	if (buffer == NULL || !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
		return G_MAXUINT;
	}
	for (guint plane = 0; plane < 3; plane++) {
		for (gint y = 0; y < plane_height(plane); y++) {
			const guint8 *row = GST_VIDEO_FRAME_PLANE_DATA(&frame, plane);
			row += (gssize)y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
			for (gint x = 0; x < plane_width(plane); x++) {
				wrong += row[x] != pixel(picture, plane, x, y);
			}
		}
	}
	gst_video_frame_unmap(&frame);
	return wrong;
}

static void say(GstBuffer *buffer, const struct place *place) {
	if (!place->plain) {
		gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
				GST_VIDEO_FORMAT_I420, WIDTH, HEIGHT, 3, (gsize *)place->offset,
				(gint *)place->stride);
	}
	GST_BUFFER_PTS(buffer) = pair.pushed++ * PERIOD;
}

/* Sends it, takes what comes, and compares. */
static void expect(GstBuffer *buffer, guint picture, const char *kind, const char *what) {
	GstFlowReturn ret = gst_pad_push(pair.pad, buffer);
	g_autoptr(GstBuffer) got = ret == GST_FLOW_OK ? next_buffer() : NULL;
	guint wrong = count_wrong(got, picture);
	tap_ok(wrong == 0, "%s, %s: %s, %u wrong", kind, what, gst_flow_get_name(ret), wrong);
}

/* --- memory ----------------------------------------------------------------------------------- */

static GstMemory *new_plain(const struct place *place, guint picture) {
	GstMemory *memory = gst_allocator_alloc(NULL, place->size, NULL);
	GstMapInfo map;
	gst_memory_map(memory, &map, GST_MAP_WRITE);
	draw(map.data, place, picture);
	gst_memory_unmap(memory, &map);
	return memory;
}

/* Others' memory, which nobody may write, and of which the picture is the middle. */
static GstMemory *new_read_only(const struct place *place, guint picture) {
	guint8 *data = g_malloc0(SPACE);
	draw(data + 100, place, picture);
	return gst_memory_new_wrapped(
			GST_MEMORY_FLAG_READONLY, data, SPACE, 100, place->size, data, g_free);
}

static GstMemory *new_memfd(const struct place *place, guint picture, unsigned seals, gsize at) {
	static GstAllocator *allocator;
	int fd = memfd_create("picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (allocator == NULL) {
		allocator = gst_fd_allocator_new();
	}
	if (fd < 0 || ftruncate(fd, SPACE) < 0) {
		return NULL;
	}
	guint8 *data = mmap(NULL, SPACE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	draw(data + at, place, picture);
	munmap(data, SPACE);
	fcntl(fd, F_ADD_SEALS, seals);
	GstMemory *memory = gst_fd_allocator_alloc(allocator, fd, SPACE, GST_FD_MEMORY_FLAG_NONE);
	gst_memory_resize(memory, (gssize)at, place->size);
	return memory;
}

static GstMemory *new_sealed(const struct place *place, guint picture) {
	return new_memfd(place, picture, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE, 0);
}

static GstMemory *new_sealed_inside(const struct place *place, guint picture) {
	return new_memfd(place, picture, F_SEAL_SHRINK | F_SEAL_WRITE, 4096 + 12);
}

static GstMemory *new_open(const struct place *place, guint picture) {
	return new_memfd(place, picture, 0, 0);
}

static const struct {
	const char *name;
	GstMemory *(*make)(const struct place *place, guint picture);
} kinds[] = {
		{"plain memory", new_plain},
		{"memory that nobody may write", new_read_only},
		{"a sealed file", new_sealed},
		{"the middle of a sealed file", new_sealed_inside},
		{"a file", new_open},
};

static void test_kinds(void) {
	for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
		for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
			struct place place = resolve(&places[i]);
			GstBuffer *buffer = gst_buffer_new();
			gst_buffer_append_memory(buffer, kinds[kind].make(&place, ++number));
			say(buffer, &place);
			expect(buffer, number, kinds[kind].name, place.what);
		}
	}
}

/* As of drivers with a buffer for each plane, and of what cuts bytes where it likes. */
static void test_pieces(void) {
	for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
		struct place place = resolve(&places[i]);
		GstMemory *whole = new_plain(&place, ++number);
		GstBuffer *buffer = gst_buffer_new();
		gsize cuts[] = {0, place.cuts[0], place.cuts[1], place.size};
		for (guint cut = 0; cut + 1 < G_N_ELEMENTS(cuts); cut++) {
			GstMemory *piece = gst_memory_copy(whole, (gssize)cuts[cut],
					(gssize)(cuts[cut + 1] - cuts[cut]));
			gst_buffer_append_memory(buffer, piece);
		}
		gst_memory_unref(whole);
		say(buffer, &place);
		expect(buffer, number, "three pieces", place.what);
	}
}

/* Somebody else has it as well, and sends it once more, and the memory under another description.
 */
static void test_again(void) {
	struct place first = resolve(&places[0]);
	for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
		g_autoptr(GstBuffer) buffer = gst_buffer_new();
		gst_buffer_append_memory(buffer, kinds[kind].make(&first, ++number));
		say(buffer, &first);
		for (int i = 0; i < 3; i++) {
			expect(gst_buffer_ref(buffer), number, kinds[kind].name, "again");
		}
		GstBuffer *other = gst_buffer_copy(buffer);
		say(other, &first);
		expect(other, number, kinds[kind].name, "in another buffer");
	}
}

/* Many are out at once, and what came stays as it is. */
static void test_held(void) {
	GstBuffer *held[40];
	guint begin = number + 1, wrong = 0;
	for (guint i = 0; i < G_N_ELEMENTS(held); i++) {
		struct place place = resolve(&places[i % G_N_ELEMENTS(places)]);
		GstBuffer *buffer = gst_buffer_new();
		gst_buffer_append_memory(
				buffer, kinds[i % G_N_ELEMENTS(kinds)].make(&place, ++number));
		say(buffer, &place);
		gst_pad_push(pair.pad, buffer);
		held[i] = next_buffer();
	}
	for (guint i = 0; i < G_N_ELEMENTS(held); i++) {
		wrong += count_wrong(held[i], begin + i) != 0;
		gst_clear_buffer(&held[i]);
	}
	tap_ok(wrong == 0, "what is held stays as it was: %u are others", wrong);
}

static bool times_are(GstBuffer *buffer, GstClockTime pts, GstClockTime dts, GstClockTime lasts) {
	return buffer != NULL && GST_BUFFER_PTS(buffer) == pts && GST_BUFFER_DTS(buffer) == dts &&
			GST_BUFFER_DURATION(buffer) == lasts;
}

static void test_times(void) {
	static const GstClockTime times[][3] = {
			{GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE},
			{GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, 3},
			{7, GST_CLOCK_TIME_NONE, 0},
			{7, 9, GST_CLOCK_TIME_NONE},
			{100 * 3600 * GST_SECOND, 1, 2},
			{0, 0, 100 * GST_SECOND},
	};
	struct place place = resolve(&places[0]);
	for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
		GstBuffer *buffer = gst_buffer_new();
		gst_buffer_append_memory(buffer, new_plain(&place, ++number));
		GST_BUFFER_PTS(buffer) = times[i][0];
		GST_BUFFER_DTS(buffer) = times[i][1];
		GST_BUFFER_DURATION(buffer) = times[i][2];
		GstFlowReturn ret = gst_pad_push(pair.pad, buffer);
		g_autoptr(GstBuffer) got = ret == GST_FLOW_OK ? next_buffer() : NULL;
		tap_ok(times_are(got, times[i][0], times[i][1], times[i][2]) &&
						count_wrong(got, number) == 0,
				"times of row %u", i);
	}
}

/* Who has it for himself may have it begin elsewhere, as at the next picture of a long file. */
static void test_moved(void) {
	static const gsize second = 8192;
	for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
		struct place place = resolve(&places[0]);
		gsize size = place.size;
		place.size = second + size;
		GstMemory *memory = kinds[kind].make(&place, ++number);
		gst_memory_resize(memory, 0, size);
		for (guint turn = 0; turn < 2; turn++) {
			GstBuffer *buffer = gst_buffer_new();
			gst_buffer_append_memory(buffer, gst_memory_ref(memory));
			say(buffer, &place);
			if (turn == 0) {
				expect(buffer, number, kinds[kind].name, "before it is moved");
				gst_memory_resize(memory, (gssize)second, size);
				continue;
			}
			GstFlowReturn ret = gst_pad_push(pair.pad, buffer);
			g_autoptr(GstBuffer) got = ret == GST_FLOW_OK ? next_buffer() : NULL;
			guint8 byte = 0;
			gst_buffer_extract(got, 0, &byte, 1);
			tap_ok(byte == 0xee, "%s, and where it is then", kinds[kind].name);
		}
		gst_memory_unref(memory);
	}
}

/* Sends what is no picture: it is an error, and nothing is sent for it. */
static void refuse(GstBuffer *buffer, const char *what) {
	GST_BUFFER_PTS(buffer) = pair.pushed++ * PERIOD;
	GstFlowReturn ret = gst_pad_push(pair.pad, buffer);
	g_autoptr(GstMessage) message = gst_bus_pop_filtered(pair.bus, GST_MESSAGE_ERROR);
	tap_ok(ret == GST_FLOW_ERROR && message != NULL, "%s is an error: %s", what,
			gst_flow_get_name(ret));
}

static void test_too_small(void) {
	struct place place = resolve(&places[0]);
	refuse(gst_buffer_new_allocate(NULL, 100, NULL), "too little memory");
	for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
		GstMemory *memory = kinds[kind].make(&place, ++number);
		gst_memory_resize(memory, 0, place.size / 2);
		GstBuffer *buffer = gst_buffer_new();
		gst_buffer_append_memory(buffer, memory);
		refuse(buffer, kinds[kind].name);
	}
}

/* As elements behind a network get it from others. */
static void test_rows_that_are_not_there(void) {
	static const struct place wrong[] = {
			{"a row beyond the memory", {0, 2048, 4096}, {64, 32, 600}, 8192, {0},
					false},
			{"a row far beyond it", {0, 2048, 4096}, {1 << 30, 32, 32}, 8192, {0},
					false},
			{"a row before it", {0, 2048, 4096}, {-64, 32, 32}, 8192, {0}, false},
			{"a row far before it", {0, 2048, 4096}, {64, G_MININT, 32}, 8192, {0},
					false},
			{"a plane beyond it", {0, 8191, 4096}, {64, 32, 32}, 8192, {0}, false},
	};
	for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
		GstBuffer *buffer = gst_buffer_new_allocate(NULL, wrong[i].size, NULL);
		say(buffer, &wrong[i]);
		refuse(buffer, wrong[i].what);
	}
	struct place good = resolve(&places[0]);
	GstBuffer *buffer = gst_buffer_new();
	gst_buffer_append_memory(buffer, new_plain(&good, ++number));
	say(buffer, &good);
	expect(buffer, number, "plain memory", "after these");
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, WIDTH, HEIGHT);
	if (!tap_ok(cockpit_init(), "two domains") ||
			!pair_init("video/x-raw,format=I420,width=62,height=18,framerate=60/1",
					GST_VIDEO_INFO_SIZE(&info), "wait-for-connection=true")) {
		cockpit_finish();
		return 1;
	}
	g_autoptr(GstElement) reader = gst_parse_launch(
			"gidsrc domain=open reader=cluster stream=movie is-live=false credit=16 ! "
			"fakesink name=watch sync=false async=false enable-last-sample=false",
			NULL);
	g_autoptr(GstElement) watch = gst_bin_get_by_name(GST_BIN(reader), "watch");
	g_autoptr(GstPad) pad = gst_element_get_static_pad(watch, "sink");
	gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, NULL, NULL);
	gst_element_set_state(reader, GST_STATE_PLAYING);
	test_kinds();
	test_pieces();
	test_again();
	test_held();
	test_moved();
	test_times();
	test_too_small();
	test_rows_that_are_not_there();
	gst_element_set_state(reader, GST_STATE_NULL);
	gst_clear_caps(&came.caps);
	pair_finish();
	cockpit_finish();
	return tap_finish();
}
