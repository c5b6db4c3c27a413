// SPDX-License-Identifier: MIT
/*
 * What no transport between two cores can do without: a thread that sleeps until it is woken. And
 * the least that it is with GStreamer: such a thread that then pushes a buffer, always the same.
 */
#include <errno.h>
#include <gst/base/gstpushsrc.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "handoff.h"

static void futex(uint32_t *word, int operation, uint32_t value) {
	(void)syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* False: it is the end. */
static bool sleeper_wait(struct sleeper *sleeper) {
	futex(sleeper->word, FUTEX_WAIT, sleeper->woken);
	sleeper->woken = __atomic_load_n(sleeper->word, __ATOMIC_ACQUIRE);
	return !__atomic_load_n(&sleeper->ended, __ATOMIC_ACQUIRE);
}

static void *sleeper_run(void *data) {
	struct sleeper *sleeper = data;
	handoff_pin(sleeper->cpu);
	while (sleeper_wait(sleeper)) {
	}
	return NULL;
}

/* --- the same as a source --------------------------------------------------------------------- */

typedef struct {
	GstPushSrc parent;
	struct sleeper *sleeper;
	GstBuffer *buffer;
} HandoffSleeper;

typedef struct {
	GstPushSrcClass parent_class;
} HandoffSleeperClass;

static GType handoff_sleeper_get_type(void);
G_DEFINE_TYPE(HandoffSleeper, handoff_sleeper, GST_TYPE_PUSH_SRC)

static GstStaticPadTemplate source_template =
	GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GstFlowReturn sleeper_create(GstPushSrc *source, GstBuffer **buffer) {
	HandoffSleeper *self = (HandoffSleeper *)source;
	if (self->buffer == NULL) {
		handoff_pin(self->sleeper->cpu);
		self->buffer = gst_buffer_new();
	}
	*buffer = gst_buffer_ref(self->buffer);
	if (sleeper_wait(self->sleeper)) {
		return GST_FLOW_OK;
	}
	gst_clear_buffer(buffer);
	return GST_FLOW_EOS;
}

static void sleeper_finalize(GObject *object) {
	gst_clear_buffer(&((HandoffSleeper *)object)->buffer);
	G_OBJECT_CLASS(handoff_sleeper_parent_class)->finalize(object);
}

static void handoff_sleeper_class_init(HandoffSleeperClass *class) {
	GstElementClass *element = GST_ELEMENT_CLASS(class);
	gst_element_class_add_static_pad_template(element, &source_template);
	gst_element_class_set_static_metadata(
		element, "Sleeper", "Source", "Buffers that cost nothing but to wake up", "gidway");
	G_OBJECT_CLASS(class)->finalize = sleeper_finalize;
	GST_PUSH_SRC_CLASS(class)->create = sleeper_create;
}

static void handoff_sleeper_init(HandoffSleeper *self) {
	gst_base_src_set_live(GST_BASE_SRC(self), TRUE);
	gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static GstElement *start_source(struct sleeper *sleeper) {
	gst_element_register(NULL, "handoffsleeper", GST_RANK_NONE, handoff_sleeper_get_type());
	GstElement *pipeline =
		gst_parse_launch("handoffsleeper name=source ! fakesink sync=false", NULL);
	GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
	((HandoffSleeper *)source)->sleeper = sleeper;
	gst_object_unref(source);
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	return pipeline;
}

/* --- its life --------------------------------------------------------------------------------- */

bool sleeper_start(struct sleeper *sleeper, int cpu, bool source) {
	/* In shared memory, as between processes: the kernel then looks for the page. */
	void *page = mmap(NULL, HANDOFF_PAGE, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (page == MAP_FAILED) {
		fprintf(stderr, "a page of shared memory: %s\n", strerror(errno));
		return false;
	}
	*sleeper = (struct sleeper){.word = page, .cpu = cpu};
	if (source) {
		sleeper->pipeline = start_source(sleeper);
		return true;
	}
	int error = pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper);
	if (error != 0) {
		fprintf(stderr, "a thread: %s\n", strerror(error));
		munmap(page, HANDOFF_PAGE);
	}
	return error == 0;
}

void sleeper_wake(struct sleeper *sleeper) {
	__atomic_add_fetch(sleeper->word, 1, __ATOMIC_SEQ_CST);
	futex(sleeper->word, FUTEX_WAKE, INT_MAX);
}

void sleeper_end(struct sleeper *sleeper) {
	__atomic_store_n(&sleeper->ended, true, __ATOMIC_RELEASE);
	sleeper_wake(sleeper);
	if (sleeper->pipeline != NULL) {
		gst_element_set_state(sleeper->pipeline, GST_STATE_NULL);
		gst_object_unref(sleeper->pipeline);
	} else {
		pthread_join(sleeper->thread, NULL);
	}
	munmap(sleeper->word, HANDOFF_PAGE);
}
