// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gidctl_table.h"

static bool colours, terminal;

void look_init(bool plain) {
	terminal = !plain && isatty(STDOUT_FILENO);
	colours = terminal && getenv("NO_COLOR") == NULL;
}

bool look_is_terminal(void) {
	return terminal;
}

const char *look_begin(enum look look) {
	static const char *const sequences[] = {
			[LOOK_PLAIN] = "",
			[LOOK_GOOD] = "\033[32m",
			[LOOK_WARNING] = "\033[33m",
			[LOOK_BAD] = "\033[1;31m",
			[LOOK_FAINT] = "\033[2m",
			[LOOK_BOLD] = "\033[1m",
	};
	return colours ? sequences[look] : "";
}

const char *look_end(enum look look) {
	return colours && look != LOOK_PLAIN ? "\033[m" : "";
}

struct cell {
	char *text;
	enum look look;
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

void table_add(struct table *table, enum look look, const char *format, ...) {
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
		cell->look = look;
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

static void print_cell(const char *text, enum look look, int width, bool right, bool last) {
	int pad = width - width_of(text);
	printf("%*s%s%s%s%*s", right ? pad : 0, "", look_begin(look), text, look_end(look),
			right || last ? 0 : pad, "");
	fputs(last ? "\n" : "  ", stdout);
}

/* How many columns, from the left, the terminal has room for; elsewhere all. */
static size_t columns_that_fit(const struct table *table, const int *widths) {
	struct winsize size;
	if (!terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0) {
		return table->columns;
	}
	size_t count = 0;
	for (int used = 0; count < table->columns; count++) {
		used += widths[count] + (count > 0 ? 2 : 0);
		if (used > size.ws_col && count > 0) {
			break;
		}
	}
	return count;
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
	size_t shown = columns_that_fit(table, widths);
	for (size_t i = 0; i < shown; i++) {
		const char *heading = table->headings[i];
		bool right = heading[0] == '>';
		print_cell(heading + right, LOOK_BOLD, widths[i], right, i + 1 == shown);
	}
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t column = i % table->columns;
		if (column < shown) {
			print_cell(table->cells[i].text, table->cells[i].look, widths[column],
					table->headings[column][0] == '>', column + 1 == shown);
		}
	}
	if (shown < table->columns) {
		printf("%s(too narrow for", look_begin(LOOK_FAINT));
		for (size_t i = shown; i < table->columns; i++) {
			const char *heading = table->headings[i];
			printf("%s %s", i > shown ? "," : "", heading + (heading[0] == '>'));
		}
		printf(")%s\n", look_end(LOOK_FAINT));
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
