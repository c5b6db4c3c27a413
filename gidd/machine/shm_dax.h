// SPDX-License-Identifier: MIT
/**
 * A window of our own as an NVDIMM, which a guest's kernel gives out as a device-dax: memory that
 * devices can write into.
 *
 * What makes it one is an information block in the file, which the hub writes. The kernel believes
 * what is in it, also where its own tables about the memory are. So only the owner of a window has
 * it like that: whoever else had it so would let the owner, who writes the file, choose that.
 */
#ifndef GIDD_SHM_DAX_H
#define GIDD_SHM_DAX_H

#include <stddef.h>
#include <stdint.h>

/* What the kernel keeps of the file for itself: the device begins behind it. */
#define SHM_DAX_HEAD (UINT64_C(2) << 20)
/* In that, the information block. */
#define SHM_DAX_INFO 4096u
#define SHM_DAX_INFO_SIZE 4096u

/* The block of a file of that size. */
void shm_dax_put_info(uint8_t block[static SHM_DAX_INFO_SIZE], uint64_t size);

/*
 * Calls `each` for every device-dax whose NVDIMM is in one of the machine's slots: window n is to
 * be in slot n.
 */
void shm_dax_each(void (*each)(void *data, uint32_t slot, const char *path), void *data);

#endif
