// SPDX-License-Identifier: MIT
/** A set of domains: a bit for each number. */
#ifndef GIDD_DOMAIN_SET_H
#define GIDD_DOMAIN_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DOMAIN_SET_BYTES 32u

struct domain_set {
	uint8_t bits[DOMAIN_SET_BYTES];
};

static inline bool domain_set_has(const struct domain_set *set, uint32_t domain) {
	return (set->bits[domain / 8] & 1u << domain % 8) != 0;
}

static inline void domain_set_put(struct domain_set *set, uint32_t domain, bool present) {
	uint8_t bit = (uint8_t)(1u << domain % 8);
	set->bits[domain / 8] = present ? set->bits[domain / 8] | bit
					: set->bits[domain / 8] & (uint8_t)~bit;
}

static inline bool domain_set_is_equal(const struct domain_set *one, const struct domain_set *two) {
	return memcmp(one, two, sizeof(*one)) == 0;
}

static inline bool domain_set_is_empty(const struct domain_set *set) {
	return domain_set_is_equal(set, &(const struct domain_set){0});
}

static inline struct domain_set domain_set_union(
		const struct domain_set *one, const struct domain_set *two) {
	struct domain_set both = *one;
	for (uint32_t i = 0; i < DOMAIN_SET_BYTES; i++) {
		both.bits[i] |= two->bits[i];
	}
	return both;
}

static inline struct domain_set domain_set_without(
		const struct domain_set *set, const struct domain_set *other) {
	struct domain_set rest = *set;
	for (uint32_t i = 0; i < DOMAIN_SET_BYTES; i++) {
		rest.bits[i] &= (uint8_t)~other->bits[i];
	}
	return rest;
}

static inline bool domain_set_meets(const struct domain_set *one, const struct domain_set *two) {
	const struct domain_set rest = domain_set_without(one, two);
	return !domain_set_is_equal(one, &rest);
}

#endif
