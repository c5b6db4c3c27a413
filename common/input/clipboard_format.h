// SPDX-License-Identifier: MIT
/**
 * The published form of a clipboard stream: a frame is a text that was copied. docs/wire-input.md
 * has the same in words.
 *
 * Pure: any bytes are fine. Little-endian, the struct pinned.
 */
#ifndef GID_CLIPBOARD_FORMAT_H
#define GID_CLIPBOARD_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame_form.h"
#include "input_format.h"

#define CLIPBOARD_MAGIC 0x3170696c63646967ull /* "gidclip1" */
#define CLIPBOARD_TEXT_MAX 65536u	      /* bytes, without a NUL */

struct clipboard_head {
	uint64_t magic;
	uint32_t size;	       /* bytes of the text after the head, 1..CLIPBOARD_TEXT_MAX */
	uint32_t reserved[13]; /* 0 */
};
_Static_assert(sizeof(struct clipboard_head) == 64, "clipboard head");

extern const struct frame_form clipboard_form;

/*
 * The name of the clipboard beside a stream: clipboard/STREAM. Returns whether that is a valid
 * name.
 */
bool clipboard_stream_name(char name[INPUT_NAME_SIZE], const char *stream);

/*
 * Whether it is a text that can be sent: not empty, UTF-8, no control characters but tabs and ends
 * of lines, not too long.
 */
bool clipboard_text_is_valid(const char *text, size_t size);

/*
 * Copies the text of a frame, and checks the copy. `slot` may change meanwhile, and has the size of
 * the form; `text` has room for CLIPBOARD_TEXT_MAX bytes. Returns the size of the text; -EPROTO: it
 * is no such frame, and the copy must not be used.
 */
int clipboard_frame_read(char *text, const void *slot);

/* Writes a frame with this text, which is a valid one. */
void clipboard_frame_write(void *slot, const char *text, size_t size);

#endif
