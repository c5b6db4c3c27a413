// SPDX-License-Identifier: MIT
#include "dmabuf_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Reads the link in /proc first: fdinfo of other files can block on their file system. No file that
 * users can create has such a link, unless it lies in the root folder.
 */
void dmabuf_facts_read(struct dmabuf_facts *facts, int fd) {
	static const char link_begin[] = "/dmabuf:";
	char path[64], line[256];
	*facts = (struct dmabuf_facts){0};
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ssize_t length = readlink(path, line, sizeof(line));
	facts->is_unknown = length < 0;
	if (length < (ssize_t)strlen(link_begin) ||
			memcmp(line, link_begin, strlen(link_begin)) != 0) {
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	FILE *info = fopen(path, "re");
	bool has_size = false, has_inode = false, has_maker = false;
	/*
	 * Only the first line of each counts: the name at the end is chosen by users, and may have
	 * several lines.
	 */
	while (info != NULL && !has_maker && fgets(line, sizeof(line), info) != NULL) {
		has_size = has_size || sscanf(line, "size: %" SCNu64, &facts->size) == 1;
		has_inode = has_inode || sscanf(line, "ino: %" SCNu64, &facts->inode) == 1;
		has_maker = strncmp(line, "exp_name:", 9) == 0;
	}
	if (info != NULL) {
		fclose(info);
	}
	facts->is_dmabuf = has_size && has_inode && has_maker;
}
