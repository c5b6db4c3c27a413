// SPDX-License-Identifier: MIT
#include "option_number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

uint64_t option_number(const char *option, const char *text, uint64_t least, uint64_t most,
		struct argp_state *state) {
	char *end;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	/* strtoull() takes signs and spaces, too */
	bool plain = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
	if (plain && number >= least && number <= most) {
		return number;
	}
	if (most == UINT64_MAX) {
		argp_error(state, "--%s must be a number from %" PRIu64 ", not %s", option, least,
				text);
	} else {
		argp_error(state, "--%s must be a number from %" PRIu64 " to %" PRIu64 ", not %s",
				option, least, most, text);
	}
	return least; /* argp_error() has ended the program */
}

double option_decimal(const char *option, const char *text, double least, double most,
		struct argp_state *state) {
	char *end;
	double number = strtod(text, &end);
	/* strtod() takes more: signs, spaces, exponents, "0x10", "inf" and "nan" */
	bool plain = end != text && *end == '\0' && strspn(text, "0123456789.") == strlen(text);
	if (plain && number >= least && number <= most) {
		return number;
	}
	argp_error(state, "--%s must be a number from %g to %g, not %s", option, least, most, text);
	return least;
}
