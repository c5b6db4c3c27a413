// SPDX-License-Identifier: MIT
/* Takes the received input: the kernel's uinput, a compositor of wlroots, or an EIS server. */
#ifndef GID_INPUT_TAKER_H
#define GID_INPUT_TAKER_H

#include <input_format.h>
#include <systemd/sd-event.h>

struct taker {
	bool pens; // it knows them; else they come as a pointer
	void (*destroy)(struct taker *taker);
	/* The sender has these devices now: bits of enum input_devices. None is taken away. */
	void (*add_devices)(struct taker *taker, uint32_t devices);
	/* An event. INPUT_GROUP_END ends a group. */
	void (*handle)(struct taker *taker, const struct input_record *event);
	/*
	 * The sender's keymap; NULL: it has none. The function may be NULL: keymaps are not wanted.
	 */
	void (*use_keymap)(struct taker *taker, const char *text);
	/*
	 * The sender wishes for a picture of this size, as input_sink.size says. The function may
	 * be NULL: wishes are not granted.
	 */
	void (*wish)(struct taker *taker, uint32_t width, uint32_t height, uint32_t scale);
};

struct taker_options {
	const char *device; // of uinput
	const char *output; // of the compositor, that the picture is of; NULL: all of them
	bool sender_keymap; // keys mean what they mean there
	uint32_t width_max, height_max; // that the sender may give the output; 0: it keeps its size
	uint32_t width, height;		// of the EIS server's screen; 0: as its regions say
};

/* Each returns NULL after saying on stderr what is wrong. */
struct taker *uinput_taker_create(const struct taker_options *options);
struct taker *wlr_taker_create(const struct taker_options *options, sd_event *event);
/* Only with INPUT_HAS_LIBEI. */
struct taker *libei_taker_create(const struct taker_options *options, sd_event *event);

#endif
