// SPDX-License-Identifier: MIT
/** What each error means in gidway, and what to do about it. */
#include <errno.h>
#include <gid/gid.h>
#include <string.h>

const char *gid_strerror(int error) {
	switch (error < 0 ? -error : error) {
	case 0:
		return "no error";
	case EPERM:
		return "the cockpit's configuration does not allow it: add a [share] section for it";
	case ENOENT:
		return "no such gid, stream or domain here, or no permission to read it";
	case ECONNREFUSED:
		return "nobody listens at the domain's socket: start gidd for this domain";
	case ENOTCONN:
		return "gidd is away: this works again once it is back";
	case EACCES:
		return "no access: check the permissions of the domain's runtime folder, and read= "
		       "of [client] in the cockpit's configuration";
	case EPROTO:
		return "the peer broke the protocol, or speaks another version of it: "
		       "install the same version of gidway on both sides";
	case EINVAL:
		return "an argument is out of range: check names, sizes, strides and plane counts";
	case ENOTSUP:
		return "gidway does not know this pixel format or modifier: convert to another";
	case ENOSYS:
		return "neither this program nor its gidd has a /proc of its own: mount it for one "
		       "of them, as by `mount -t proc proc /proc`";
	case ENODEV:
		return "a sandbox, or this kernel, refuses memfd_create(2): without that a program "
		       "has no memory to share";
	case ERANGE:
		return "a plane reaches beyond the end of its memory: check offsets and strides";
	case ENODATA:
		return "memory with holes: its owner must write all of it first";
	case EDQUOT:
		return "a quota is used up: raise it in the [domain] section, or free "
		       "slabs or streams";
	case ENOMEM:
		return "not enough memory";
	case EMFILE:
		return "this process has too many open files: raise its limit (ulimit -n)";
	case EFBIG:
		return "this process may make no file of this size: raise its limit (ulimit -f)";
	case EBADF:
		return "not memory that can be shared: it must be a memfd or a dma-buf";
	case EEXIST:
		return "the stream has a producer already: end that one or choose another name";
	case EPIPE:
		return "the other side is gone";
	case EAGAIN:
		return "nothing there yet: wait for the descriptor to become readable";
	case EINPROGRESS:
		return "in progress: the callback reports when it is done";
	case ETIMEDOUT:
		return "gidd did not answer in time: see `gidctl doctor`";
	case EMSGSIZE:
		return "a message, or metadata, that is longer than there is room for";
	case ENOBUFS:
		return "no room for more metadata: readers hold too many frames that have some";
	case ENAMETOOLONG:
		return "the path of the domain's socket is too long: set GID_RUNTIME_DIR to "
		       "a shorter one";
	case ESHUTDOWN:
		return "the domain is sealed, and nothing new is granted: gidctl unseal ends that";
	case ESTALE:
		return "the gid is out of date: its slot was taken back";
	default:
		break;
	}
	const char *text = strerrordesc_np(error < 0 ? -error : error);
	return text != NULL ? text : "unknown error";
}
