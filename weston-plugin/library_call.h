// SPDX-License-Identifier: MIT
/** One library's calls of a function, led to another one: as LD_PRELOAD does it for all libraries.
 */
#ifndef GID_WESTON_LIBRARY_CALL_H
#define GID_WESTON_LIBRARY_CALL_H

typedef void (*library_function)(void);

/*
 * From now on the library that has the function `of` calls `replacement` where it called the
 * function `name` of another one. For good: `replacement` must stay. Returns 0; -ENOENT: it does
 * not call that; -ENOTSUP: not on this machine, or what mprotect() says.
 */
int library_call_replace(library_function of, const char *name, library_function replacement);

/* The same of the first library whose file's name ends so. -ENOENT also where there is none. */
int library_call_replace_in(const char *ending, const char *name, library_function replacement);

#endif
