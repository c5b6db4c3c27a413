// SPDX-License-Identifier: MIT
/** Messages to be judged: a valid one of each type, and what must come of it when it is changed. */
#ifndef GID_TESTS_MESSAGES_H
#define GID_TESTS_MESSAGES_H

#include <errno.h>
#include <string.h>

#include "tap.h"
#include "wire.h"

#define XRGB8888 0x34325258u /* DRM_FORMAT_XRGB8888 */

/* A valid message of the type, with something in every field that may have something. */
void fill(union gid_wire_message *message, uint32_t type);

/* The outcome of a message as it stands, with the size and descriptors of its type. */
static inline int check(const union gid_wire_message *message, const char **why) {
	uint32_t size = 0, fd_count = 0;
	gid_wire_shape(message->header.type, &size, &fd_count);
	return gid_wire_check(message, size, fd_count, why);
}

static inline void expect(const union gid_wire_message *message, int result, const char *what) {
	const char *why;
	int got = check(message, &why);
	tap_ok(got == result && (why == NULL) == (result == 0), "%s gives %d (got %d: %s)", what,
			result, got, why == NULL ? "valid" : why);
}

/* Each reserved field refuses every single bit. `m` must be valid. */
#define EXPECT_ZERO(m, field)                                                                      \
	do {                                                                                       \
		bool refused = true;                                                               \
		const char *why_;                                                                  \
		for (unsigned bit = 0; bit < 8 * sizeof(field); bit++) {                           \
			(field) ^= (__typeof__(field))1 << bit;                                    \
			refused &= check(m, &why_) == -EPROTO;                                     \
			(field) ^= (__typeof__(field))1 << bit;                                    \
		}                                                                                  \
		tap_ok(refused, "%s must be 0", #field);                                           \
	} while (0)

/* The field takes `least` and `most`, and not what lies beside them. */
#define EXPECT_RANGE(m, field, least, most)                                                        \
	do {                                                                                       \
		const char *why_;                                                                  \
		__typeof__(field) old_ = (field);                                                  \
		(field) = (least);                                                                 \
		bool good_ = check(m, &why_) == 0;                                                 \
		(field) = (most);                                                                  \
		good_ &= check(m, &why_) == 0;                                                     \
		(field) = (least);                                                                 \
		(field)--;                                                                         \
		good_ &= check(m, &why_) == -EPROTO;                                               \
		(field) = (most);                                                                  \
		(field)++;                                                                         \
		good_ &= check(m, &why_) == -EPROTO;                                               \
		(field) = old_;                                                                    \
		tap_ok(good_, "%s is from %s to %s", #field, #least, #most);                       \
	} while (0)

#endif
