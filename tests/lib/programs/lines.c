// SPDX-License-Identifier: MIT
#include "lines.h"

#include <stdio.h>

static void put_string(GString *out, const char *text) {
	g_string_append_c(out, '"');
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\') {
			g_string_append_printf(out, "\\%c", *c);
		} else if ((unsigned char)*c < 0x20) {
			g_string_append_printf(out, "\\u%04x", *c);
		} else {
			g_string_append_c(out, *c);
		}
	}
	g_string_append_c(out, '"');
}

void put_key(GString *out, const char *key) {
	if (out->str[out->len - 1] != '{') {
		g_string_append(out, ", ");
	}
	put_string(out, key);
	g_string_append(out, ": ");
}

void put_text(GString *out, const char *key, const char *text) {
	put_key(out, key);
	put_string(out, text != NULL ? text : "");
}

void put_number(GString *out, const char *key, guint64 number) {
	put_key(out, key);
	if (number == GST_CLOCK_TIME_NONE) {
		g_string_append(out, "null");
	} else {
		g_string_append_printf(out, "%" G_GUINT64_FORMAT, number);
	}
}

void put_structure(GString *out, const GstStructure *structure) {
	g_string_append_c(out, '{');
	for (gint i = 0; i < gst_structure_n_fields(structure); i++) {
		const char *name = gst_structure_nth_field_name(structure, i);
		const GValue *value = gst_structure_get_value(structure, name);
		GValue number = G_VALUE_INIT;

		put_key(out, name);
		g_value_init(&number, G_TYPE_INT64);
		if (GST_VALUE_HOLDS_STRUCTURE(value)) {
			put_structure(out, gst_value_get_structure(value));
		} else if (G_VALUE_HOLDS_STRING(value)) {
			put_string(out,
					g_value_get_string(value) != NULL
							? g_value_get_string(value)
							: "");
		} else if (G_VALUE_HOLDS_BOOLEAN(value)) {
			g_string_append(out, g_value_get_boolean(value) ? "true" : "false");
		} else if (g_value_transform(value, &number)) {
			g_string_append_printf(
					out, "%" G_GINT64_FORMAT, g_value_get_int64(&number));
		} else {
			g_autofree char *text = gst_value_serialize(value);
			put_string(out, text != NULL ? text : "");
		}
		g_value_unset(&number);
	}
	g_string_append_c(out, '}');
}

void print(GString *out) {
	g_string_append(out, "}\n");
	fwrite(out->str, 1, out->len, stdout);
	fflush(stdout);
	g_string_free(out, TRUE);
}
