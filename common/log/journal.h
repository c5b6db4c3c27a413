// SPDX-License-Identifier: MIT
#ifndef GID_JOURNAL_H
#define GID_JOURNAL_H

#include <stdbool.h>

/*
 * Whether standard error goes to systemd's journal, which takes a level in front of each line.
 * $JOURNAL_STREAM alone does not say so: it may be inherited from another program, such as a
 * desktop.
 */
bool journal_has_errors(void);

#endif
