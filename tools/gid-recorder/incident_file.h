// SPDX-License-Identifier: MIT
/**
 * The file of an incident: gid-timeline makes it of a recording, beside us, while recording goes
 * on. It has its name only when it is whole.
 */
#ifndef RECORDER_INCIDENT_FILE_H
#define RECORDER_INCIDENT_FILE_H

#include "recording.h"

struct incident_file {
	const char *folder;
	const char *perfetto; /* see recorder_options.h */
	uint32_t keep;
	uint32_t limit; /* seconds that making a file may take */
	sd_event *event;
	sd_event_source *maker, *writer; /* of the two processes, while they are at work */
	sd_event_source *late;		 /* armed meanwhile: that takes too long */
	char *path, *partial;		 /* of what is made now */
	bool failed;
	void (*done)(void *data, bool is_written);
	void *data;
};

/* Makes the folder, and removes what another run left half done. Returns 0; or -errno, after a
 * message: it is to be finished in either case. */
int incident_file_init(struct incident_file *file, sd_event *event,
		const struct recorder_options *options, void (*done)(void *data, bool is_written),
		void *data);
void incident_file_finish(struct incident_file *file);

bool incident_file_is_busy(const struct incident_file *file);

/*
 * Begins to write the file of an incident, of what is in memory now. `done` is called when that has
 * ended; if it is not written, after a message. Returns 0 or -errno, after a message; then it is
 * not called.
 */
int incident_file_begin(struct incident_file *file, const struct recording *recording,
		const struct incident *incident);

#endif
