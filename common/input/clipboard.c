// SPDX-License-Identifier: MIT
#include "clipboard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "frame_reader.h"
#include "frame_writer.h"
#include "text_pipe.h"

/* The least time between two texts, in each direction. */
#define REST_NS 100000000ull
#define AGAIN_NS 1000000000ull
/* How long a clipboard manager may take to copy a text that we offered, and offer it as its own. */
#define KEEPING_NS 5000000000ull

struct clipboard {
	const struct clipboard_events *events;
	void *data;
	const char *ours, *owner, *theirs;
	int epoll;
	struct gid_domain *domain;   /* NULL: not connected to gidd */
	struct frame_writer *writer; /* NULL: to be made */
	struct frame_reader *reader; /* NULL: to be made */
	uint64_t again; /* when a missing writer or reader is made; UINT64_MAX: never */
	int told;	/* the last reported error of the streams; 0: none */
	bool taken;	/* whether somebody reads our stream, as reported last */
	bool asks;	/* the program that copied last is to be asked for its text */
	bool anew;	/* what it copied is new, see clipboard_changed(); also while it is asked */
	uint64_t rested; /* it is not asked before */
	struct text_reading reading;
	struct copied_text *sent, *received; /* the last ones; NULL: none */
	const struct copied_text *last;	     /* the newer one of both */
	uint64_t keeping; /* until when an equal text counts as a clipboard manager's copy */
	int copied;	  /* size of `copy` */
	char copy[CLIPBOARD_TEXT_MAX]; /* the text of a frame, before it is used */
};

static void say(const struct clipboard *clipboard, const char *what, const char *more) {
	char text[256];
	snprintf(text, sizeof(text), "%s%s%s", what, more != NULL ? ": " : "",
			more != NULL ? more : "");
	clipboard->events->say(clipboard->data, text);
}

static void say_of_stream(const struct clipboard *clipboard, const char *stream, const char *what,
		const char *more) {
	char text[128];
	snprintf(text, sizeof(text), "%s %s", stream, what);
	say(clipboard, text, more);
}

/* --- what is copied here ---------------------------------------------------------------------- */

static bool is_last(const struct clipboard *clipboard, const char *bytes, size_t size) {
	const struct copied_text *last = clipboard->last;
	return last != NULL && last->size == size && memcmp(last->bytes, bytes, size) == 0;
}

/*
 * Clipboard managers copy what they are offered. With one at each end a text would go back and
 * forth for ever.
 */
static bool is_kept(const struct clipboard *clipboard) {
	return clipboard->last == clipboard->received && gid_clock_now() < clipboard->keeping;
}

static bool is_new(const struct clipboard *clipboard, const struct text_reading *reading) {
	return !is_last(clipboard, reading->bytes, reading->size) ||
			(clipboard->anew && !is_kept(clipboard));
}

static void clipboard_send(struct clipboard *clipboard, const char *bytes, size_t size) {
	struct copied_text *text = copied_text_create(bytes, size);
	if (text == NULL) {
		say(clipboard, "a text is not sent", strerror(ENOMEM));
		return;
	}
	copied_text_unref(clipboard->sent);
	clipboard->last = clipboard->sent = text;
	if (clipboard->writer != NULL) {
		frame_writer_mark(clipboard->writer);
		frame_writer_flush(clipboard->writer);
	}
}

static const char *refusal(int error) {
	switch (error) {
	case -EFBIG:
		return "it has more than 65536 bytes";
	case -EILSEQ:
		return "it is no UTF-8, or has control characters";
	case -ETIMEDOUT:
		return "its program did not give it in 5 s";
	case -EBUSY:
		return "programs before it hold the pipes by which they give theirs";
	default:
		return strerror(-error);
	}
}

static void clipboard_read(struct clipboard *clipboard) {
	struct text_reading *reading = &clipboard->reading;
	int ret = reading->fd >= 0 ? text_reading_go(reading) : 0;
	if (ret == 0) {
		return;
	}
	text_reading_end(reading);
	if (ret < 0) {
		say(clipboard, "a text is not sent", refusal(ret));
	} else if (reading->size > 0 && is_new(clipboard, reading)) {
		clipboard_send(clipboard, reading->bytes, reading->size);
	}
}

static bool is_to_ask(const struct clipboard *clipboard) {
	return clipboard->asks && clipboard->writer != NULL &&
			frame_writer_readers(clipboard->writer) > 0;
}

/*
 * Asks the program for its text. A text that is still being read from another program is dropped.
 */
static void clipboard_ask(struct clipboard *clipboard, uint64_t now) {
	if (!is_to_ask(clipboard) || now < clipboard->rested) {
		return;
	}
	clipboard->asks = false;
	text_reading_end(&clipboard->reading);
	clipboard->rested = now + REST_NS;
	int fd = text_reading_begin(&clipboard->reading, clipboard->epoll);
	if (fd < 0) {
		say(clipboard, "a text is not sent", strerror(-fd));
	} else {
		clipboard->events->ask(clipboard->data, fd);
	}
}

void clipboard_changed(struct clipboard *clipboard, bool anew) {
	clipboard->anew = anew || (clipboard->asks && clipboard->anew);
	clipboard->asks = true;
	clipboard->events->woken(clipboard->data);
}

void clipboard_forget(struct clipboard *clipboard) {
	clipboard->asks = false;
	text_reading_end(&clipboard->reading);
}

/* --- what came -------------------------------------------------------------------------------- */

static int handle_copy(void *data, const void *slot) {
	struct clipboard *clipboard = data;
	clipboard->copied = clipboard_frame_read(clipboard->copy, slot);
	return clipboard->copied < 0 ? clipboard->copied : 0;
}

/* A text came. Whatever was copied here before is older. */
static void handle_use(void *data, int64_t clock_offset_ns) {
	struct clipboard *clipboard = data;
	if (!clipboard->events->wants(clipboard->data)) {
		return;
	}
	struct copied_text *text = copied_text_create(clipboard->copy, (size_t)clipboard->copied);
	if (text == NULL) {
		say(clipboard, "a text is not taken", strerror(ENOMEM));
		return;
	}
	copied_text_unref(clipboard->received);
	clipboard->last = clipboard->received = text;
	clipboard_forget(clipboard);
	clipboard->events->came(clipboard->data);
}

void clipboard_give(struct clipboard *clipboard, int fd) {
	if (clipboard->received != NULL) {
		clipboard->keeping = gid_clock_now() + KEEPING_NS;
	}
	text_pipe_give(fd, clipboard->received);
}

/* --- the streams ------------------------------------------------------------------------------ */

static void clipboard_fail(struct clipboard *clipboard, const char *stream, int error) {
	const char *why = error == -EEXIST ? "another program of this domain sends it"
					   : gid_domain_error(clipboard->domain);
	if (error != clipboard->told) {
		say_of_stream(clipboard, stream, "is not there",
				why[0] != '\0' ? why : gid_strerror(error));
		clipboard->told = error;
	}
	clipboard->again = gid_clock_now() + AGAIN_NS;
	clipboard->events->woken(clipboard->data);
}

static void handle_published(void *data, int error) {
	struct clipboard *clipboard = data;
	if (error == 0) {
		clipboard->told = 0;
		return;
	}
	frame_writer_destroy(clipboard->writer);
	clipboard->writer = NULL;
	clipboard_fail(clipboard, clipboard->ours, error);
}

static void handle_readers(void *data, uint32_t readers) {
	struct clipboard *clipboard = data;
	if (clipboard->taken != (readers > 0)) {
		clipboard->taken = readers > 0;
		say_of_stream(clipboard, clipboard->ours,
				clipboard->taken ? "is taken" : "is taken by nobody now", NULL);
	}
	clipboard->events->woken(clipboard->data);
}

static void handle_write(void *data, void *memory, uint32_t slot, uint64_t emptied) {
	const struct clipboard *clipboard = data;
	clipboard_frame_write(memory, clipboard->sent->bytes, clipboard->sent->size);
}

static const struct frame_writer_events writer_events = {
		.published = handle_published, .readers = handle_readers, .write = handle_write};

static void handle_begin(void *data, uint64_t time) {
}

static void handle_woken(void *data) {
	const struct clipboard *clipboard = data;
	clipboard->events->woken(clipboard->data);
}

static void handle_sender_changed(void *data, bool is_there, const char *why) {
	const struct clipboard *clipboard = data;
	char what[96];
	snprintf(what, sizeof(what), "of domain %s is %sthere", clipboard->owner,
			is_there ? "" : "not ");
	say_of_stream(clipboard, clipboard->theirs, what, why);
}

static const struct frame_reader_events reader_events = {
		.copy = handle_copy,
		.use = handle_use,
		.begin = handle_begin,
		.woken = handle_woken,
		.sender_changed = handle_sender_changed,
};

static void begin_writer(struct clipboard *clipboard) {
	int error = clipboard->writer == NULL
			? frame_writer_create(clipboard->domain, clipboard->ours, &clipboard_form,
					  &writer_events, clipboard, &clipboard->writer)
			: 0;
	if (error != 0) {
		clipboard_fail(clipboard, clipboard->ours, error);
	}
}

static void begin_reader(struct clipboard *clipboard) {
	if (clipboard->reader != NULL) {
		return;
	}
	int error = frame_reader_create(clipboard->domain, clipboard->owner, clipboard->theirs,
			&clipboard_form, REST_NS, &reader_events, clipboard, &clipboard->reader);
	if (error == 0) {
		struct epoll_event event = {.events = EPOLLIN};
		error = epoll_ctl(clipboard->epoll, EPOLL_CTL_ADD,
					frame_reader_get_fd(clipboard->reader), &event) == 0
				? 0
				: -errno;
	}
	if (error != 0) {
		frame_reader_destroy(clipboard->reader);
		clipboard->reader = NULL;
		clipboard_fail(clipboard, clipboard->theirs, error);
	}
}

static void clipboard_begin(struct clipboard *clipboard, uint64_t now) {
	if (now >= clipboard->again) {
		clipboard->again = UINT64_MAX;
		begin_writer(clipboard);
		begin_reader(clipboard);
	}
}

void clipboard_set_domain(struct clipboard *clipboard, struct gid_domain *domain) {
	if (clipboard->domain == domain) {
		return;
	}
	frame_reader_destroy(clipboard->reader);
	frame_writer_destroy(clipboard->writer);
	clipboard->reader = NULL;
	clipboard->writer = NULL;
	clipboard->taken = false;
	clipboard->told = 0;
	clipboard->domain = domain;
	clipboard->again = domain != NULL ? 0 : UINT64_MAX;
	clipboard_dispatch(clipboard);
	clipboard->events->woken(clipboard->data);
}

/* --- the loop --------------------------------------------------------------------------------- */

void clipboard_dispatch(struct clipboard *clipboard) {
	uint64_t now = gid_clock_now();
	clipboard_begin(clipboard, now);
	if (clipboard->reader != NULL) {
		frame_reader_dispatch(clipboard->reader);
	}
	if (clipboard->writer != NULL) {
		frame_writer_flush(clipboard->writer);
	}
	clipboard_read(clipboard);
	clipboard_ask(clipboard, now);
}

static uint64_t sooner(uint64_t one, uint64_t other) {
	return one < other ? one : other;
}

uint64_t clipboard_deadline(const struct clipboard *clipboard) {
	uint64_t time = clipboard->again;
	if (clipboard->reader != NULL) {
		time = sooner(time, frame_reader_deadline(clipboard->reader));
	}
	if (clipboard->writer != NULL) {
		time = sooner(time, frame_writer_deadline(clipboard->writer));
	}
	if (is_to_ask(clipboard)) {
		time = sooner(time, clipboard->rested);
	}
	if (clipboard->reading.fd >= 0) {
		time = sooner(time, clipboard->reading.deadline);
	}
	return time;
}

int clipboard_get_fd(const struct clipboard *clipboard) {
	return clipboard->epoll;
}

/* --- life ------------------------------------------------------------------------------------- */

int clipboard_create(const char *ours, const char *owner, const char *theirs,
		const struct clipboard_events *events, void *data, struct clipboard **created) {
	struct clipboard *clipboard = calloc(1, sizeof(*clipboard));
	if (clipboard == NULL) {
		return -ENOMEM;
	}
	clipboard->events = events;
	clipboard->data = data;
	clipboard->ours = ours;
	clipboard->owner = owner;
	clipboard->theirs = theirs;
	clipboard->again = UINT64_MAX;
	clipboard->reading.fd = -1;
	clipboard->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (clipboard->epoll < 0) {
		int error = -errno;
		free(clipboard);
		return error;
	}
	*created = clipboard;
	return 0;
}

void clipboard_destroy(struct clipboard *clipboard) {
	if (clipboard == NULL) {
		return;
	}
	frame_reader_destroy(clipboard->reader);
	frame_writer_destroy(clipboard->writer);
	text_reading_end(&clipboard->reading);
	copied_text_unref(clipboard->sent);
	copied_text_unref(clipboard->received);
	close(clipboard->epoll);
	free(clipboard);
}
