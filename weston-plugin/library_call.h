// SPDX-License-Identifier: MIT
/** Redirects one library's calls of a function, as LD_PRELOAD does for all libraries. */
#ifndef GID_WESTON_LIBRARY_CALL_H
#define GID_WESTON_LIBRARY_CALL_H

typedef void (*library_function)(void);

/*
 * From now on the library that contains the function `of` calls `replacement` in place of the
 * imported function `name`. This cannot be undone: `replacement` must stay loaded. Returns 0;
 * -ENOENT: the library does not import `name`; -ENOTSUP: not on this machine; or the error of
 * mprotect().
 */
int library_call_replace(library_function of, const char *name, library_function replacement);

/*
 * The same for the first library whose file name ends with `ending`. -ENOENT also if there is none.
 */
int library_call_replace_in(const char *ending, const char *name, library_function replacement);

#endif
