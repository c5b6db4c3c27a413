// SPDX-License-Identifier: MIT
/* gidctl snap: a stream's picture as a PNG, of whatever format its frames are. */
#include <drm_fourcc.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "gidctl_picture.h"
#include "gidctl_stream.h"

#define PATH_SIZE 4096
#define TRIES_S 60 /* how long pictures may come of which none can be read */

/*
 * The file of one of several pictures: its number in the place of %d, or of %05d with five digits.
 * False where the name has no such place.
 */
static bool number_file(char path[PATH_SIZE], const char *pattern, unsigned number) {
	const char *place = strchr(pattern, '%');
	unsigned digits = 0;
	if (place == NULL) {
		return false;
	}
	const char *rest = place + 1;
	while (*rest >= '0' && *rest <= '9' && digits < 10) {
		digits = digits * 10 + (unsigned)(*rest++ - '0');
	}
	if (*rest != 'd' || digits > 19) {
		return false;
	}
	int used = snprintf(path, PATH_SIZE, "%.*s%0*u%s", (int)(place - pattern), pattern,
			(int)digits, number, rest + 1);
	return used > 0 && used < PATH_SIZE;
}

static const char *explain(int error) {
	switch (error) {
	case -ENOTSUP:
		return "its memory is not rows of pixels that a processor can read";
	case -EINVAL:
		return "its layout or its crop is wrong";
	case -EBUSY:
		return "a device does not end drawing it";
	default:
		return gid_strerror(error);
	}
}

/*
 * Copies what the next frame shows. A frame that was taken back, or is not drawn yet, has a next.
 * `seconds`: as of stream_next().
 */
static bool take(struct stream *stream, double seconds, struct picture *picture) {
	const uint64_t since = gid_clock_now();
	const double limit = seconds > 0 ? seconds : TRIES_S;
	double spent = 0;
	int error = -EBUSY;
	while ((error == -EBUSY || error == -ESTALE) && spent < limit) {
		struct gid_frame frame;
		struct gid_slab *slab;
		if (!stream_next(stream, seconds > 0 ? seconds - spent : 0, &frame)) {
			return false;
		}
		error = gid_slab_import(stream->domain, frame.gid, &slab);
		if (error == 0) {
			error = picture_init(picture, slab, &frame);
			gid_slab_unref(slab);
		} else if (error == -ENOENT) {
			error = -ESTALE; /* its memory is gone, and another's is to come */
		}
		gid_consumer_release(stream->consumer, &frame);
		spent = (double)(gid_clock_now() - since) / 1e9;
	}
	if (error < 0) {
		fprintf(stderr, "gidctl: no picture of %s of domain %s: %s\n", stream->name,
				stream->owner, explain(error));
	}
	return error == 0;
}

static bool snap(struct stream *stream, const struct options *options, const char *path) {
	struct picture picture;
	if (!take(stream, options->wait, &picture)) {
		return false;
	}
	int error = picture_write(&picture, path);
	picture_finish(&picture);
	if (error < 0) {
		fprintf(stderr, "gidctl: %s: %s\n", path, strerror(-error));
	}
	return error == 0;
}

/* Other formats' endings promise what is not written. */
static bool may_be_png(const char *path) {
	const char *ending = strrchr(path, '.');
	static const char *const others[] = {".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".pdf",
			".ppm", ".svg", ".tif", ".tiff", ".webp"};
	for (size_t i = 0; ending != NULL && i < sizeof(others) / sizeof(*others); i++) {
		if (strcasecmp(ending, others[i]) == 0) {
			return false;
		}
	}
	return true;
}

int command_snap(const struct options *options) {
	char path[PATH_SIZE];
	unsigned frames = options->frames == 0 ? 1 : options->frames;
	if (options->output == NULL) {
		return usage_error("snap: which file? -o FILE.png");
	}
	if (strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO)) {
		return usage_error("snap: a PNG is nothing for a terminal: -o FILE.png");
	}
	if (!may_be_png(options->output)) {
		return usage_error("snap: %s: pictures are written as PNG: -o FILE.png",
				options->output);
	}
	if (frames > 1 && !number_file(path, options->output, 1)) {
		return usage_error("snap: several frames need several files: -o shot-%%d.png");
	}
	if (options->word_count == 0) {
		return usage_error("snap: which stream? snap [DOMAIN] STREAM -o FILE.png");
	}
	struct stream stream;
	if (!stream_init(&stream, options)) {
		return EXIT_FAILURE;
	}
	bool good = true;
	for (unsigned i = 1; good && i <= frames; i++) {
		const char *file = options->output;
		if (options->frames != 0 && number_file(path, options->output, i)) {
			file = path;
		}
		good = snap(&stream, options, file);
	}
	stream_finish(&stream);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
