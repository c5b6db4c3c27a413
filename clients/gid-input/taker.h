// SPDX-License-Identifier: MIT
/* Who takes the input: the kernel's uinput, a compositor of wlroots, or an EIS server. */
#ifndef GID_INPUT_TAKER_H
#define GID_INPUT_TAKER_H

#include <input_format.h>
#include <systemd/sd-event.h>

struct taker {
	bool pens; // it knows them; else they come as a pointer
	void (*destroy)(struct taker *taker);
	/* Devices that are there from now on: bits of enum input_devices. */
	void (*add_devices)(struct taker *taker, uint32_t devices);
	/* One event, of which groups end by INPUT_GROUP_END. */
	void (*handle)(struct taker *taker, const struct input_record *event);
	/* The keymap of the sender, NULL: it has none. NULL: none is wanted. */
	void (*use_keymap)(struct taker *taker, const char *text);
};

struct taker_options {
	const char *device;	// of uinput
	const char *output;	// of the compositor, that the picture is of; NULL: all of them
	bool sender_keymap;	// keys mean what they mean there
	uint32_t width, height; // of the EIS server's screen; 0: as its regions say
};

/* Each returns NULL after saying on stderr what is wrong. */
struct taker *uinput_taker_create(const struct taker_options *options);
struct taker *wlr_taker_create(const struct taker_options *options, sd_event *event);
/* Only with INPUT_HAS_LIBEI. */
struct taker *libei_taker_create(const struct taker_options *options, sd_event *event);

#endif
