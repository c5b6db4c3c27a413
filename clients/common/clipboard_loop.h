// SPDX-License-Identifier: MIT
/* The clipboard that a compositor's seat shares with another domain, on an sd-event loop. */
#ifndef CLIENTS_CLIPBOARD_LOOP_H
#define CLIENTS_CLIPBOARD_LOOP_H

#include <clipboard.h>
#include <systemd/sd-event.h>

struct clipboard_loop {
	struct clipboard *clipboard; // NULL: it is not wanted
	sd_event_source *timer, *readable;
	char ours[INPUT_NAME_SIZE], theirs[INPUT_NAME_SIZE];
};

/* Which end of a stream we are at: the one that shows it, or the one that makes it. */
enum clipboard_end {
	CLIPBOARD_OF_WHO_SHOWS,
	CLIPBOARD_OF_WHO_MAKES,
};

/*
 * Our end of the clipboard beside `stream`, whose other end is in the domain `other`. `events` have
 * clipboard_loop_woken() and clipboard_loop_say(); their data is the loop, or begins with it.
 * `other` and the domain outlive it. Returns 0, or -1 after saying on stderr what is wrong. The
 * clipboards' streams may come later.
 */
int clipboard_loop_init(struct clipboard_loop *loop, sd_event *event, struct gid_domain *domain,
		const char *stream, enum clipboard_end end, const char *other,
		const struct clipboard_events *events);

/* Before the loop and the domain end; also of zeroes. */
void clipboard_loop_finish(struct clipboard_loop *loop);

void clipboard_loop_woken(void *data);
void clipboard_loop_say(void *data, const char *what);

#endif
