// SPDX-License-Identifier: MIT
/** JSON that another process says, which may be anybody's: a gidd, a gid-cluster. */
#ifndef TOOLS_FOREIGN_JSON_H
#define TOOLS_FOREIGN_JSON_H

#include <systemd/sd-json.h>

/*
 * Parses it. 0, and a reference in `*value`; or -errno: it is none, or -EILSEQ: one of its texts
 * has what no text has that can be shown. Terminals obey some of that, and our user may be root.
 * Texts may have several lines.
 */
int foreign_json_parse(const char *text, sd_json_variant **value);

/* What is to stand in a line of ours; "" for what is no text, or has lines, with which it could
 * write lines that look as if we did. `value` may be NULL. */
const char *foreign_json_line(sd_json_variant *value);

#endif
