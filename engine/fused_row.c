// SPDX-License-Identifier: MIT
#include "fused_row.h"

#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>

#define VECTORS __attribute__((target("avx2")))
#define BLOCK 32u /* pixels, in four vectors */

bool fused_row_can(void) {
	return __builtin_cpu_supports("avx2");
}

/* Each byte of `of` multiplied by the byte of `by`, whose upper ones are 0, and divided by 255. */
VECTORS static inline __m256i multiply(__m256i of, __m256i by) {
	const __m256i half = _mm256_set1_epi16(128), step = _mm256_set1_epi16(257);
	__m256i even = _mm256_and_si256(of, _mm256_set1_epi16(255));
	__m256i odd = _mm256_srli_epi16(of, 8);
	even = _mm256_add_epi16(_mm256_mullo_epi16(even, by), half);
	odd = _mm256_add_epi16(_mm256_mullo_epi16(odd, by), half);
	even = _mm256_mulhi_epu16(even, step);
	odd = _mm256_slli_epi16(_mm256_mulhi_epu16(odd, step), 8);
	return _mm256_or_si256(even, odd);
}

VECTORS static inline __m256i over(__m256i source, __m256i target) {
	const __m256i alpha = _mm256_srli_epi32(source, 24);
	const __m256i both = _mm256_or_si256(alpha, _mm256_slli_epi32(alpha, 16));
	const __m256i rest = _mm256_xor_si256(both, _mm256_set1_epi16(255));
	return _mm256_adds_epu8(multiply(target, rest), source);
}

VECTORS static inline __m256i blend(
		const struct row_layer *layer, uint32_t at, __m256i colour, __m256i target) {
	__m256i source = colour;
	if (layer->pixels != NULL) {
		source = _mm256_loadu_si256((const __m256i *)(const void *)(layer->pixels + at));
		source = _mm256_or_si256(source, _mm256_set1_epi32((int)layer->opaque));
	}
	if (layer->alpha != 255) {
		source = multiply(source, _mm256_set1_epi16(layer->alpha));
	}
	return layer->replaces ? source : over(source, target);
}

VECTORS static void draw_block(
		uint32_t *target, const struct row_layer *layers, uint32_t count, uint32_t at) {
	__m256i *vectors = (__m256i *)(void *)(target + at);
	__m256i one = _mm256_loadu_si256(vectors), two = _mm256_loadu_si256(vectors + 1);
	__m256i three = _mm256_loadu_si256(vectors + 2), four = _mm256_loadu_si256(vectors + 3);
	for (uint32_t i = 0; i < count; i++) {
		const __m256i colour = _mm256_set1_epi32((int)layers[i].colour);
		one = blend(&layers[i], at, colour, one);
		two = blend(&layers[i], at + 8, colour, two);
		three = blend(&layers[i], at + 16, colour, three);
		four = blend(&layers[i], at + 24, colour, four);
	}
	_mm256_storeu_si256(vectors, one);
	_mm256_storeu_si256(vectors + 1, two);
	_mm256_storeu_si256(vectors + 2, three);
	_mm256_storeu_si256(vectors + 3, four);
}

/* Less than a block, in copies of one. */
static void draw_rest(uint32_t *target, const struct row_layer *layers, uint32_t count, uint32_t at,
		uint32_t width) {
	struct row_layer copies[FUSED_LAYERS_MAX] = {0};
	uint32_t pixels[FUSED_LAYERS_MAX + 1][BLOCK];
	uint32_t *drawn = pixels[FUSED_LAYERS_MAX];
	memset(pixels, 0, count * sizeof(pixels[0]));
	memset(drawn, 0, sizeof(pixels[0]));
	memcpy(drawn, target + at, width * sizeof(*drawn));
	for (uint32_t i = 0; i < count; i++) {
		copies[i] = layers[i];
		if (layers[i].pixels != NULL) {
			copies[i].pixels = memcpy(
					pixels[i], layers[i].pixels + at, width * sizeof(*drawn));
		}
	}
	draw_block(drawn, copies, count, 0);
	memcpy(target + at, drawn, width * sizeof(*drawn));
}

void fused_row(uint32_t *target, const struct row_layer *layers, uint32_t count, uint32_t width) {
	uint32_t at = 0;
	for (; at + BLOCK <= width; at += BLOCK) {
		draw_block(target, layers, count, at);
	}
	if (at < width) {
		draw_rest(target, layers, count, at, width - at);
	}
}

#else

bool fused_row_can(void) {
	return false;
}

void fused_row(uint32_t *target, const struct row_layer *layers, uint32_t count, uint32_t width) {
}

#endif
