// SPDX-License-Identifier: MIT
/*
 * What no transport between two cores can do without: a process that sleeps until it is woken. And
 * the least that it is with GStreamer: such a process that then pushes a buffer, always the same.
 */
#include <errno.h>
#include <gst/base/gstpushsrc.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handoff.h"

/* What the two share. */
struct sleeper_page {
	uint32_t word;	// what it sleeps over
	uint32_t ended; // by the one that wakes
};

static void futex(uint32_t *word, int operation, uint32_t value) {
	(void)syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* False: it is the end. */
static bool page_wait(struct sleeper_page *page, uint32_t *woken) {
	futex(&page->word, FUTEX_WAIT, *woken);
	*woken = __atomic_load_n(&page->word, __ATOMIC_ACQUIRE);
	return !__atomic_load_n(&page->ended, __ATOMIC_ACQUIRE);
}

static void run_bare(struct sleeper_page *page) {
	uint32_t woken = 0;
	while (page_wait(page, &woken)) {
	}
}

/* --- the same as a source --------------------------------------------------------------------- */

typedef struct {
	GstPushSrc parent;
	struct sleeper_page *page;
	uint32_t woken;
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
	if (!page_wait(self->page, &self->woken)) {
		return GST_FLOW_EOS;
	}
	*buffer = gst_buffer_ref(self->buffer);
	return GST_FLOW_OK;
}

static void sleeper_finalize(GObject *object) {
	gst_clear_buffer(&((HandoffSleeper *)object)->buffer);
	G_OBJECT_CLASS(handoff_sleeper_parent_class)->finalize(object);
}

static void handoff_sleeper_class_init(HandoffSleeperClass *class) {
	GstElementClass *element = GST_ELEMENT_CLASS(class);
	gst_element_class_add_static_pad_template(element, &source_template);
	gst_element_class_set_static_metadata(element, "Sleeper", "Source",
			"Buffers that cost nothing but to wake up", "gidway");
	G_OBJECT_CLASS(class)->finalize = sleeper_finalize;
	GST_PUSH_SRC_CLASS(class)->create = sleeper_create;
}

static void handoff_sleeper_init(HandoffSleeper *self) {
	self->buffer = gst_buffer_new();
	gst_base_src_set_live(GST_BASE_SRC(self), TRUE);
	gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void run_source(struct sleeper_page *page) {
	gst_element_register(NULL, "handoffsleeper", GST_RANK_NONE, handoff_sleeper_get_type());
	GstElement *pipeline =
			gst_parse_launch("handoffsleeper name=source ! fakesink sync=false", NULL);
	GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
	((HandoffSleeper *)source)->page = page;
	gst_object_unref(source);
	GstBus *bus = gst_element_get_bus(pipeline);
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	gst_message_unref(gst_bus_timed_pop_filtered(
			bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
	gst_element_set_state(pipeline, GST_STATE_NULL);
	gst_object_unref(bus);
	gst_object_unref(pipeline);
}

/* --- its life --------------------------------------------------------------------------------- */

static void run(struct sleeper_page *page, int cpu, bool source) {
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	handoff_pin(cpu);
	if (source) {
		run_source(page);
	} else {
		run_bare(page);
	}
	_exit(0);
}

bool sleeper_start(struct sleeper *sleeper, int cpu, bool source) {
	struct sleeper_page *page = mmap(NULL, HANDOFF_PAGE, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (page == MAP_FAILED) {
		fprintf(stderr, "a page of shared memory: %s\n", strerror(errno));
		return false;
	}
	pid_t pid = fork(); // before GStreamer has any thread
	if (pid == 0) {
		run(page, cpu, source);
	}
	if (pid < 0) {
		fprintf(stderr, "a process: %s\n", strerror(errno));
		munmap(page, HANDOFF_PAGE);
		return false;
	}
	*sleeper = (struct sleeper){.page = page, .pid = pid};
	return true;
}

void sleeper_wake(struct sleeper *sleeper) {
	__atomic_add_fetch(&sleeper->page->word, 1, __ATOMIC_SEQ_CST);
	futex(&sleeper->page->word, FUTEX_WAKE, INT_MAX);
}

void sleeper_end(struct sleeper *sleeper) {
	__atomic_store_n(&sleeper->page->ended, 1, __ATOMIC_RELEASE);
	sleeper_wake(sleeper);
	waitpid(sleeper->pid, NULL, 0);
	munmap(sleeper->page, HANDOFF_PAGE);
}
