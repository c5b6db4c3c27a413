// SPDX-License-Identifier: MIT
/**
 * The configuration of gid-cluster: one INI file, gid-cluster(1).
 *
 * Parsed once, constant afterwards.
 */
#ifndef CLUSTER_CONFIG_H
#define CLUSTER_CONFIG_H

#include <gid/protection.h>
#include <gid/stream.h>
#include <stdio.h>

#include "accepted.h"
#include "compose_window.h"
#include "role.h"

/* What is shown in place of a picture that must not be shown as live. */
enum fallback {
	FALLBACK_PATTERN, /* a picture that nobody takes for a real one */
	FALLBACK_BLANK,	  /* black */
	FALLBACK_LAST,	  /* the last picture that was displayed as live */
	FALLBACK_PICTURE, /* a PNG */
	FALLBACK_GREY,	  /* the last picture, greyed: of layers */
};

struct role_config {
	char *name, *stream;
	unsigned line;	    /* of its section */
	char *domain;	    /* who owns the stream; NULL: our own */
	char *output_name;  /* NULL: the first one */
	size_t output;	    /* the same as an index */
	struct gid_box box; /* its place on the output, in pixels */
	struct role_limits limits;
	struct accepted accepted;
	enum gid_protection_profile profile;
	char *key;			   /* the file with the protection's key; NULL: none */
	struct gid_protection *protection; /* made of these two; NULL: none */
	uint32_t takes; /* enum input_devices: what is sent back from where it is shown */
	enum fallback fallback;
	char *picture; /* the PNG's file */
};

/* A stream that is shown below the roles, and not watched. */
struct layer_config {
	char *name, *stream;
	unsigned line;	    /* of its section */
	char *domain;	    /* who owns the stream; NULL: our own */
	char *output_name;  /* NULL: the first one */
	size_t output;	    /* the same as an index */
	struct gid_box box; /* its place on the output, in pixels */
	int32_t order;	    /* those of higher numbers are above; of equal ones, later ones */
	enum fit fit;	    /* how pictures of other sizes are put there */
	struct accepted accepted;
	uint32_t takes;		/* enum input_devices: what is sent back from where it is shown */
	uint64_t deadline_ns;	/* how old a picture may be; 0: that of a stream that lives, any age
				 */
	enum fallback fallback; /* what is shown when it is older */
	char *picture;		/* the PNG's file */
};

/* The mode, where neither the configuration nor the screen says what it is. */
#define OUTPUT_REFRESH_MHZ 60000
#define OUTPUT_WIDTH 1280
#define OUTPUT_HEIGHT 720

/* Whether roles are on planes of their own, where the device has some. */
enum planes {
	PLANES_OFF,
	PLANES_ON,
	PLANES_DIRECT, /* with writeback: dma-bufs themselves, where the device takes them */
};

struct output_config {
	char *name;		/* its connector's; NULL: the first one that is connected */
	unsigned line;		/* of its section */
	uint32_t width, height; /* in pixels, 0: as in its preferred mode */
	uint32_t refresh_mhz;	/* likewise */
	enum pacing pacing;
	char *background; /* a PNG's file, behind everything; NULL: black */
	char *stream;	  /* what it shows is sent there; NULL: nowhere */
	char *panel;	  /* the input device that is on it; NULL: see panels.c */
	enum planes planes;
	uint32_t writeback; /* with planes: what is scanned out is checked each so many refreshes */
};

struct cluster_config {
	uint32_t worst_frame;	       /* percent of a refresh that a frame may take; 0: any */
	struct output_config *outputs; /* one at least */
	size_t output_count;
	struct role_config *roles;
	size_t role_count;
	struct layer_config *layers; /* from below to above */
	size_t layer_count;
};

/*
 * Reads `file` and what it names. Returns 0, -EINVAL with every mistake written to `errors` as a
 * line "path:line: what is wrong", -ENOMEM, or what opening it says. The configuration is to be
 * finished in either case.
 */
int cluster_config_read(struct cluster_config *config, const char *path, FILE *errors);
void cluster_config_finish(struct cluster_config *config);

/* What any of its roles and layers takes: enum input_devices. */
uint32_t cluster_config_takes(const struct cluster_config *config);

#endif
