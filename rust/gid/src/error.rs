// SPDX-License-Identifier: MIT

use gid_sys as sys;
use std::ffi::CStr;
use std::{fmt, io};

/// What libgid could not do, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    errno: i32,
    message: String,
}

/// What can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Of an `-errno`. `exact` is what libgid said of it; empty: nothing.
    pub(crate) fn new(error: i32, exact: &str) -> Error {
        // SAFETY: a constant text for every number.
        let common = unsafe { CStr::from_ptr(sys::gid_strerror(error)) };
        let message = if exact.is_empty() {
            common.to_string_lossy().into_owned()
        } else {
            exact.to_owned()
        };
        Error {
            errno: error.abs(),
            message,
        }
    }

    /// One of our own, with the kind that io::Error has for it.
    pub(crate) fn own(errno: rustix::io::Errno, message: String) -> Error {
        Error {
            errno: errno.raw_os_error(),
            message,
        }
    }

    /// The number, as `EACCES` has it. Each function of libgid's headers says which it may be.
    pub fn errno(&self) -> i32 {
        self.errno
    }

    /// The same as Rust has it: `ErrorKind::TimedOut` of who waited too long, and so on.
    pub fn kind(&self) -> io::ErrorKind {
        io::Error::from_raw_os_error(self.errno).kind()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::new(error.kind(), error)
    }
}

impl From<rustix::io::Errno> for Error {
    fn from(errno: rustix::io::Errno) -> Error {
        Error::own(errno, errno.to_string())
    }
}
