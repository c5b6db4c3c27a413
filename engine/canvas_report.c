// SPDX-License-Identifier: MIT
#include "canvas_report.h"

#include <drm_fourcc.h>
#include <stdio.h>
#include <string.h>

#include "canvas.h"

static void handle_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	struct report *report = data;
	report->reader_joined |= joined;
}

int report_init(struct report *report, struct gid_domain *domain, const char *stream) {
	struct gid_layout layout;
	*report = (struct report){0};
	int ret = gid_layout_init(&layout, DRM_FORMAT_R8, sizeof(*report->page), 1, 64);
	if (ret == 0) {
		ret = gid_slab_create_for_stream(
				domain, stream, &layout, 0, 1, NULL, &report->slab);
	}
	if (ret < 0) {
		return ret;
	}
	report->page = gid_slab_data(report->slab, 0);
	report->page->version = ENGINE_VERSION;
	report->page->magic = ENGINE_REPORT_MAGIC;
	report->announced = gid_slab_gid(report->slab, 0);
	const struct gid_producer_options options = {
			.size = sizeof(options), .subscriber = handle_subscriber, .data = report};
	ret = gid_producer_create(domain, stream, &options, &report->producer);
	if (ret < 0) {
		report_finish(report);
	}
	return ret;
}

void report_finish(struct report *report) {
	gid_producer_destroy(report->producer);
	gid_slab_destroy(report->slab, true);
	*report = (struct report){0};
}

bool report_is_lost(const struct report *report) {
	return canvas_slab_is_lost(report->slab);
}

void report_send(struct report *report) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = report->announced = gid_slab_gid(report->slab, 0);
	gid_producer_send(report->producer, &frame);
}

void report_dispatch(struct report *report) {
	gid_producer_dispatch(report->producer);
	/* The page has another gid when somebody may read it no more: its memory has moved. */
	if (report->reader_joined || report->announced != gid_slab_gid(report->slab, 0)) {
		report->reader_joined = false;
		report_send(report);
	}
}

void report_sleep(struct report *report) {
	uint64_t *asleep = &report->page->asleep;
	/* An exchange, as libgid's rings have it for what no later load may pass. */
	(void)__atomic_exchange_n(asleep, *asleep | 1, __ATOMIC_SEQ_CST);
}

void report_wake(struct report *report) {
	uint64_t *asleep = &report->page->asleep;
	if ((*asleep & 1) != 0) {
		__atomic_store_n(asleep, *asleep + 1, __ATOMIC_SEQ_CST);
	}
}

void report_done(struct report *report, uint64_t fence) {
	struct engine_report *page = report->page;
	report_set(&page->lists, page->lists + 1);
	__atomic_store_n(&page->fence, fence, __ATOMIC_RELEASE);
}

void report_refused(
		struct report *report, uint64_t fence, uint32_t word, int error, const char *text) {
	struct engine_report *page = report->page;
	uint64_t words[ENGINE_REPORT_TEXT / 8] = {0};
	snprintf((char *)words, sizeof(words), "%s", text);
	uint64_t count = page->refusals;
	__atomic_store_n(&page->refusals, count + 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	report_set(&page->refused_fence, fence);
	__atomic_store_n(&page->refused_error, error, __ATOMIC_RELAXED);
	__atomic_store_n(&page->refused_word, word, __ATOMIC_RELAXED);
	for (size_t i = 0; i < ENGINE_REPORT_TEXT / 8; i++) {
		report_set((uint64_t *)(void *)page->refused_text + i, words[i]);
	}
	__atomic_store_n(&page->refusals, count + 2, __ATOMIC_SEQ_CST);
	report_set(&page->refused, page->refused + 1);
	report_done(report, fence);
}
