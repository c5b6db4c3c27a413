// SPDX-License-Identifier: MIT
/* Adds the types written in C to gid._gid; cffi generates the rest of that module. */

/*
 * The types are created once for all interpreters of the process, and for repeated imports of the
 * package: objects keep the types with which they were created.
 */
static bool add_type(PyObject *module, const char *name, PyType_Spec *spec, PyObject **type) {
	if (*type == NULL) {
		*type = PyType_FromSpec(spec);
	}
	return *type != NULL && PyObject_SetAttrString(module, name, *type) == 0;
}

static bool begin(void) {
	static bool has_begun;
	if (!has_begun) {
		later_name = PyUnicode_InternFromString("_later");
		is_closing_name = PyUnicode_InternFromString("is_closing");
		setflags_name = PyUnicode_InternFromString("setflags");
		write_names = Py_BuildValue("(s)", "write");
		has_begun = later_name != NULL && is_closing_name != NULL &&
				setflags_name != NULL && write_names != NULL &&
				pthread_atfork(NULL, NULL, count_fork) == 0;
	}
	return has_begun;
}

/* cffi calls it without the interpreter's lock, and cannot create types itself. */
bool gid_py_add_types(void) {
	static PyObject *draft_type, *pictures_type;
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *module = PyImport_ImportModule("gid._gid");
	bool is_added = module != NULL && begin() &&
			add_type(module, "Lock", &lock_spec, &lock_type) &&
			add_type(module, "Loan", &loan_spec, &loan_type) &&
			add_type(module, "Reader", &reader_spec, &reader_type) &&
			add_type(module, "Draft", &draft_spec, &draft_type) &&
			add_type(module, "Pictures", &pictures_spec, &pictures_type);
	PyErr_Clear();
	Py_XDECREF(module);
	PyGILState_Release(state);
	return is_added;
}
