// SPDX-License-Identifier: MIT
/*
 * gid._gid.Loan, the base class of Frame: what is needed to release a frame, and its picture if
 * that is known.
 *
 * It is in C because a reader wakes up with cold caches, where each Python function adds measurably
 * to the wake-up; and so that no signal handler, which can raise an exception between any two of
 * them, leaves a frame without owner.
 */

#include <stddef.h>

struct loan_object {
	PyObject_HEAD PyObject *consumer; /* the Reader through which it is released */
	PyObject *memory;		  /* an ImportedSlab; None: unknown, or released */
	PyObject *about;		  /* its description, also after the release */
	PyObject *picture, *planes;	  /* None: not known yet */
	const struct gid_slab *slab;	  /* of `memory` */
	bool is_held, is_dmabuf;
	char is_drawn; /* a device may still be drawing into it */
	char is_current;
	struct gid_py_frame got; /* last, as hardly any frame uses the end of its note */
};

/* Stores a new reference to `value`, and drops the old one last. */
static void replace(PyObject **field, PyObject *value) {
	PyObject *before = *field;
	Py_INCREF(value);
	*field = value;
	Py_XDECREF(before);
}

/* A loan that holds no frame. */
static struct loan_object *loan_new(PyObject *type, PyObject *consumer) {
	struct loan_object *loan = (void *)PyType_GenericAlloc((PyTypeObject *)type, 0);
	if (loan != NULL) {
		replace(&loan->consumer, consumer);
		replace(&loan->memory, Py_None);
		replace(&loan->about, Py_None);
		replace(&loan->picture, Py_None);
		replace(&loan->planes, Py_None);
		loan->is_current = true;
	}
	return loan;
}

/*
 * Through what it is released, see reader_type.c. NULL: it belongs to the parent process of a fork.
 */
static struct lock_object *connection_of(const struct loan_object *loan);
static struct gid_py_reader *reader_of(const struct loan_object *loan);

/* Returns whether it was current until now. */
static bool return_frame(const struct loan_object *loan) {
	struct gid_py_reader *reader = reader_of(loan);
	if (!gid_py_lock_try(reader->lock) && !wait_for_lock(reader->lock)) {
		return false; /* the process is ending, which releases it */
	}
	bool current = gid_py_release(reader, &loan->got.frame, loan->slab);
	gid_py_lock_let_go(reader->lock);
	return current;
}

/* Releases the frame once. Returns 0, or -1 with an exception. */
static int loan_give_back(struct loan_object *loan) {
	struct lock_object *connection = loan->is_held ? connection_of(loan) : NULL;
	if (connection == NULL) {
		return 0;
	}
	if (loan->is_dmabuf) {
		PyObject *ended = PyObject_CallMethod((PyObject *)loan, "_end_read", NULL);
		if (ended == NULL) {
			return -1;
		}
		Py_DECREF(ended);
	}
	if (!loan->is_held) {
		return 0; /* another thread was faster */
	}
	loan->is_held = false; /* before waiting, during which another thread may come here */
	bool current = return_frame(loan);
	loan->is_current = loan->is_current && current;
	replace(&loan->picture, Py_None);
	replace(&loan->planes, Py_None);
	replace(&loan->memory, Py_None);
	return lock_do_pending(connection);
}

static PyObject *loan_release(PyObject *self, PyObject *none) {
	(void)none;
	struct loan_object *loan = (struct loan_object *)self;
	return loan_give_back(loan) < 0 ? NULL : PyBool_FromLong(loan->is_current);
}

static PyObject *loan_enter(PyObject *self, PyObject *none) {
	(void)none;
	PyObject *picture = ((struct loan_object *)self)->picture;
	if (picture == NULL || picture == Py_None) {
		return PyObject_GetAttrString(self, "picture");
	}
	Py_INCREF(picture);
	return picture;
}

/* Raises LeaseError: the frame was reclaimed while it was read. */
static void raise_taken(PyObject *loan) {
	PyObject *error = PyObject_CallMethod(loan, "_taken", NULL);
	if (error != NULL) {
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
		Py_DECREF(error);
	}
}

static PyObject *loan_exit(PyObject *self, PyObject *const *args, Py_ssize_t count) {
	struct loan_object *loan = (struct loan_object *)self;
	if (loan_give_back(loan) < 0) {
		return NULL;
	}
	if (!loan->is_current && count > 0 && args[0] == Py_None) {
		raise_taken(self);
		return NULL;
	}
	Py_RETURN_NONE;
}

/* For finalizers: the last reference is gone, and nobody released the frame or slot. */
static void lose(PyObject *self) {
	PyObject *pending = PyErr_GetRaisedException();
	PyObject *lost = PyObject_CallMethod(self, "_lose", NULL);
	if (lost == NULL) {
		PyErr_WriteUnraisable(self);
	}
	Py_XDECREF(lost);
	if (pending != NULL) {
		PyErr_SetRaisedException(pending);
	}
}

static void loan_finalize(PyObject *self) {
	if (((struct loan_object *)self)->is_held) {
		lose(self);
	}
}

static int loan_traverse(PyObject *self, visitproc visit, void *arg) {
	struct loan_object *loan = (struct loan_object *)self;
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(loan->consumer);
	Py_VISIT(loan->memory);
	Py_VISIT(loan->about);
	Py_VISIT(loan->picture);
	Py_VISIT(loan->planes);
	return 0;
}

static void loan_dealloc(PyObject *self) {
	struct loan_object *loan = (struct loan_object *)self;
	PyTypeObject *type = Py_TYPE(self);
	freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
	PyObject_GC_UnTrack(self);
	Py_XDECREF(loan->consumer);
	Py_XDECREF(loan->memory);
	Py_XDECREF(loan->about);
	Py_XDECREF(loan->picture);
	Py_XDECREF(loan->planes);
	free_it(self);
	Py_DECREF(type);
}

static PyObject *loan_address(PyObject *self, void *none) {
	(void)none;
	return PyLong_FromVoidPtr(&((struct loan_object *)self)->got.frame);
}

static PyObject *loan_note(PyObject *self, void *none) {
	(void)none;
	const struct gid_py_frame *got = &((struct loan_object *)self)->got;
	return PyBytes_FromStringAndSize((const char *)got->note, got->frame.note_size);
}

static PyMethodDef loan_methods[] = {
		{"release", loan_release, METH_NOARGS,
				"Gives the frame back. Returns `current`. A second call does nothing."},
		{"__enter__", loan_enter, METH_NOARGS, NULL},
		{"__exit__", (PyCFunction)(void (*)(void))loan_exit, METH_FASTCALL, NULL},
		{NULL, NULL, 0, NULL},
};

#define MEMBER(name, field, kind, flags)                                                           \
	{name, kind, offsetof(struct loan_object, field), flags, NULL}
static PyMemberDef loan_members[] = {
		MEMBER("_consumer", consumer, Py_T_OBJECT_EX, Py_READONLY),
		MEMBER("_slab", memory, Py_T_OBJECT_EX, Py_READONLY),
		MEMBER("_about", about, Py_T_OBJECT_EX, Py_READONLY),
		MEMBER("_picture", picture, Py_T_OBJECT_EX, 0),
		MEMBER("_planes", planes, Py_T_OBJECT_EX, 0),
		MEMBER("_is_drawn", is_drawn, Py_T_BOOL, 0),
		MEMBER("_current", is_current, Py_T_BOOL, 0),
		{NULL, 0, 0, 0, NULL},
};

static PyGetSetDef loan_properties[] = {
		{.name = "_address", .get = loan_address},
		{.name = "_note", .get = loan_note},
		{.name = NULL},
};

static PyType_Slot loan_slots[] = {
		{Py_tp_methods, loan_methods},
		{Py_tp_members, loan_members},
		{Py_tp_getset, loan_properties},
		{Py_tp_finalize, loan_finalize},
		{Py_tp_traverse, loan_traverse},
		{Py_tp_dealloc, loan_dealloc},
		{0, NULL},
};

static PyType_Spec loan_spec = {
		.name = "gid._gid.Loan",
		.basicsize = sizeof(struct loan_object),
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
				Py_TPFLAGS_DISALLOW_INSTANTIATION,
		.slots = loan_slots,
};
