// SPDX-License-Identifier: MIT
/** Why the content of a surface cannot be sent. */
#ifndef GID_WESTON_REFUSAL_H
#define GID_WESTON_REFUSAL_H

#include <gid/stream.h>

struct refusal {
	enum gid_hidden hidden; /* for consumers */
	const char *text;	/* for the log; constant */
};

#endif
