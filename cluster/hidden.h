// SPDX-License-Identifier: MIT
/** Why a producer hides its surface, for people: what its frames say. */
#ifndef CLUSTER_HIDDEN_H
#define CLUSTER_HIDDEN_H

#include <gid/stream.h>

/* A word for programs; "" where nothing is said. */
const char *hidden_name(enum gid_hidden hidden);

/* What the surface has done. */
const char *hidden_text(enum gid_hidden hidden);

#endif
