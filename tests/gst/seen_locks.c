// SPDX-License-Identifier: MIT
/*
 * For TSan, in a program that it instruments: what orders the threads of GLib and GStreamer, which
 * are built without it. Their mutexes are futexes of their own, and their counts of references
 * atomics that TSan does not see. These functions stand before theirs, and say which comes before
 * which. What is not here was not needed: nothing of ours is in order by GRecMutex or GRWLock
 * alone.
 *
 * What one library calls within itself does not come by here. What others do in memory of their own
 * is left out by seen_locks.supp; races of our code are not.
 */
#include <dlfcn.h>
#include <gst/gst.h>
#include <sanitizer/tsan_interface.h>

/* The function that ours stands before. */
#define REAL(name) ((__typeof__(&(name)))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* --- mutexes ---------------------------------------------------------------------------------- */

void g_mutex_lock(GMutex *mutex) {
	static __typeof__(&g_mutex_lock) real;
	if (real == NULL) {
		real = REAL(g_mutex_lock);
	}
	real(mutex);
	__tsan_acquire(mutex);
}

gboolean g_mutex_trylock(GMutex *mutex) {
	gboolean locked = REAL(g_mutex_trylock)(mutex);
	if (locked) {
		__tsan_acquire(mutex);
	}
	return locked;
}

void g_mutex_unlock(GMutex *mutex) {
	static __typeof__(&g_mutex_unlock) real;
	if (real == NULL) {
		real = REAL(g_mutex_unlock);
	}
	__tsan_release(mutex);
	real(mutex);
}

void g_cond_wait(GCond *cond, GMutex *mutex) {
	__tsan_release(mutex);
	REAL(g_cond_wait)(cond, mutex);
	__tsan_acquire(mutex);
}

gboolean g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end) {
	__tsan_release(mutex);
	gboolean signalled = REAL(g_cond_wait_until)(cond, mutex, end);
	__tsan_acquire(mutex);
	return signalled;
}

/* Who finds it done by a look at the place comes behind. */
void(g_once_init_leave)(volatile void *place, gsize result) {
	__tsan_release((void *)(uintptr_t)place);
	REAL(g_once_init_leave)(place, result);
}

/* --- references ------------------------------------------------------------------------------- */

/* Whoever drops the last one comes behind all who had one. */
static void drop(void *object) {
	__tsan_release(object);
	__tsan_acquire(object);
}

void(g_object_unref)(gpointer object) {
	drop(object);
	REAL(g_object_unref)(object);
}

void gst_mini_object_unref(GstMiniObject *object) {
	drop(object);
	REAL(gst_mini_object_unref)(object);
}

/* A buffer that comes back to its pool was dropped by somebody. */
GstFlowReturn gst_buffer_pool_acquire_buffer(
		GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params) {
	GstFlowReturn ret = REAL(gst_buffer_pool_acquire_buffer)(pool, buffer, params);
	if (ret == GST_FLOW_OK) {
		__tsan_acquire(*buffer);
	}
	return ret;
}
