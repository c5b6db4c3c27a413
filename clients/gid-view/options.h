// SPDX-License-Identifier: MIT
#ifndef GID_VIEW_OPTIONS_H
#define GID_VIEW_OPTIONS_H

#include "common/window.h"

struct options {
	struct window_options window;
	const char *owner; // domain that owns the stream; NULL: our own
	const char *stream;
	const char *desktop;	// owner of a desktop that is resized to the window; else NULL
	const char *reader;	// domain that reads it; NULL: $GID_DOMAIN
	const char *stats_path; // NULL: none
	const char *role;	// safety role of the picture; NULL: none
	uint32_t credit;
	uint32_t grab_key;  // KEY_* of Linux; 0: none
	uint32_t lease_ms;  // of keys that are held
	uint64_t frames;    // exit after so many were shown; 0: never
	bool convert;	    // convert what the compositor cannot show
	bool once;	    // exit when the stream ends
	bool fifo;	    // show each frame: a newer one does not supersede it
	bool input;	    // send keys, pointer and touch to the producer
	bool clipboard;	    // share the clipboard with the producer
	bool timed;	    // show frames at their present_time
	bool title_follows; // the title of the shown window, if it is one
	bool app_id_follows;
};

/* Parses the command line; exits on --help and on mistakes. */
void options_parse(struct options *options, int argc, char **argv);

#endif
