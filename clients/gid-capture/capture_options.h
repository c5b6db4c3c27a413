// SPDX-License-Identifier: MIT
/* The command line of gid-capture. */
#ifndef GID_CAPTURE_CAPTURE_OPTIONS_H
#define GID_CAPTURE_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct capture_options {
	const char *domain; // NULL: $GID_DOMAIN
	const char *stream;
	const char *output, *window; // NULL: the only output
	const char *clipboard;	     // the domain that it is in common with; NULL: none
	bool no_cursor;
	bool list;
	uint32_t rate;	 // most pictures a second; 0: each
	uint64_t frames; // to end after; 0: none
};

/* Ends the program where the command line is wrong, or asks for help. */
void capture_options_parse(struct capture_options *options, int argc, char **argv);

#endif
