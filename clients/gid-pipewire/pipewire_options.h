// SPDX-License-Identifier: MIT
/* The command line of gid-pipewire. */
#ifndef GID_PIPEWIRE_PIPEWIRE_OPTIONS_H
#define GID_PIPEWIRE_PIPEWIRE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct pipewire_options {
	const char *reader; // the domain that the program runs in; NULL: $GID_DOMAIN
	const char *owner;  // of the stream; NULL: the reader
	const char *stream;
	const char *name;	 // of the node; NULL: made of owner and stream
	const char *description; // what people see; NULL: likewise
	uint32_t credit;	 // frames to have at once
	bool browsers;		 // pictures are copied into memory as browsers want it
};

/* Ends the program where the command line is wrong, or asks for help. */
void pipewire_options_parse(struct pipewire_options *options, int argc, char **argv);

#endif
