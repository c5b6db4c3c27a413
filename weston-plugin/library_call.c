// SPDX-License-Identifier: MIT
#include "library_call.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct search {
	uintptr_t of;	    /* an address in the library; 0: it is found by its name */
	const char *ending; /* of its file name */
	const char *name;
	uintptr_t replacement;
	int result;
};

/* The dynamic section of a library. */
struct library {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * relocations[2]; /* of calls of functions, and of all else */
	size_t counts[2];
	uintptr_t sealed, sealed_end; /* read-only since it was relocated (RELRO) */
};

static bool ends_with(const char *name, const char *ending) {
	size_t length = strlen(name), end = strlen(ending);
	return length >= end && strcmp(name + length - end, ending) == 0;
}

static bool contains(const struct dl_phdr_info *info, uintptr_t address) {
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_LOAD && address >= begin &&
				address - begin < part->p_memsz) {
			return true;
		}
	}
	return false;
}

/* The linkers of some machines leave addresses there as they are in the file. */
static const void *place(const struct library *library, ElfW(Addr) address) {
	return (const void *)(address < library->base ? library->base + address : address);
}

static void read_entry(struct library *library, const ElfW(Dyn) * entry) {
	switch (entry->d_tag) {
	case DT_SYMTAB:
		library->symbols = place(library, entry->d_un.d_ptr);
		break;
	case DT_STRTAB:
		library->strings = place(library, entry->d_un.d_ptr);
		break;
	case DT_JMPREL:
		library->relocations[0] = place(library, entry->d_un.d_ptr);
		break;
	case DT_PLTRELSZ:
		library->counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
		break;
	case DT_RELA:
		library->relocations[1] = place(library, entry->d_un.d_ptr);
		break;
	case DT_RELASZ:
		library->counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
		break;
	default:
		break;
	}
}

static bool library_read(struct library *library, const struct dl_phdr_info *info) {
	*library = (struct library){.base = info->dlpi_addr};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_GNU_RELRO) {
			library->sealed = begin;
			library->sealed_end = begin + part->p_memsz;
		}
		const ElfW(Dyn) *entry = (const ElfW(Dyn) *)begin;
		for (; part->p_type == PT_DYNAMIC && entry->d_tag != DT_NULL; entry++) {
			read_entry(library, entry);
		}
	}
	return library->symbols != NULL && library->strings != NULL;
}

static int slot_write(const struct library *library, uintptr_t *slot, uintptr_t value) {
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)slot & ~(size - 1));
	bool sealed = (uintptr_t)slot >= library->sealed && (uintptr_t)slot < library->sealed_end;
	if (sealed && mprotect(page, size, PROT_READ | PROT_WRITE) != 0) {
		return -errno;
	}
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	return sealed && mprotect(page, size, PROT_READ) != 0 ? -errno : 0;
}

static int library_replace(const struct library *library, const struct search *search) {
	int result = -ENOENT;
	for (size_t table = 0; table < 2; table++) {
		for (size_t i = 0; i < library->counts[table]; i++) {
			const ElfW(Rela) *relocation = &library->relocations[table][i];
			const ElfW(Sym) *symbol =
					&library->symbols[ELF64_R_SYM(relocation->r_info)];
			const char *name = library->strings + symbol->st_name;
			if (symbol->st_shndx != SHN_UNDEF || strcmp(name, search->name) != 0) {
				continue;
			}
			result = slot_write(library,
					(uintptr_t *)(library->base + relocation->r_offset),
					search->replacement);
			if (result != 0) {
				return result;
			}
		}
	}
	return result;
}

static int handle_library(struct dl_phdr_info *info, size_t size, void *data) {
	struct search *search = data;
	struct library library;
	if (search->of != 0 ? !contains(info, search->of)
			    : !ends_with(info->dlpi_name, search->ending)) {
		return 0;
	}
	search->result =
			library_read(&library, info) ? library_replace(&library, search) : -ENOTSUP;
	return 1;
}

int library_call_replace(library_function of, const char *name, library_function replacement) {
	struct search search = {
			.of = (uintptr_t)of,
			.name = name,
			.replacement = (uintptr_t)replacement,
			.result = -ENOTSUP,
	};
	dl_iterate_phdr(handle_library, &search);
	return search.result;
}

int library_call_replace_in(const char *ending, const char *name, library_function replacement) {
	struct search search = {
			.ending = ending,
			.name = name,
			.replacement = (uintptr_t)replacement,
			.result = -ENOENT,
	};
	dl_iterate_phdr(handle_library, &search);
	return search.result;
}
