// SPDX-License-Identifier: MIT
/*
 * gid._gid.Reader, the base class of Consumer: a loop over its frames runs in C as long as frames
 * come and lie in the same memory as the last one. Methods in Python handle everything else.
 */

struct reader_object {
	PyObject_HEAD struct gid_py_reader *reader; /* NULL: not bound yet */
	PyObject *owner;			    /* keeps `reader` alive */
	struct lock_object *connection;
	PyObject *frames;  /* the type of frames that it creates */
	PyObject *waiting; /* a set of waiters to notify when a frame is taken */
	/* The memory of the last frame, or None. */
	PyObject *memory, *about;
	PyObject *pictures; /* a list with an entry for each slot; None: no picture yet */
	const struct gid_slab *slab;
	bool is_dmabuf;
};

static PyObject *lock_type, *loan_type;

static struct gid_py_reader *reader_of(const struct loan_object *loan) {
	return ((struct reader_object *)loan->consumer)->reader;
}

static struct lock_object *connection_of(const struct loan_object *loan) {
	struct lock_object *connection = ((struct reader_object *)loan->consumer)->connection;
	return connection->born == forks ? connection : NULL;
}

/* Calls a method in Python. Returns whether it raised no exception. */
static bool call_method(void *object, const char *method) {
	PyObject *result = PyObject_CallMethod(object, method, NULL);
	Py_XDECREF(result);
	return result != NULL;
}

/* The loan's frame is in the known memory. */
static void fill_loan(struct reader_object *self, struct loan_object *loan) {
	replace(&loan->memory, self->memory);
	replace(&loan->about, self->about);
	loan->slab = self->slab;
	loan->is_dmabuf = self->is_dmabuf;
	loan->is_drawn = (char)self->is_dmabuf;
}

/* Takes the picture of the slot if it exists already. */
static void find_picture(const struct reader_object *self, struct loan_object *loan, int slot) {
	if (slot < PyList_Size(self->pictures)) {
		replace(&loan->picture, PyList_GetItem(self->pictures, slot));
	}
}

/* Returns the result of gid_py_next(). Releases the interpreter's lock meanwhile. */
static int receive_frame(struct reader_object *self, struct loan_object *loan, uint64_t until) {
	PyThreadState *thread = PyEval_SaveThread();
	int got = gid_py_next(self->reader, loan->slab, &loan->got, until);
	PyEval_RestoreThread(thread);
	loan->is_held = got >= 0 || got == GID_PY_PART;
	return got;
}

static bool was_made(const struct reader_object *self) {
	if (self->reader == NULL) {
		PyErr_SetString(PyExc_ValueError, "the consumer was not made");
	}
	return self->reader != NULL;
}

static bool may_take(const struct reader_object *self) {
	return was_made(self) &&
			(self->connection->born == forks ||
					call_method(self->connection, "check_fork"));
}

/*
 * Receives into a loan that holds nothing. `*got` is the result of gid_py_next(); false with an
 * exception.
 */
static bool take_into(
		struct reader_object *self, struct loan_object *loan, uint64_t until, int *got) {
	fill_loan(self, loan);
	*got = receive_frame(self, loan, until);
	if (*got >= 0 && self->memory == loan->memory) {
		find_picture(self, loan, *got);
	}
	/* Another caller may have waited for the same frame. */
	bool good = *got == -EAGAIN || PySet_Size(self->waiting) == 0 || call_method(self, "_poke");
	return good && lock_do_pending(self->connection) == 0;
}

/*
 * Returns the next frame, or the result of gid_py_next() that says why there is none. Takes the
 * reference to `loan`: a released one without other references, to be reused; or NULL.
 */
static PyObject *take_frame(struct reader_object *self, struct loan_object *loan, uint64_t until) {
	if (!may_take(self)) {
		Py_XDECREF((PyObject *)loan);
		return NULL;
	}
	loan = loan != NULL ? loan : loan_new(self->frames, (PyObject *)self);
	if (loan == NULL) {
		return NULL;
	}
	int got;
	bool good = take_into(self, loan, until, &got);
	if (good && loan->is_held) {
		return (PyObject *)loan;
	}
	Py_DECREF(loan);
	return good ? PyLong_FromLong(got) : NULL;
}

static PyObject *reader_take(PyObject *self, PyObject *limit) {
	uint64_t until = PyLong_AsUnsignedLongLong(limit);
	return until == UINT64_MAX && PyErr_Occurred() != NULL
			? NULL
			: take_frame((struct reader_object *)self, NULL, until);
}

/*
 * Returns the next frame of a loop; NULL also at the end of the stream. Takes the reference to
 * `last`, the previous frame, which was released; or NULL. It is reused if there is no other
 * reference.
 */
static PyObject *next_after(PyObject *self, PyObject *last) {
	struct reader_object *object = (struct reader_object *)self;
	struct loan_object *loan = NULL;
	if (last != NULL && (PyObject *)Py_TYPE(last) == object->frames && Py_REFCNT(last) == 1) {
		loan = (struct loan_object *)last;
	} else {
		Py_XDECREF(last);
	}
	PyObject *got = take_frame(object, loan, GID_TIME_NONE);
	if (got == NULL || (PyObject *)Py_TYPE(got) == object->frames) {
		return got;
	}
	PyObject *frame = PyObject_CallMethod(self, "_next_after", "O", got);
	Py_DECREF(got);
	return frame;
}

static PyObject *reader_next(PyObject *self) {
	return next_after(self, NULL);
}

/*
 * Takes over the `fetched` frame, whose memory is not known yet. No signal handler runs in between.
 */
static PyObject *reader_adopt(PyObject *self, PyObject *none) {
	(void)none;
	struct reader_object *object = (struct reader_object *)self;
	if (!was_made(object)) {
		return NULL;
	}
	struct loan_object *loan = loan_new(object->frames, self);
	if (loan != NULL) {
		gid_py_adopt(object->reader, &loan->got);
		loan->is_held = true;
	}
	return (PyObject *)loan;
}

/* Arguments: memory, its slab's address, its description, its pictures, whether it is a dma-buf. */
static PyObject *reader_know(PyObject *self, PyObject *args) {
	struct reader_object *object = (struct reader_object *)self;
	PyObject *memory, *slab, *about, *pictures;
	int is_dmabuf;
	if (!PyArg_ParseTuple(args, "OOOO!p", &memory, &slab, &about, &PyList_Type, &pictures,
			    &is_dmabuf)) {
		return NULL;
	}
	object->slab = PyLong_AsVoidPtr(slab);
	object->is_dmabuf = is_dmabuf;
	replace(&object->about, about);
	replace(&object->pictures, pictures);
	replace(&object->memory, memory);
	Py_RETURN_NONE;
}

static PyObject *reader_forget(PyObject *self, PyObject *none) {
	(void)none;
	struct reader_object *object = (struct reader_object *)self;
	object->slab = NULL;
	replace(&object->about, Py_None);
	replace(&object->pictures, Py_None);
	replace(&object->memory, Py_None);
	Py_RETURN_NONE;
}

/* The memory of an adopted frame is known now. */
static PyObject *reader_fill(PyObject *self, PyObject *frame) {
	struct reader_object *object = (struct reader_object *)self;
	if ((PyObject *)Py_TYPE(frame) != object->frames) {
		PyErr_SetString(PyExc_TypeError, "it is no frame of this consumer");
		return NULL;
	}
	fill_loan(object, (struct loan_object *)frame);
	Py_RETURN_NONE;
}

/* Arguments: struct gid_py_reader *, its owner, the connection, the type of frames, the waiters. */
static PyObject *reader_bind(PyObject *self, PyObject *args) {
	struct reader_object *object = (struct reader_object *)self;
	PyObject *reader, *owner, *connection, *frames, *waiting;
	if (!PyArg_ParseTuple(args, "OOO!O!O", &reader, &owner, lock_type, &connection,
			    &PyType_Type, &frames, &waiting)) {
		return NULL;
	}
	if (object->reader != NULL ||
			!PyType_IsSubtype((PyTypeObject *)frames, (PyTypeObject *)loan_type)) {
		PyErr_SetString(PyExc_TypeError, "it has a reader, or these are no frames");
		return NULL;
	}
	Py_INCREF(connection);
	object->connection = (struct lock_object *)connection;
	replace(&object->owner, owner);
	replace(&object->frames, frames);
	replace(&object->waiting, waiting);
	object->reader = PyLong_AsVoidPtr(reader);
	return reader_forget(self, NULL);
}

static int reader_traverse(PyObject *self, visitproc visit, void *arg) {
	struct reader_object *object = (struct reader_object *)self;
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(object->owner);
	Py_VISIT(object->connection);
	Py_VISIT(object->frames);
	Py_VISIT(object->waiting);
	Py_VISIT(object->memory);
	Py_VISIT(object->about);
	Py_VISIT(object->pictures);
	return 0;
}

static void reader_dealloc(PyObject *self) {
	struct reader_object *object = (struct reader_object *)self;
	PyTypeObject *type = Py_TYPE(self);
	freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
	PyObject_GC_UnTrack(self);
	Py_XDECREF(object->memory);
	Py_XDECREF(object->about);
	Py_XDECREF(object->pictures);
	Py_XDECREF(object->waiting);
	Py_XDECREF(object->frames);
	Py_XDECREF((PyObject *)object->connection);
	Py_XDECREF(object->owner);
	free_it(self);
	Py_DECREF(type);
}

static PyMethodDef reader_methods[] = {
		{"_adopt", reader_adopt, METH_NOARGS, NULL},
		{"_bind", reader_bind, METH_VARARGS, NULL},
		{"_fill", reader_fill, METH_O, NULL},
		{"_forget", reader_forget, METH_NOARGS, NULL},
		{"_know", reader_know, METH_VARARGS, NULL},
		{"_take", reader_take, METH_O, NULL},
		{NULL, NULL, 0, NULL},
};

static PyType_Slot reader_slots[] = {
		{Py_tp_methods, reader_methods},
		{Py_tp_iter, PyObject_SelfIter},
		{Py_tp_iternext, reader_next},
		{Py_tp_traverse, reader_traverse},
		{Py_tp_dealloc, reader_dealloc},
		{0, NULL},
};

static PyType_Spec reader_spec = {
		.name = "gid._gid.Reader",
		.basicsize = sizeof(struct reader_object),
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
		.slots = reader_slots,
};
