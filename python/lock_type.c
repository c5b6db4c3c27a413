// SPDX-License-Identifier: MIT
/*
 * gid._gid.Lock, the base class of a connection: `with connection:` holds its lock.
 *
 * It is in C because Python checks for signals at the start of each function and after each call,
 * and a signal handler may raise an exception. In an __exit__ written in Python that could happen
 * before the unlock, and the lock would be held forever. For __enter__ see gid/_connection.py.
 */

#define END_NS UINT64_C(1000000000) /* the time limit for a lock whose owner may never return */

struct lock_object {
	PyObject_HEAD struct gid_py_lock *lock; /* NULL: not bound yet */
	unsigned int born;			/* the value of `forks` when it was bound */
	uint32_t depth;				/* under the lock: how often its thread has it */
	bool has_pending;			/* a finalizer found it locked */
};

static unsigned int forks; /* how many times this process was forked since the package was loaded */
static PyObject *later_name, *is_closing_name;

static void count_fork(void) {
	forks++;
}

/* Whether it belongs to the parent process of a fork. */
static PyObject *lock_is_foreign(PyObject *self, void *none) {
	(void)none;
	return PyBool_FromLong(((struct lock_object *)self)->born != forks);
}

/* Whether the interpreter is finalizing. Its other threads then end when they return to it. */
static bool is_ending(void) {
	PyObject *ask = PySys_GetObject("is_finalizing");
	PyObject *answer = ask == NULL ? NULL : PyObject_CallNoArgs(ask);
	bool ends = ask == NULL || (answer != NULL && answer != Py_False);
	if (answer == NULL) {
		PyErr_Clear(); /* of a recursion that is too deep: no program ends there */
	}
	Py_XDECREF(answer);
	return ends;
}

/*
 * Releases the interpreter's lock, which the owner of ours may need. While the interpreter is
 * finalizing, that owner may have ended with our lock: false, after a time limit.
 */
static bool wait_for_lock(struct gid_py_lock *lock) {
	bool has_it = true, ends = is_ending();
	PyThreadState *thread = PyEval_SaveThread();
	if (ends) {
		has_it = gid_py_lock_take_within(lock, END_NS);
	} else {
		gid_py_lock_take(lock);
	}
	PyEval_RestoreThread(thread);
	return has_it;
}

static bool take_lock(struct lock_object *object) {
	if (!gid_py_lock_try(object->lock) && !wait_for_lock(object->lock)) {
		return false;
	}
	object->depth++;
	return true;
}

/*
 * Returns whether it is locked: always, unless the interpreter is finalizing. Not for use after a
 * fork.
 */
static PyObject *lock_take(PyObject *self, PyObject *none) {
	(void)none;
	return PyBool_FromLong(take_lock((struct lock_object *)self));
}

/* 1 or 0; -1 with an exception. */
static int is_true(PyObject *self, PyObject *name) {
	PyObject *value = PyObject_GetAttr(self, name);
	int result = value != NULL ? PyObject_IsTrue(value) : -1;
	Py_XDECREF(value);
	return result;
}

/* Whether the last owner has deferred work to do; -1 with an exception. */
static int has_work(PyObject *self) {
	int result = is_true(self, later_name);
	return result != 0 ? result : is_true(self, is_closing_name);
}

/* The last owner does what finalizers deferred. Unlocks even if that fails. */
static PyObject *lock_exit(PyObject *self, PyObject *args) {
	(void)args;
	struct lock_object *object = (struct lock_object *)self;
	int work = object->depth == 1 ? has_work(self) : 0;
	PyObject *result = NULL;
	if (work > 0) {
		result = PyObject_CallMethod(self, "_do_later", NULL);
	} else if (work == 0) {
		result = Py_None;
		Py_INCREF(result);
	}
	object->depth--;
	gid_py_lock_let_go(object->lock);
	return result;
}

/* For finalizers: does the deferred work at once if the lock is free. */
static PyObject *lock_settle(PyObject *self, PyObject *none) {
	struct lock_object *object = (struct lock_object *)self;
	if (!gid_py_lock_try(object->lock)) {
		object->has_pending = true;
		Py_RETURN_NONE;
	}
	object->depth++;
	return lock_exit(self, none);
}

/*
 * Called after a call that took the lock itself, during which a finalizer may have deferred work:
 * 0, or -1 with an exception.
 */
static int lock_do_pending(struct lock_object *object) {
	if (!object->has_pending) {
		return 0;
	}
	object->has_pending = false;
	if (!take_lock(object)) {
		return 0;
	}
	PyObject *result = lock_exit((PyObject *)object, NULL);
	Py_XDECREF(result);
	return result == NULL ? -1 : 0;
}

/* The same, for calls made by cffi. */
static PyObject *lock_do_pending_of(PyObject *self, PyObject *none) {
	(void)none;
	if (lock_do_pending((struct lock_object *)self) < 0) {
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *lock_bind(PyObject *self, PyObject *address) {
	struct lock_object *object = (struct lock_object *)self;
	object->lock = PyLong_AsVoidPtr(address);
	object->born = forks;
	if (object->lock == NULL) { /* or the argument is no address */
		return PyErr_Occurred() ? NULL : PyErr_NoMemory();
	}
	Py_RETURN_NONE;
}

static PyMethodDef lock_methods[] = {
		{"_take", lock_take, METH_NOARGS, NULL},
		{"__exit__", lock_exit, METH_VARARGS, NULL},
		{"_settle", lock_settle, METH_NOARGS, NULL},
		{"_bind", lock_bind, METH_O, NULL},
		{"_do_pending", lock_do_pending_of, METH_NOARGS, NULL},
		{NULL, NULL, 0, NULL},
};

static PyGetSetDef lock_properties[] = {
		{.name = "is_foreign", .get = lock_is_foreign},
		{.name = NULL},
};

static PyType_Slot lock_slots[] = {
		{Py_tp_methods, lock_methods},
		{Py_tp_getset, lock_properties},
		{0, NULL},
};

static PyType_Spec lock_spec = {
		.name = "gid._gid.Lock",
		.basicsize = sizeof(struct lock_object),
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
		.slots = lock_slots,
};
