// SPDX-License-Identifier: MIT
/*
 * gid._gid.Lock, of which a connection is one: `with connection:` holds its lock.
 *
 * It is of C since Python looks at the beginning of each function, and after each call, whether a
 * signal came, whose handler may raise an exception. Out of an __exit__ in Python it would come
 * before the lock is let go: it would be kept for ever. For __enter__ see gid/_connection.py.
 */

#define END_NS UINT64_C(1000000000) /* for a lock that may have been left behind for ever */

struct lock_object {
	PyObject_HEAD struct gid_py_lock *lock; /* NULL: it has none yet */
	unsigned int born;			/* how often its process had been forked before */
	uint32_t depth;				/* under it: how often its thread has it */
	bool has_pending;			/* a finalizer could not have it */
};

static unsigned int forks; /* so many times this process is the child of one that has the package */
static PyObject *later_name, *is_closing_name;

static void count_fork(void) {
	forks++;
}

/* Whether it belongs to the process that forked this one. */
static PyObject *lock_is_foreign(PyObject *self, void *none) {
	(void)none;
	return PyBool_FromLong(((struct lock_object *)self)->born != forks);
}

/* Whether the interpreter ends. Its other threads do then, where they next come back to it. */
static bool is_ending(void) {
	PyObject *ask = PySys_GetObject("is_finalizing");
	PyObject *answer = ask == NULL ? NULL : PyObject_CallNoArgs(ask);
	bool ends = answer != Py_False;
	Py_XDECREF(answer);
	return ends;
}

/*
 * The interpreter's lock is let go, which the thread that has ours may need. One that came to its
 * end in there keeps ours: false, after a while.
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

/* Whether it has it: always, but at the interpreter's end. Not for a child of its process. */
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

/* Whether there is something to do for the last one out; -1 with an exception. */
static int has_work(PyObject *self) {
	int result = is_true(self, later_name);
	return result != 0 ? result : is_true(self, is_closing_name);
}

/* The last one out does what finalizers could not. The lock is let go even if that fails. */
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

/* The same at once, if nobody has it: for finalizers. */
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
 * After a call that had the lock by itself, while which a finalizer could not: 0, or -1 with an
 * exception.
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

/* The same for calls that cffi makes. */
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
	if (object->lock == NULL) { /* or it is no address */
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
