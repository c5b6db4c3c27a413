# SPDX-License-Identifier: MIT
"""Makes the C source of gid._gid, the extension that calls libgid, from libgid's own headers.

    build_gid.py OUTPUT.c [FLAG…]

FLAG are the preprocessor's, as those of `pkg-config --cflags libgid`, which are taken where none
are given. What Python can call is what the headers declare: there is no list beside them.
"""

import os
import re
import shlex
import subprocess
import sys

from cffi import FFI

# What is done for each frame is C, in one call that lets other threads run; and what libgid calls
# while it is called itself is C, too: an exception has no way out of Python there, so a Ctrl-C
# would be lost. All of it is called under the connection's lock.
STRUCTS = """
struct gid_py_import {
	bool is_asked; /* and gidd has not answered yet */
	bool is_done;
	int error;
	struct gid_slab *slab; /* a reference of the caller's */
};

/* A consumer, with the memory of the frame that came last. */
struct gid_py_reader {
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	const struct gid_slab *known; /* that Python has seen; NULL: none */
	struct gid_py_import memory;
};

enum gid_py_taken {
	GID_PY_KNOWN = 1, /* a picture in the memory that is known */
	GID_PY_OTHER = 2, /* one in other memory, or in memory that gidd is asked for */
	GID_PY_MARK = 3,  /* an entry without a picture */
};
"""
OURS = """
int gid_py_take(struct gid_py_reader *, struct gid_frame *);
bool gid_py_is_current(const struct gid_consumer *, const struct gid_frame *,
		const struct gid_slab *);
bool gid_py_release(struct gid_consumer *, const struct gid_frame *, const struct gid_slab *);
int gid_py_take_slot(struct gid_producer *, struct gid_slab *, bool, bool);
void gid_py_begin(struct gid_frame *);
int gid_py_send(struct gid_producer *, struct gid_slab *, uint32_t, struct gid_frame *,
		const char *, uint32_t);
void gid_py_settle(struct gid_slab *, uint32_t);
void gid_py_released(void *, gid_id);
void free(void *);
"""
SOURCE = (
    """
#include <errno.h>
#include <gid/stream.h>
#include <stdbool.h>
#include <stdlib.h>
"""
    + STRUCTS
    + """
static void gid_py_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct gid_py_import *import = data;
	*import = (struct gid_py_import){.is_done = true, .error = error, .slab = slab};
}

/* Receives the next entry, and asks for its memory: enum gid_py_taken, or -errno. */
static int gid_py_take(struct gid_py_reader *reader, struct gid_frame *frame) {
	int result = gid_consumer_receive(reader->consumer, frame);
	if (result != 1) {
		return result;
	}
	if (frame->gid == GID_NONE) {
		return GID_PY_MARK;
	}
	struct gid_py_import *memory = &reader->memory;
	struct gid_slab *slab = NULL;
	if (memory->is_asked) { /* for a frame that an exception has lost */
		gid_slab_import_cancel(reader->domain, memory);
	}
	*memory = (struct gid_py_import){0};
	int error = gid_slab_import_async(
			reader->domain, frame->gid, gid_py_imported, memory, &slab);
	if (error == 0 && slab == reader->known) {
		gid_slab_unref(slab);
		return GID_PY_KNOWN;
	}
	if (error == -EINPROGRESS) {
		memory->is_asked = true;
	} else {
		gid_py_imported(memory, frame->gid, error, slab);
	}
	return GID_PY_OTHER;
}

/* Whether all that was read of the frame until now is what was sent. */
static bool gid_py_is_current(const struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab) {
	int held = gid_consumer_holds(consumer, frame, slab, NULL);
	if (held == -ENOTCONN) { /* the stream is over, its memory may be as it was */
		return gid_slab_is_current(slab, frame->gid);
	}
	return held == 0;
}

static bool gid_py_release(struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab) {
	bool current = gid_py_is_current(consumer, frame, slab);
	gid_consumer_release(consumer, frame);
	return current;
}

/*
 * A free slot. What came back is collected where there is none, and if `hears`. -EAGAIN: all are
 * held, and the next release rings.
 */
static int gid_py_take_slot(
		struct gid_producer *producer, struct gid_slab *slab, bool patient, bool hears) {
	int index = -EAGAIN;
	bool has_room = false;
	for (int i = hears ? 1 : 0; i < 2 && index < 0; i++) {
		if (i == 1) {
			gid_producer_dispatch(producer);
		}
		has_room = !patient || gid_producer_room(producer) > 0;
		index = has_room ? gid_slab_take(slab) : -EAGAIN;
	}
	if (index < 0 && !patient && gid_producer_reclaim(producer, false) > 0) {
		index = gid_slab_take(slab);
	}
	if (index < 0 && has_room) {
		gid_producer_lacks_memory(producer);
	}
	if (index < 0) {
		gid_producer_want_release(producer);
	}
	return index;
}

/* A frame of which nothing is said. */
static void gid_py_begin(struct gid_frame *frame) {
	*frame = (struct gid_frame)GID_FRAME_INIT;
}

/* Sends a slot. It came to be now, where nothing else is said. */
static int gid_py_send(struct gid_producer *producer, struct gid_slab *slab, uint32_t index,
		struct gid_frame *frame, const char *metadata, uint32_t size) {
	frame->gid = gid_slab_gid(slab, index);
	if (frame->capture_time == GID_TIME_NONE) {
		frame->capture_time = gid_clock_now();
	}
	int error = gid_producer_put_metadata(producer, frame, metadata, size);
	return error < 0 ? error : gid_producer_send(producer, frame);
}

/* Of a slot that was to be sent: it is free if nobody has it. */
static void gid_py_settle(struct gid_slab *slab, uint32_t index) {
	if (gid_slab_holders(slab, index) == 0) {
		gid_slab_give(slab, index);
	}
}

static void gid_py_released(void *data, gid_id gid) {
	gid_slab_give(data, gid_slot_of(gid));
}
"""
)


def pkg_config(what: str) -> list[str]:
    command = [os.environ.get("PKG_CONFIG", "pkg-config"), what, "libgid"]
    return shlex.split(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def headers(flags: list[str]) -> str:
    """What <gid/stream.h> declares and defines, without what it includes of libc."""
    command = [*shlex.split(os.environ.get("CC", "cc")), "-E", "-dD", *flags, "-x", "c", "-"]
    text = subprocess.run(
        command, input="#include <gid/stream.h>\n", check=True, capture_output=True, text=True
    ).stdout
    kept, is_ours = [], False
    for line in text.splitlines():
        if marker := re.match(r'# \d+ "(.*?)"', line):
            is_ours = re.search(r"(^|/)gid/\w+\.h$", marker[1]) is not None
        elif is_ours:
            kept.append(line)
    return "\n".join(kept)


def declarations(text: str) -> str:
    """The same in cffi's words, which leaves the values of constants to the compiler."""
    constants = re.findall(r"^#define (GID_\w+) +(?!\{)\S", text, re.M)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    text = re.sub(r"static inline ([^{;]*?)\s*\{.*?\n\}", r"\1;", text, flags=re.S)
    enums = re.compile(r"(\benum \w+ \{)(.*?)\}", re.S)
    text = enums.sub(lambda m: m[1] + re.sub(r"=[^,}]*", "= ...", m[2]) + "}", text)
    return text + "".join(f"\n#define {name} ..." for name in constants) + STRUCTS + OURS


def make(flags: list[str], **options: list[str]) -> FFI:
    made = FFI()
    made.cdef(declarations(headers(flags)))
    made.set_source("gid._gid", SOURCE, **options)
    return made


def for_setuptools() -> FFI:
    """With the libgid that is installed: setup.py names this."""
    flags = pkg_config("--cflags")
    return make(flags, extra_compile_args=flags, extra_link_args=pkg_config("--libs"))


if __name__ == "__main__":
    make(sys.argv[2:] or pkg_config("--cflags")).emit_c_code(sys.argv[1])
