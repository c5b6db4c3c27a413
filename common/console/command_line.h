// SPDX-License-Identifier: MIT
/* How the options of all programs are read. */
#ifndef CONSOLE_COMMAND_LINE_H
#define CONSOLE_COMMAND_LINE_H

#include <argp.h>

/*
 * As argp_parse(). -h is --help. Who uses the program wrongly gets EXIT_USAGE, with the word that
 * the program does not take.
 */
void command_line_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
