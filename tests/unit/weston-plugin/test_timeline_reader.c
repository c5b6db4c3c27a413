// SPDX-License-Identifier: MIT
/* What Weston writes into its timeline is understood, and nothing that a client can put there. */
#include "timeline_reader.h"

#include <string.h>

#include "tap.h"

static struct timeline_reader reader;
static struct timeline_line line;

static enum timeline_kind read_piece(const char *piece) {
	timeline_read(&reader, piece, strlen(piece), &line);
	return line.kind;
}

static void test_points(void) {
	tap_ok(read_piece("{ \"T\":[12, 345], \"N\":\"core_commit_damage\", \"ws\":7 }\n") ==
							TIMELINE_COMMIT &&
					line.time_ns == 12000000345 && line.surface == 7 &&
					line.output == 0,
			"a commit has its time and surface");
	tap_ok(read_piece("{ \"T\":[0, 1], \"N\":\"core_flush_damage\", \"ws\":3, \"wo\":4 }\n") ==
							TIMELINE_FLUSH &&
					line.surface == 3 && line.output == 4,
			"a flush has its surface and output");
	tap_ok(read_piece("{ \"T\":[1, 0], \"N\":\"core_repaint_begin\", \"wo\":1 }\n") ==
							TIMELINE_BEGIN &&
					line.output == 1 && line.stamp_ns == TIMELINE_NONE,
			"a begin has no stamp");
	tap_ok(read_piece("{ \"T\":[1, 0], \"N\":\"core_repaint_finished\", \"wo\":1, "
			  "\"vblank_monotonic\":[2, 999999999] }\n") == TIMELINE_FINISHED &&
					line.stamp_ns == 2999999999,
			"a finish has the time of its vblank");
	tap_ok(read_piece("{ \"T\":[9, 0], \"N\":\"renderer_gpu_end\", \"gpu\":[8, 5], \"wo\":2 "
			  "}\n") == TIMELINE_GPU_END &&
					line.stamp_ns == 8000000005 && line.output == 2,
			"GPU work has its own time");
	tap_ok(read_piece("{ \"T\":[1, 0], \"N\":\"core_repaint_begins\", \"wo\":1 }\n") ==
					TIMELINE_OTHER,
			"a name that only begins like one is another");
	tap_ok(read_piece("{ \"T\":[1, 0], \"N\":\"gid_shown\", \"stream\":\"film\" }\n") ==
					TIMELINE_OTHER,
			"points of others are none of ours");
}

static void test_declarations(void) {
	tap_ok(read_piece("{ \"id\":3, \"type\":\"weston_output\", \"name\":") == TIMELINE_OTHER &&
					read_piece("\"DP-1\"") == TIMELINE_OUTPUT &&
					line.output == 3 && strcmp(line.name, "DP-1") == 0,
			"an output is declared in pieces");
	tap_ok(read_piece(" }\n") == TIMELINE_OTHER, "the end of a declaration says nothing");
	tap_ok(read_piece("{ \"id\":4, \"type\":\"weston_output\", \"name\":\"a \"b\" }\" }\n") ==
							TIMELINE_OUTPUT &&
					line.output == 4 && strcmp(line.name, "a \"b\" }") == 0,
			"or in one, with quotes in its name");
	char piece[400] = "\"";
	memset(piece + 1, 'x', 300);
	strcpy(piece + 301, "\"");
	read_piece("{ \"id\":3, \"type\":\"weston_output\", \"name\":");
	tap_ok(read_piece(piece) == TIMELINE_OUTPUT && strlen(line.name) == sizeof(line.name) - 1,
			"a long name is cut off");
	read_piece("{ \"id\":3, \"type\":\"weston_output\", \"name\":");
	tap_ok(read_piece("null") == TIMELINE_OTHER, "an output without a name is not known");
}

static void test_forgeries(void) {
	read_piece("{ \"id\":5, \"type\":\"weston_surface\", \"desc\":");
	tap_ok(read_piece("\"title\" }\n{ \"T\":[1, 0], \"N\":\"core_repaint_begin\", \"wo\":1 "
			  "}\n\"") == TIMELINE_OTHER,
			"a point within a title is none");
	tap_ok(read_piece("{ \"id\":5, \"type\":\"weston_surface\", \"desc\":\"\"wo\":1, \"type\":"
			  "\"weston_output\", \"name\":\"DP-1\" }\n") == TIMELINE_OTHER,
			"a title that looks like an output is none");
	tap_ok(read_piece("{ \"T\":[1, 0], \"N\":\"gid_commit\", \"surface\":\"\"N\":"
			  "\"core_repaint_begin\"\", \"wo\":1 }\n") == TIMELINE_OTHER,
			"a point is what its own name says");
}

static void test_broken(void) {
	static const char *const pieces[] = {"", "{", "{ \"T\":[", "{ \"T\":[1", "{ \"T\":[1, ",
			"{ \"T\":[1, 1000000000], \"N\":\"core_repaint_begin\", \"wo\":1 }\n",
			"{ \"T\":[-1, 0], \"N\":\"core_repaint_begin\", \"wo\":1 }\n",
			"{ \"T\":[99999999999999999999, 0], \"N\":\"core_repaint_begin\", \"wo\":1 "
			"}\n",
			"{ \"id\":4294967296, \"type\":\"weston_output\", \"name\":\"x\" }\n",
			"{ \"id\":, \"type\":\"weston_output\", \"name\":\"x\" }\n"};
	bool good = true;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		good = good && read_piece(pieces[i]) == TIMELINE_OTHER;
	}
	tap_ok(good, "broken pieces say nothing");
	tap_ok(read_piece("{ \"T\":[1, 0], \"N\":\"core_repaint_begin\", \"wo\":4294967296 }\n") ==
							TIMELINE_BEGIN &&
					line.output == 0,
			"an id out of range is none");
}

int main(void) {
	test_points();
	test_declarations();
	test_forgeries();
	test_broken();
	return tap_finish();
}
