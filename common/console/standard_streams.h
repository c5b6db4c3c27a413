// SPDX-License-Identifier: MIT
/* What a program's standard input, output and error are, however it was started. */
#ifndef CONSOLE_STANDARD_STREAMS_H
#define CONSOLE_STANDARD_STREAMS_H

/*
 * For the first line of main(). Those that are closed become /dev/null: else the next file or
 * socket that is opened would get what is written to them. A file that becomes too large is an
 * error, and no signal. When the program ends by exit(), and its output could not be written, it
 * says so, and its status is EXIT_FAILURE.
 */
void standard_streams_init(void);

#endif
