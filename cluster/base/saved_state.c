// SPDX-License-Identifier: MIT
#include "saved_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEAD "gid-cluster 2 "
#define TRANSITIONS_MAX (UINT64_C(1) << 53) /* larger numbers are not exact in JSON */

/* --- words ------------------------------------------------------------------------------------ */

struct text {
	const char *at, *end;
};

static bool text_starts(struct text *text, const char *words) {
	size_t length = strlen(words);
	if ((size_t)(text->end - text->at) < length || memcmp(text->at, words, length) != 0) {
		return false;
	}
	text->at += length;
	return true;
}

/* Takes the next word and the space after it. */
static bool text_word(struct text *text, struct text *word) {
	const char *space = memchr(text->at, ' ', (size_t)(text->end - text->at));
	if (space == NULL || space == text->at) {
		return false;
	}
	*word = (struct text){text->at, space};
	text->at = space + 1;
	return true;
}

static bool text_is(const struct text *text, const char *words) {
	size_t length = strlen(words);
	return (size_t)(text->end - text->at) == length && memcmp(text->at, words, length) == 0;
}

static bool text_number(struct text *text, uint64_t *value) {
	struct text word;
	if (!text_word(text, &word)) {
		return false;
	}
	*value = 0;
	for (; word.at < word.end; word.at++) {
		static const char digits[] = "0123456789";
		const char *digit = memchr(digits, *word.at, 10);
		if (digit == NULL || __builtin_mul_overflow(*value, 10, value) ||
				__builtin_add_overflow(*value, (uint64_t)(digit - digits), value)) {
			return false;
		}
	}
	return true;
}

static bool text_state(struct text *text, enum role_state *state) {
	struct text word;
	if (!text_word(text, &word)) {
		return false;
	}
	for (*state = ROLE_WAITING; *state <= ROLE_LOST; (*state)++) {
		if (text_is(&word, role_state_name(*state))) {
			return true;
		}
	}
	return false;
}

static bool text_reason(struct text *text, enum role_reason *reason) {
	struct text word;
	if (!text_word(text, &word)) {
		return false;
	}
	for (*reason = ROLE_REASON_NONE; *reason <= ROLE_REASON_LAST; (*reason)++) {
		if (text_is(&word, role_reason_name(*reason))) {
			return true;
		}
	}
	return false;
}

/* --- the file --------------------------------------------------------------------------------- */

/* `line` has no newline. The name comes last, as it may contain spaces. */
static bool parse_role(struct text *line, struct saved_role *role, uint64_t now) {
	struct role_past *past = &role->past;
	return text_starts(line, "role ") && text_state(line, &past->state) &&
			text_reason(line, &past->reason) && text_number(line, &past->since) &&
			text_number(line, &past->still_ns) &&
			text_number(line, &role->transitions) && past->since <= now &&
			past->still_ns <= now && role->transitions <= TRANSITIONS_MAX &&
			role_state_of(past->reason) == past->state && line->at < line->end;
}

static bool take_role(struct saved_role *roles, size_t count, const struct saved_role *found,
		const struct text *name) {
	for (size_t i = 0; i < count; i++) {
		if (text_is(name, roles[i].name)) {
			if (roles[i].known) {
				return false;
			}
			roles[i].known = true;
			roles[i].transitions = found->transitions;
			roles[i].past = found->past;
			return true;
		}
	}
	return true; /* this role is no longer configured */
}

static bool text_line(struct text *text, struct text *line) {
	const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
	if (end == NULL) {
		return false;
	}
	*line = (struct text){text->at, end};
	text->at = end + 1;
	return true;
}

int saved_state_parse(struct saved_role *roles, size_t count, const char *boot, uint64_t now,
		const char *text, size_t size) {
	struct text rest = {text, text + size}, line;
	bool good = text_line(&rest, &line) && text_starts(&line, HEAD) && text_is(&line, boot);
	while (good && rest.at < rest.end) {
		struct saved_role found;
		good = text_line(&rest, &line) && parse_role(&line, &found, now) &&
				take_role(roles, count, &found, &line);
	}
	for (size_t i = 0; i < count && !good; i++) {
		roles[i] = (struct saved_role){.name = roles[i].name};
	}
	return good ? 0 : -EINVAL;
}

int saved_state_format(const struct saved_role *roles, size_t count, const char *boot, char *text,
		size_t size) {
	int length = snprintf(text, size, HEAD "%s\n", boot);
	for (size_t i = 0; i < count && (size_t)length < size; i++) {
		const struct role_past *past = &roles[i].past;
		length += snprintf(text + length, size - (size_t)length,
				"role %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
				role_state_name(past->state), role_reason_name(past->reason),
				past->since, past->still_ns, roles[i].transitions, roles[i].name);
	}
	return (size_t)length < size ? length : -ENOSPC;
}
