// SPDX-License-Identifier: MIT
/** Why what a surface shows cannot be sent. */
#ifndef GID_WESTON_REFUSAL_H
#define GID_WESTON_REFUSAL_H

#include <gid/stream.h>

struct refusal {
	enum gid_hidden hidden; /* for consumers */
	const char *text;	/* for the log; constant */
};

#endif
