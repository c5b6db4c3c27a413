// SPDX-License-Identifier: MIT
/* Makes a program's standard input, output and error usable, however it was started. */
#ifndef CONSOLE_STANDARD_STREAMS_H
#define CONSOLE_STANDARD_STREAMS_H

/*
 * To be called first in main(). Closed standard streams become /dev/null: otherwise the next file
 * or socket that is opened would get what is written to them. A file that becomes too large is an
 * error, not a signal. If the program ends by exit() and its output could not be written, it says
 * so and its status is EXIT_FAILURE.
 */
void standard_streams_init(void);

#endif
