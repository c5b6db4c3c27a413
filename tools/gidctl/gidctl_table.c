// SPDX-License-Identifier: MIT
#include "gidctl_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "colours.h"

#define ROOM_LEAST 20 /* columns of a terminal; a narrower one has what it has */

static bool colours, terminal, has_width;

void style_init(bool plain) {
	terminal = !plain && terminal_obeys(STDOUT_FILENO);
	colours = !plain && colours_are_for(STDOUT_FILENO);
	has_width = !plain && isatty(STDOUT_FILENO);
}

bool style_is_terminal(void) {
	return terminal;
}

const char *style_begin(enum style style) {
	static const char *const sequences[] = {
			[STYLE_PLAIN] = "",
			[STYLE_GOOD] = "\033[32m",
			[STYLE_WARNING] = "\033[33m",
			[STYLE_BAD] = "\033[1;31m",
			[STYLE_FAINT] = "\033[2m",
			[STYLE_BOLD] = "\033[1m",
	};
	return colours ? sequences[style] : "";
}

const char *style_end(enum style style) {
	return colours && style != STYLE_PLAIN ? "\033[m" : "";
}

struct cell {
	char *text;
	enum style style;
};

struct table {
	const char *const *headings;
	size_t columns, cell_count;
	struct cell *cells;
};

struct table *table_create(const char *const *headings, size_t columns) {
	struct table *table = calloc(1, sizeof(*table));
	if (table != NULL) {
		table->headings = headings;
		table->columns = columns;
	}
	return table;
}

void table_add(struct table *table, enum style style, const char *format, ...) {
	struct cell *cells =
			reallocarray(table->cells, table->cell_count + 1, sizeof(*table->cells));
	if (cells == NULL) {
		return;
	}
	table->cells = cells;
	struct cell *cell = &cells[table->cell_count];
	va_list args;
	va_start(args, format);
	if (vasprintf(&cell->text, format, args) >= 0) {
		cell->style = style;
		table->cell_count++;
	}
	va_end(args);
}

/* Characters of UTF-8, each taken to be one column wide. */
static int width_of(const char *text) {
	int width = 0;
	for (; *text != '\0'; text++) {
		width += ((unsigned char)*text & 0xc0) != 0x80;
	}
	return width;
}

/* The bytes of its first `count` characters; it has more. */
static int bytes_of(const char *text, int count) {
	int size = 0;
	while (((unsigned char)text[size] & 0xc0) == 0x80 || count-- > 0) {
		size++;
	}
	return size;
}

static void print_cell(const char *text, enum style style, int width, bool right, bool last) {
	int pad = width - width_of(text);
	bool is_cut = pad < 0;
	int size = is_cut ? bytes_of(text, width - 1) : (int)strlen(text);
	pad = is_cut ? 0 : pad;
	printf("%*s%s%.*s%s%s%*s", right ? pad : 0, "", style_begin(style), size, text,
			is_cut ? "…" : "", style_end(style), right || last ? 0 : pad, "");
	fputs(last ? "\n" : "  ", stdout);
}

/* What the terminal has room for; 0: it is none, and has room for all. */
static int columns_of_terminal(void) {
	struct winsize size;
	return !has_width || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ? 0 : size.ws_col;
}

static int least(int a, int b) {
	return a < b ? a : b;
}

/* So that each column has room beside the first one, which has what they leave, or half of it. */
static void limit_widths(const struct table *table, int *widths, int room) {
	int widest = 0;
	for (size_t i = 1; i < table->columns; i++) {
		widest = widths[i] > widest ? widths[i] : widest;
	}
	if (room < ROOM_LEAST) {
		return;
	}
	widths[0] = least(widths[0], room - 2 - least(widest, room - 2 - room / 2));
	for (size_t i = 1; i < table->columns; i++) {
		widths[i] = least(widths[i], room - 2 - widths[0]);
	}
}

/* The end of the columns from `begin` on that have room beside the first. */
static size_t find_end(const struct table *table, const int *widths, size_t begin, int room) {
	int used = begin == 0 ? -2 : widths[0];
	size_t end = begin;
	while (end < table->columns) {
		used += 2 + widths[end];
		if (room > 0 && used > room && end > begin) {
			break;
		}
		end++;
	}
	return end;
}

/* Those columns of a row, and the first before them. */
static void print_row(const struct table *table, const int *widths, size_t begin, size_t end,
		const struct cell *cells) {
	for (size_t i = begin == 0 ? 0 : begin - 1; i < end; i++) {
		size_t column = i < begin ? 0 : i;
		const char *heading = table->headings[column];
		bool right = heading[0] == '>';
		const char *text = cells == NULL ? heading + right : cells[column].text;
		print_cell(text, cells == NULL ? STYLE_BOLD : cells[column].style, widths[column],
				right, i + 1 == end);
	}
}

void table_print(const struct table *table) {
	int *widths = calloc(table->columns, sizeof(*widths));
	if (widths == NULL) {
		return;
	}
	for (size_t i = 0; i < table->columns; i++) {
		widths[i] = width_of(table->headings[i]) - (table->headings[i][0] == '>');
	}
	for (size_t i = 0; i < table->cell_count; i++) {
		int width = width_of(table->cells[i].text);
		int *most = &widths[i % table->columns];
		*most = width > *most ? width : *most;
	}
	int room = columns_of_terminal();
	limit_widths(table, widths, room);
	for (size_t begin = 0, end; begin < table->columns; begin = end) {
		end = find_end(table, widths, begin, room);
		print_row(table, widths, begin, end, NULL);
		for (size_t i = 0; i + table->columns <= table->cell_count; i += table->columns) {
			print_row(table, widths, begin, end, &table->cells[i]);
		}
		if (table->cell_count == 0) {
			break; /* more headings of nothing help nobody */
		}
	}
	free(widths);
}

void table_destroy(struct table *table) {
	if (table == NULL) {
		return;
	}
	for (size_t i = 0; i < table->cell_count; i++) {
		free(table->cells[i].text);
	}
	free(table->cells);
	free(table);
}
