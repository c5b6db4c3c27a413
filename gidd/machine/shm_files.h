// SPDX-License-Identifier: MIT
/**
 * The files of windows on the host, RUNTIME/window/OWNER/NUMBER.READER-READER…, which the hub makes
 * and keeps, also for the hub that comes after it.
 */
#ifndef GIDD_SHM_FILES_H
#define GIDD_SHM_FILES_H

#include "config_windows.h"

/* A guest knows window n of domain d by the ACPI index n * 256 + d. */
#define SHM_INDEX_STEP 256u

/*
 * Calls `each` for every window of the owner that has a file, until it returns false. False: the
 * owner has no folder there.
 */
bool shm_files_each(const char *runtime, const struct config_domain *owner,
		bool (*each)(void *data, uint32_t number, const struct domain_set *readers,
				const char *path),
		void *data);

/*
 * Which windows the cockpit needs: those that have files keep their numbers. Says what is wrong.
 * 0 or -errno.
 */
int shm_files_plan(
		struct config_windows *windows, const struct config *config, const char *runtime);

/* The hub: makes the files of the planned windows that are not there, and ends all others. 0 or
 * -errno. */
int shm_files_make(
		struct config_windows *windows, const struct config *config, const char *runtime);

/*
 * The hub, while machines use the windows: makes what is missing of them for the configuration as
 * it is now. 0 or -errno.
 */
int shm_files_extend(
		struct config_windows *windows, const struct config *config, const char *runtime);

/*
 * The hub: empties a piece of the owner's window, whoever has it mapped: zeroes are there from now
 * on. 0 or -errno.
 */
int shm_files_punch(const struct config_windows *windows, const char *runtime,
		const struct config_domain *owner, uint64_t place, uint64_t size);

/*
 * The hub: writes the first pages of the owner's windows again, whatever that made of them, and
 * gives pages to those that are to have them now.
 */
void shm_files_mark(struct config_windows *windows, const char *runtime,
		const struct config_domain *owner);

/*
 * The hub: likewise, with other cookies. From now on no reader, on whatever machine, takes what is
 * in the owner's windows for what it was sent, nor the owner what others sent it. 0 or -errno.
 */
int shm_files_end_life(struct config_windows *windows, const char *runtime,
		const struct config_domain *owner);

#endif
