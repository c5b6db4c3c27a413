// SPDX-License-Identifier: MIT
/*
 * gid._gid.Draft, the base class of Slot: a slot that is drawn into, and sent when its `with` block
 * ends.
 *
 * The end of the block is in C because drawing has evicted the interpreter from the caches: each
 * Python function that runs before the readers' wake-up delays the picture measurably.
 */

struct draft_object {
	PyObject_HEAD PyObject *producer; /* owns the writer */
	struct gid_py_writer *writer;	  /* NULL: not bound */
	struct lock_object *connection;
	PyObject *planes; /* a tuple of arrays */
	PyObject *said;	  /* a dictionary: the fields of the frame */
	int32_t slot;	  /* -1: no slot is taken */
};

static PyObject *setflags_name, *write_names;

static PyObject *draft_new(PyTypeObject *type, PyObject *args, PyObject *names) {
	(void)args;
	(void)names;
	struct draft_object *draft = (void *)PyType_GenericAlloc(type, 0);
	if (draft != NULL) {
		draft->slot = -1;
	}
	return (PyObject *)draft;
}

/* Arguments: its producer, that producer's struct gid_py_writer *, the connection, the fields. */
static PyObject *draft_bind(PyObject *self, PyObject *args) {
	struct draft_object *draft = (struct draft_object *)self;
	PyObject *producer, *writer, *connection, *said;
	if (!PyArg_ParseTuple(args, "OO!O!O!", &producer, &PyLong_Type, &writer, lock_type,
			    &connection, &PyDict_Type, &said)) {
		return NULL;
	}
	if (draft->writer != NULL) {
		PyErr_SetString(PyExc_TypeError, "it was made already");
		return NULL;
	}
	replace(&draft->producer, producer);
	replace(&draft->said, said);
	Py_INCREF(connection);
	draft->connection = (struct lock_object *)connection;
	draft->writer = PyLong_AsVoidPtr(writer);
	Py_RETURN_NONE;
}

static bool draft_is_good(const struct draft_object *draft) {
	if (draft->writer == NULL) {
		PyErr_SetString(PyExc_ValueError, "the slot was not made");
		return false;
	}
	return draft->connection->born == forks || call_method(draft->connection, "check_fork");
}

/* Takes a free slot. Returns whether there was one. */
static PyObject *draft_try_take(PyObject *self, PyObject *none) {
	(void)none;
	struct draft_object *draft = (struct draft_object *)self;
	if (!draft_is_good(draft)) {
		return NULL;
	}
	PyThreadState *thread = PyEval_SaveThread();
	bool is_taken = gid_py_take_slot(draft->writer, false, &draft->slot);
	PyEval_RestoreThread(thread);
	return PyBool_FromLong(is_taken);
}

/* Makes the arrays read-only. False with an exception. */
static bool end_drawing(const struct draft_object *draft) {
	Py_ssize_t count = draft->planes == NULL ? 0 : PyTuple_Size(draft->planes);
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *args[] = {PyTuple_GetItem(draft->planes, i), Py_False};
		PyObject *done = PyObject_VectorcallMethod(setflags_name, args, 1, write_names);
		if (done == NULL) {
			return false;
		}
		Py_DECREF(done);
	}
	return true;
}

static PyObject *draft_end(PyObject *self, PyObject *none) {
	(void)none;
	if (!end_drawing((struct draft_object *)self)) {
		return NULL;
	}
	Py_RETURN_NONE;
}

/* Sends a frame without fields. Returns the number of readers. */
static PyObject *draft_send(PyObject *self, PyObject *none) {
	(void)none;
	struct draft_object *draft = (struct draft_object *)self;
	if (!draft_is_good(draft)) {
		return NULL;
	}
	PyThreadState *thread = PyEval_SaveThread();
	int sent = gid_py_send_bare(draft->writer, &draft->slot);
	PyEval_RestoreThread(thread);
	/* The readers' wake-ups are sent already. */
	if (!end_drawing(draft) || lock_do_pending(draft->connection) < 0) {
		return NULL;
	}
	return sent < 0 ? PyObject_CallMethod(draft->producer, "_tell", "i", sent)
			: PyLong_FromLong(sent);
}

static PyObject *draft_enter(PyObject *self, PyObject *none) {
	(void)none;
	return PyObject_GetAttrString(self, "picture");
}

static PyObject *draft_exit(PyObject *self, PyObject *const *args, Py_ssize_t count) {
	struct draft_object *draft = (struct draft_object *)self;
	PyObject *done;
	if (count > 0 && args[0] != Py_None) {
		done = PyObject_CallMethod(self, "cancel", NULL);
	} else if (draft->slot < 0) {
		Py_RETURN_NONE; /* sent or cancelled explicitly */
	} else if (PyDict_Size(draft->said) > 0) {
		done = PyObject_CallMethod(self, "submit", NULL);
	} else {
		done = draft_send(self, NULL);
	}
	if (done == NULL) {
		return NULL;
	}
	Py_DECREF(done);
	Py_RETURN_NONE;
}

/* The last reference is gone, and the slot was not sent. */
static void draft_finalize(PyObject *self) {
	if (((struct draft_object *)self)->slot >= 0) {
		lose(self);
	}
}

static int draft_traverse(PyObject *self, visitproc visit, void *arg) {
	struct draft_object *draft = (struct draft_object *)self;
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(draft->producer);
	Py_VISIT(draft->connection);
	Py_VISIT(draft->planes);
	Py_VISIT(draft->said);
	return 0;
}

static void draft_dealloc(PyObject *self) {
	struct draft_object *draft = (struct draft_object *)self;
	PyTypeObject *type = Py_TYPE(self);
	freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
	PyObject_GC_UnTrack(self);
	Py_XDECREF(draft->planes);
	Py_XDECREF(draft->said);
	Py_XDECREF((PyObject *)draft->connection);
	Py_XDECREF(draft->producer);
	free_it(self);
	Py_DECREF(type);
}

static PyObject *draft_address(PyObject *self, void *none) {
	(void)none;
	return PyLong_FromVoidPtr(&((struct draft_object *)self)->slot);
}

static PyMethodDef draft_methods[] = {
		{"_bind", draft_bind, METH_VARARGS, NULL},
		{"_end", draft_end, METH_NOARGS, NULL},
		{"_send", draft_send, METH_NOARGS, NULL},
		{"_try_take", draft_try_take, METH_NOARGS, NULL},
		{"__enter__", draft_enter, METH_NOARGS, NULL},
		{"__exit__", (PyCFunction)(void (*)(void))draft_exit, METH_FASTCALL, NULL},
		{NULL, NULL, 0, NULL},
};

static PyMemberDef draft_members[] = {
		{"_producer", Py_T_OBJECT_EX, offsetof(struct draft_object, producer), Py_READONLY,
				NULL},
		{"_said", Py_T_OBJECT_EX, offsetof(struct draft_object, said), Py_READONLY, NULL},
		{"_planes", Py_T_OBJECT_EX, offsetof(struct draft_object, planes), 0, NULL},
		{"_number", Py_T_INT, offsetof(struct draft_object, slot), Py_READONLY, NULL},
		{NULL, 0, 0, 0, NULL},
};

static PyGetSetDef draft_properties[] = {
		{.name = "_address", .get = draft_address},
		{.name = NULL},
};

static PyType_Slot draft_slots[] = {
		{Py_tp_new, draft_new},
		{Py_tp_methods, draft_methods},
		{Py_tp_members, draft_members},
		{Py_tp_getset, draft_properties},
		{Py_tp_finalize, draft_finalize},
		{Py_tp_traverse, draft_traverse},
		{Py_tp_dealloc, draft_dealloc},
		{0, NULL},
};

static PyType_Spec draft_spec = {
		.name = "gid._gid.Draft",
		.basicsize = sizeof(struct draft_object),
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
		.slots = draft_slots,
};
