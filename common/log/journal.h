// SPDX-License-Identifier: MIT
#ifndef GID_JOURNAL_H
#define GID_JOURNAL_H

#include <stdbool.h>

/*
 * Whether standard error goes to systemd's journal, which takes a level in front of each line. That
 * $JOURNAL_STREAM is set alone says no more than that some program before us had one, as a desktop.
 */
bool journal_has_errors(void);

#endif
