// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exports a range of a window that a program has mapped as a dma-buf, with no more rights than the
 * mapping has.
 *
 * The window is either a device-dax, whose pages are pinned, so that any device can use them; or
 * the memory of an ivshmem device, which has no struct pages: only programs can map such a dma-buf.
 * Other memory is refused.
 *
 * A dma-buf without GID_DMABUF_WRITABLE is never written. Devices may only read it, and drivers
 * cannot map it into the kernel, as such a mapping has no direction.
 */
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "gid_dmabuf.h"

#define IVSHMEM_VENDOR 0x1af4
#define IVSHMEM_DEVICE 0x1110
#define IVSHMEM_MEMORY 2 /* its BAR */
#define FAULT_AROUND 512 /* pages that one fault maps */

struct window_part {
	struct list_head entry; /* in device_parts, if the memory is a device's */
	struct dma_buf *dma_buf;
	struct mm_struct *mm; /* charged by RLIMIT_MEMLOCK */
	unsigned long count;  /* in pages */
	unsigned long pinned;
	bool writable;
	struct page **pages;	/* NULL: memory of a device */
	unsigned long pfn;	/* the first page frame of a device's memory */
	struct pci_dev *device; /* NULL: removed */
};

/* Protects the list, and `device` of the parts in it. */
static DECLARE_RWSEM(parts_lock);
static LIST_HEAD(device_parts);

/* --- the dma-buf ------------------------------------------------------------------------------ */

static int part_attach(struct dma_buf *dma_buf, struct dma_buf_attachment *attachment) {
	const struct window_part *part = dma_buf->priv;
	return part->pages == NULL ? -EOPNOTSUPP : 0;
}

static struct sg_table *part_map(
		struct dma_buf_attachment *attachment, enum dma_data_direction direction) {
	const struct window_part *part = attachment->dmabuf->priv;
	struct sg_table *table;
	int error;

	if (!part->writable && direction != DMA_TO_DEVICE) {
		return ERR_PTR(-EACCES);
	}
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (table == NULL) {
		return ERR_PTR(-ENOMEM);
	}
	error = sg_alloc_table_from_pages(
			table, part->pages, part->count, 0, part->count << PAGE_SHIFT, GFP_KERNEL);
	if (error < 0) {
		goto error_table;
	}
	error = dma_map_sgtable(attachment->dev, table, direction, 0);
	if (error < 0) {
		goto error_list;
	}
	return table;

error_list:
	sg_free_table(table);
error_table:
	kfree(table);
	return ERR_PTR(error);
}

static void part_unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
		enum dma_data_direction direction) {
	dma_unmap_sgtable(attachment->dev, table, direction, 0);
	sg_free_table(table);
	kfree(table);
}

static vm_fault_t part_fault(struct vm_fault *fault) {
	struct vm_area_struct *area = fault->vma;
	const struct window_part *part = area->vm_private_data;
	unsigned long page = fault->pgoff, address = fault->address & PAGE_MASK;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	unsigned int i;

	down_read(&parts_lock);
	for (i = 0; i < FAULT_AROUND && page < part->count && address < area->vm_end; i++) {
		vm_fault_t inserted;
		if (part->pages == NULL && part->device == NULL) {
			break;
		}
		inserted = vmf_insert_pfn(area, address,
				part->pages != NULL ? page_to_pfn(part->pages[page])
						    : part->pfn + page);
		if (i == 0) {
			ret = inserted; /* further pages may fail: they fault again */
		}
		if (inserted != VM_FAULT_NOPAGE) {
			break;
		}
		page++;
		address += PAGE_SIZE;
	}
	up_read(&parts_lock);
	return ret;
}

static const struct vm_operations_struct part_area_ops = {.fault = part_fault};

static int part_mmap(struct dma_buf *dma_buf, struct vm_area_struct *area) {
	struct window_part *part = dma_buf->priv;

	if ((area->vm_flags & (VM_SHARED | VM_MAYSHARE)) == 0) {
		return -EINVAL;
	}
	if (!part->writable) {
		if ((area->vm_flags & VM_WRITE) != 0) {
			return -EACCES;
		}
		vm_flags_clear(area, VM_MAYWRITE);
	}
	vm_flags_set(area, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	area->vm_ops = &part_area_ops;
	area->vm_private_data = part;
	return 0;
}

static int part_vmap(struct dma_buf *dma_buf, struct iosys_map *map) {
	const struct window_part *part = dma_buf->priv;
	void *address;

	if (part->pages == NULL) {
		return -EOPNOTSUPP;
	}
	if (!part->writable) {
		return -EACCES;
	}
	address = vmap(part->pages, part->count, VM_MAP, PAGE_KERNEL);
	if (address == NULL) {
		return -ENOMEM;
	}
	iosys_map_set_vaddr(map, address);
	return 0;
}

static void part_vunmap(struct dma_buf *dma_buf, struct iosys_map *map) {
	vunmap(map->vaddr);
}

static void part_free(struct window_part *part) {
	if (!list_empty(&part->entry)) {
		down_write(&parts_lock);
		list_del(&part->entry);
		up_write(&parts_lock);
	}
	if (part->pinned > 0) {
		unpin_user_pages_dirty_lock(part->pages, part->pinned, part->writable);
	}
	kvfree(part->pages);
	if (part->mm != NULL) {
		account_locked_vm(part->mm, part->count, false);
		mmdrop(part->mm);
	}
	kfree(part);
}

static void part_release(struct dma_buf *dma_buf) {
	part_free(dma_buf->priv);
}

static const struct dma_buf_ops part_ops = {
		.attach = part_attach,
		.map_dma_buf = part_map,
		.unmap_dma_buf = part_unmap,
		.mmap = part_mmap,
		.vmap = part_vmap,
		.vunmap = part_vunmap,
		.release = part_release,
};

/* --- windows ---------------------------------------------------------------------------------- */

static bool is_device_dax(const struct vm_area_struct *area) {
	return area->vm_file != NULL && S_ISCHR(file_inode(area->vm_file)->i_mode) &&
			vma_is_dax(area);
}

/* Checks that the range is mapped to consecutive page frames, and finds the first. */
static int find_pfn(struct vm_area_struct *area, unsigned long address, unsigned long count,
		unsigned long *pfn) {
	unsigned long i;

	for (i = 0; i < count; i++) {
		struct follow_pfnmap_args args = {.vma = area, .address = address + i * PAGE_SIZE};
		bool follows;
		if (follow_pfnmap_start(&args) != 0) {
			return -EFAULT;
		}
		if (i == 0) {
			*pfn = args.pfn;
		}
		follows = args.pfn == *pfn + i;
		follow_pfnmap_end(&args);
		if (!follows) {
			return -EBADF;
		}
	}
	return 0;
}

static int pin(struct window_part *part, unsigned long address) {
	unsigned int flags = FOLL_LONGTERM | (part->writable ? FOLL_WRITE : 0);

	part->pages = kvmalloc_array(part->count, sizeof(*part->pages), GFP_KERNEL_ACCOUNT);
	if (part->pages == NULL) {
		return -ENOMEM;
	}
	while (part->pinned < part->count) {
		long got = pin_user_pages(address + (part->pinned << PAGE_SHIFT),
				part->count - part->pinned, flags, part->pages + part->pinned);
		if (got <= 0) {
			return got < 0 ? (int)got : -EFAULT;
		}
		part->pinned += got;
	}
	return 0;
}

/* The caller holds the mmap lock. */
static int part_take(struct window_part *part, unsigned long address, unsigned long end) {
	struct vm_area_struct *area = vma_lookup(current->mm, address);

	if (area == NULL) {
		return -EFAULT;
	}
	if (end > area->vm_end) {
		return -ERANGE;
	}
	/* A private mapping is a copy once it is written, not the window. */
	if ((area->vm_flags & VM_MAYSHARE) == 0) {
		return -EBADF;
	}
	if ((area->vm_flags & (part->writable ? VM_WRITE : VM_READ)) == 0) {
		return -EACCES;
	}
	if (is_device_dax(area)) {
		return pin(part, address);
	}
	if ((area->vm_flags & VM_PFNMAP) == 0) {
		return -EBADF;
	}
	return find_pfn(area, address, part->count, &part->pfn);
}

/* Finds the device that the memory belongs to. */
static int part_find_device(struct window_part *part) {
	phys_addr_t begin = PFN_PHYS(part->pfn), end = begin + PFN_PHYS(part->count);
	struct pci_dev *device = NULL;
	int error = -EBADF;

	down_write(&parts_lock);
	while ((device = pci_get_device(IVSHMEM_VENDOR, IVSHMEM_DEVICE, device)) != NULL) {
		if (pci_resource_len(device, IVSHMEM_MEMORY) != 0 &&
				begin >= pci_resource_start(device, IVSHMEM_MEMORY) &&
				end - 1 <= pci_resource_end(device, IVSHMEM_MEMORY)) {
			part->device = device;
			list_add(&part->entry, &device_parts);
			pci_dev_put(device); /* device_removed() runs before the device is freed */
			error = 0;
			break;
		}
	}
	up_write(&parts_lock);
	return error;
}

/* Other memory may get the addresses of a removed device, so its mappings must go. */
static int device_removed(struct notifier_block *notifier, unsigned long event, void *data) {
	struct window_part *part;

	if (event != BUS_NOTIFY_REMOVED_DEVICE) {
		return NOTIFY_DONE;
	}
	down_write(&parts_lock);
	list_for_each_entry(part, &device_parts, entry) {
		struct file *file;
		if (part->device != to_pci_dev(data)) {
			continue;
		}
		part->device = NULL;
		/* NULL: it is being released, so nobody has it mapped; or it is not exported yet */
		file = part->dma_buf != NULL ? get_file_active(&part->dma_buf->file) : NULL;
		if (file != NULL) {
			unmap_mapping_range(file->f_mapping, 0, 0, 1);
			fput(file);
		}
	}
	up_write(&parts_lock);
	return NOTIFY_OK;
}

static struct notifier_block device_notifier = {.notifier_call = device_removed};

/* --- /dev/gid-dmabuf -------------------------------------------------------------------------- */

static struct window_part *part_create(const struct gid_dmabuf_export *export) {
	struct window_part *part = kzalloc(sizeof(*part), GFP_KERNEL_ACCOUNT);
	int error;

	if (part == NULL) {
		return ERR_PTR(-ENOMEM);
	}
	INIT_LIST_HEAD(&part->entry);
	part->count = export->size >> PAGE_SHIFT;
	part->writable = (export->flags & GID_DMABUF_WRITABLE) != 0;
	error = account_locked_vm(current->mm, part->count, true);
	if (error < 0) {
		goto error_part;
	}
	part->mm = current->mm;
	mmgrab(part->mm);
	mmap_read_lock(part->mm);
	error = part_take(part, export->address, export->address + export->size);
	mmap_read_unlock(part->mm);
	if (error == 0 && part->pages == NULL) {
		error = part_find_device(part);
	}
	if (error < 0) {
		goto error_part;
	}
	return part;

error_part:
	part_free(part);
	return ERR_PTR(error);
}

static struct dma_buf *part_export(struct window_part *part) {
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dma_buf;

	info.ops = &part_ops;
	info.size = part->count << PAGE_SHIFT;
	info.flags = part->writable ? O_RDWR : O_RDONLY;
	info.priv = part;
	dma_buf = dma_buf_export(&info);
	if (IS_ERR(dma_buf)) {
		part_free(part);
		return dma_buf;
	}
	down_write(&parts_lock);
	part->dma_buf = dma_buf;
	up_write(&parts_lock);
	return dma_buf;
}

static int export_range(struct gid_dmabuf_export *export, struct gid_dmabuf_export __user *out) {
	struct window_part *part;
	struct dma_buf *dma_buf;
	int fd;

	if (export->size == 0 || !PAGE_ALIGNED(export->address) || !PAGE_ALIGNED(export->size) ||
			export->size > GID_DMABUF_SIZE_MAX ||
			export->address + export->size < export->address ||
			(export->flags & ~GID_DMABUF_WRITABLE) != 0) {
		return -EINVAL;
	}
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		return fd;
	}
	part = part_create(export);
	if (IS_ERR(part)) {
		put_unused_fd(fd);
		return PTR_ERR(part);
	}
	dma_buf = part_export(part);
	if (IS_ERR(dma_buf)) {
		put_unused_fd(fd);
		return PTR_ERR(dma_buf);
	}
	if (put_user(fd, &out->fd) != 0) {
		dma_buf_put(dma_buf);
		put_unused_fd(fd);
		return -EFAULT;
	}
	fd_install(fd, dma_buf->file);
	return 0;
}

static long handle_ioctl(struct file *file, unsigned int command, unsigned long data) {
	struct gid_dmabuf_export __user *out = (void __user *)data;
	struct gid_dmabuf_export export;

	if (command != GID_DMABUF_EXPORT) {
		return -ENOTTY;
	}
	if (copy_from_user(&export, out, sizeof(export)) != 0) {
		return -EFAULT;
	}
	return export_range(&export, out);
}

static const struct file_operations device_ops = {
		.owner = THIS_MODULE,
		.unlocked_ioctl = handle_ioctl,
		.compat_ioctl = compat_ptr_ioctl,
};

/* Open to all users: it gives access only to memory that the caller has mapped, and charges it. */
static struct miscdevice device = {
		.minor = MISC_DYNAMIC_MINOR,
		.name = "gid-dmabuf",
		.mode = 0666,
		.fops = &device_ops,
};

static int __init start(void) {
	int error = bus_register_notifier(&pci_bus_type, &device_notifier);

	if (error < 0) {
		return error;
	}
	error = misc_register(&device);
	if (error < 0) {
		bus_unregister_notifier(&pci_bus_type, &device_notifier);
	}
	return error;
}

/* No dma-buf exists any more, as each holds a reference to the module. */
static void __exit end(void) {
	misc_deregister(&device);
	bus_unregister_notifier(&pci_bus_type, &device_notifier);
}

module_init(start);
module_exit(end);
MODULE_DESCRIPTION("dma-bufs of windows that gidway's machines share");
MODULE_AUTHOR("The gidway authors");
MODULE_LICENSE("GPL");
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS("DMA_BUF");
#else
MODULE_IMPORT_NS(DMA_BUF);
#endif
