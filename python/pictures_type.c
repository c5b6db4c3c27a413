// SPDX-License-Identifier: MIT
/*
 * gid.Pictures: a loop over pictures; each frame is released when the next one is asked for. So a
 * frame takes one call in C: a reader wakes up with cold caches, where each further call is
 * measurable.
 */

struct pictures_object {
	PyObject_HEAD PyObject *consumer; /* a Reader */
	PyObject *frame;		  /* the frame of the last picture, or None */
	bool is_plain;	/* the consumer's class does not override __next__ in Python */
	bool is_taking; /* a thread waits for the next frame */
};

static PyObject *reader_type;

/* Replaces `frame` with None before it is released, as another thread may come here meanwhile. */
static PyObject *take_out(struct pictures_object *self) {
	PyObject *frame = self->frame;
	Py_INCREF(Py_None);
	self->frame = Py_None;
	return frame;
}

/*
 * Raises LeaseError if the frame was reclaimed while its picture was read: 0, or -1 with an
 * exception.
 */
static int check_returned(PyObject *frame) {
	if (((struct loan_object *)frame)->is_current) {
		return 0; /* in nearly all cases */
	}
	PyObject *current = PyObject_GetAttrString(frame, "current"); /* stays true for a copy */
	int is_current = current != NULL ? PyObject_IsTrue(current) : -1;
	Py_XDECREF(current);
	if (is_current == 0) {
		raise_taken(frame);
	}
	return is_current == 1 ? 0 : -1;
}

/* Releases the last frame. Returns it, or None; NULL with an exception. */
static PyObject *return_last(struct pictures_object *self) {
	PyObject *frame = take_out(self);
	if (frame != Py_None &&
			(loan_give_back((struct loan_object *)frame) < 0 ||
					check_returned(frame) < 0)) {
		Py_DECREF(frame);
		return NULL;
	}
	return frame;
}

/* Releases a frame whose picture failed, and keeps the exception. */
static void return_unseen(PyObject *frame) {
	PyObject *why = PyErr_GetRaisedException();
	if (loan_give_back((struct loan_object *)frame) < 0) {
		PyErr_WriteUnraisable(frame);
	}
	PyErr_SetRaisedException(why);
}

/* The next frame; NULL without an exception at the end of the stream. */
static PyObject *next_frame(struct pictures_object *self) {
	PyObject *last = return_last(self);
	if (last == NULL || self->is_plain) {
		return last == NULL ? NULL : next_after(self->consumer, last);
	}
	Py_DECREF(last);
	PyObject *frame = PyIter_Next(self->consumer);
	if (frame != NULL && !PyType_IsSubtype(Py_TYPE(frame), (PyTypeObject *)loan_type)) {
		PyErr_SetString(PyExc_TypeError, "its consumer gives other things than frames");
		Py_DECREF(frame);
		return NULL;
	}
	return frame;
}

static PyObject *pictures_next(PyObject *object) {
	struct pictures_object *self = (struct pictures_object *)object;
	if (self->is_taking) { /* that thread's picture would be lost */
		PyErr_SetString(PyExc_ValueError,
				"another thread is in this loop: each has pictures() of its own");
		return NULL;
	}
	self->is_taking = true;
	PyObject *frame = next_frame(self);
	self->is_taking = false;
	if (frame == NULL) {
		return NULL;
	}
	PyObject *picture = loan_enter(frame, NULL);
	if (picture != NULL) {
		replace(&self->frame, frame);
	} else {
		return_unseen(frame);
	}
	Py_DECREF(frame);
	return picture;
}

static PyObject *pictures_close(PyObject *object, PyObject *none) {
	(void)none;
	struct pictures_object *self = (struct pictures_object *)object;
	PyObject *frame = take_out(self);
	int result = frame == Py_None ? 0 : loan_give_back((struct loan_object *)frame);
	Py_DECREF(frame);
	if (result < 0) {
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *pictures_new(PyTypeObject *type, PyObject *args, PyObject *names) {
	PyObject *consumer;
	if (names != NULL && PyDict_Size(names) > 0) {
		PyErr_SetString(PyExc_TypeError, "Consumer.pictures() makes it");
		return NULL;
	}
	if (!PyArg_ParseTuple(args, "O!", reader_type, &consumer)) {
		return NULL;
	}
	struct pictures_object *self = (void *)PyType_GenericAlloc(type, 0);
	if (self != NULL) {
		replace(&self->consumer, consumer);
		replace(&self->frame, Py_None);
		iternextfunc next = (iternextfunc)PyType_GetSlot(Py_TYPE(consumer), Py_tp_iternext);
		self->is_plain = next == reader_next;
	}
	return (PyObject *)self;
}

static int pictures_traverse(PyObject *object, visitproc visit, void *arg) {
	struct pictures_object *self = (struct pictures_object *)object;
	Py_VISIT(Py_TYPE(object));
	Py_VISIT(self->consumer);
	Py_VISIT(self->frame);
	return 0;
}

static void pictures_dealloc(PyObject *object) {
	struct pictures_object *self = (struct pictures_object *)object;
	PyTypeObject *type = Py_TYPE(object);
	freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
	PyObject_GC_UnTrack(object);
	Py_XDECREF(self->frame); /* its own finalizer releases it */
	Py_XDECREF(self->consumer);
	free_it(object);
	Py_DECREF(type);
}

static PyMethodDef pictures_methods[] = {
		{"close", pictures_close, METH_NOARGS,
				"Gives the frame of the last picture back. The loop can go on."},
		{NULL, NULL, 0, NULL},
};

static PyMemberDef pictures_members[] = {
		{"frame", Py_T_OBJECT_EX, offsetof(struct pictures_object, frame), Py_READONLY,
				"The Frame of the last picture, with its times and all else that is said "
				"of it; None: it went back."},
		{NULL, 0, 0, 0, NULL},
};

#define PICTURES_DOC                                                                               \
	"A loop over the pictures of a consumer, see Consumer.pictures().\n\n"                     \
	"It has one frame at a time: the last picture's, until the next one is asked for, or\n"    \
	"close(), or it is forgotten itself."
static PyType_Slot pictures_slots[] = {
		{Py_tp_doc, PICTURES_DOC},
		{Py_tp_new, pictures_new},
		{Py_tp_iter, PyObject_SelfIter},
		{Py_tp_iternext, pictures_next},
		{Py_tp_methods, pictures_methods},
		{Py_tp_members, pictures_members},
		{Py_tp_traverse, pictures_traverse},
		{Py_tp_dealloc, pictures_dealloc},
		{0, NULL},
};

static PyType_Spec pictures_spec = {
		.name = "gid.Pictures",
		.basicsize = sizeof(struct pictures_object),
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
		.slots = pictures_slots,
};
