// SPDX-License-Identifier: MIT
/* The event loop of a program's main(). */
#ifndef CLIENTS_MAIN_LOOP_H
#define CLIENTS_MAIN_LOOP_H

#include <systemd/sd-event.h>

/*
 * Runs the loop until it is left. Returns the exit status that it was left with, or EXIT_FAILURE
 * after saying on stderr why it could not run.
 */
int main_loop_run(sd_event *event);

#endif
