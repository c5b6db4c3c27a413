// SPDX-License-Identifier: MIT
/** Where gidd listens: $GID_RUNTIME_DIR/<domain>/gidd.sock. */
#ifndef GID_SOCKET_PATH_H
#define GID_SOCKET_PATH_H

#include <stddef.h>

/*
 * Finds the path of gidd's socket for what gid_domain_connect() was given: 0 and the path, which
 * the caller frees; or -EINVAL, -ENOENT or -ENOMEM with a sentence in `why`.
 */
int gid_socket_path_find(const char *name, char **path, char *why, size_t why_size);

/* What to do about a connection to `path` that failed with `error`. */
void gid_socket_path_explain(const char *path, int error, char *why, size_t why_size);

#endif
