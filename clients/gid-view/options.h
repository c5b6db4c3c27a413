// SPDX-License-Identifier: MIT
#ifndef GID_VIEW_OPTIONS_H
#define GID_VIEW_OPTIONS_H

#include "common/window.h"

struct options {
	struct window_options window;
	const char *owner; // domain that owns the stream; NULL: our own
	const char *stream;
	const char *desktop;	// the owner, where its picture is to follow the window; else NULL
	const char *reader;	// domain in whose name it is read; NULL: $GID_DOMAIN
	const char *stats_path; // NULL: none
	const char *role;	// of the picture, that the compositor forwards; NULL: none
	uint32_t credit;
	uint32_t grab_key;  // KEY_* of Linux; 0: none
	uint32_t lease_ms;  // of what is held
	uint64_t frames;    // to show before the end; 0: no end
	bool convert;	    // what the compositor cannot show
	bool once;	    // ends with the stream
	bool fifo;	    // no frame takes the place of one that was not shown
	bool input;	    // keys, pointer and fingers go back to who made the picture
	bool clipboard;	    // of the user, in common with who made the picture
	bool timed;	    // frames are shown when they are meant to be
	bool title_follows; // what the program calls its window, where the stream is one
	bool app_id_follows;
};

/* Reads the command line; ends the process on --help and on mistakes. */
void options_parse(struct options *options, int argc, char **argv);

#endif
