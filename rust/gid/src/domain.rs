// SPDX-License-Identifier: MIT

use crate::error::{Error, Result};
#[cfg(feature = "protection")]
use crate::protection::{Checks, ProtectedConsumer, Protection};
use crate::{Consumer, ConsumerOptions, Fourcc, Layout, Producer, ProducerOptions};
use gid_sys as sys;
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{null, null_mut};
use std::rc::Rc;

/// The connection, which ends with the last of all that was made from it.
pub(crate) struct Connection {
    pub c: *mut sys::gid_domain,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: nobody else has it: whoever is made from a domain holds an Rc of this.
        unsafe { sys::gid_domain_destroy(self.c) }
    }
}

impl Connection {
    /// What a call of libgid on this domain returned: a number, or what went wrong.
    pub fn check(&self, result: i32) -> Result<i32> {
        if result >= 0 {
            return Ok(result);
        }
        // SAFETY: the text is good until the next call.
        let exact = unsafe { CStr::from_ptr(sys::gid_domain_error(self.c)) };
        Err(Error::new(result, &exact.to_string_lossy()))
    }

    pub fn dispatch(&self) -> Result<()> {
        // SAFETY: on the domain's thread; the callbacks that it runs do not call it.
        self.check(unsafe { sys::gid_domain_dispatch(self.c) })?;
        Ok(())
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is the domain's as long as that lives.
        unsafe { BorrowedFd::borrow_raw(sys::gid_domain_get_fd(self.c)) }
    }
}

pub(crate) fn text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::own(Errno::INVAL, format!("{text:?} has a NUL")))
}

/// The domain that this program belongs to: where its streams are made and found. A clone is the
/// same connection.
#[derive(Clone)]
pub struct Domain {
    connection: Rc<Connection>,
}

impl Domain {
    /// Connects to the gidd of a domain, by its name or the path of gidd's socket; `None`: that of
    /// `$GID_DOMAIN`, or the only one of this system. Waits 2 s at most, or `$GID_ANSWER_SECONDS`.
    ///
    /// Errors: `ENOENT`, `ECONNREFUSED`: there is no gidd; `EACCES`; `EINVAL`: not a name, or none
    /// was given and there are several. The message says what to do.
    pub fn connect(name: Option<&str>) -> Result<Domain> {
        let name = name.map(text).transpose()?;
        let mut c = null_mut();
        // SAFETY: a text or none, and a place for the domain.
        let result = unsafe {
            sys::gid_domain_connect(name.as_ref().map_or(null(), |name| name.as_ptr()), &mut c)
        };
        if result < 0 {
            // SAFETY: the text is this thread's until it connects again.
            let exact = unsafe { CStr::from_ptr(sys::gid_domain_connect_error()) };
            return Err(Error::new(result, &exact.to_string_lossy()));
        }
        Ok(Domain {
            connection: Rc::new(Connection { c }),
        })
    }

    /// The domain's name.
    pub fn name(&self) -> String {
        // SAFETY: the name lives as long as the domain.
        let name = unsafe { CStr::from_ptr(sys::gid_domain_name(self.connection.c)) };
        name.to_string_lossy().into_owned()
    }

    /// The domain's number, 1 to 254.
    pub fn number(&self) -> u32 {
        // SAFETY: only reads.
        unsafe { sys::gid_domain_number(self.connection.c) }
    }

    /// Handles what gidd says, and connects again where it went away. What waits here calls it.
    pub fn dispatch(&self) -> Result<()> {
        self.connection.dispatch()
    }

    /// gidd's report on the domain, its slabs, grants and streams, as JSON.
    pub fn status(&self) -> Result<String> {
        let mut json = null_mut();
        // SAFETY: a place for a text that is ours then.
        let result = unsafe { sys::gid_domain_status(self.connection.c, &mut json) };
        self.connection.check(result)?;
        // SAFETY: a text with an end, of malloc(), which is read and freed once.
        unsafe {
            let text = CStr::from_ptr(json).to_string_lossy().into_owned();
            free(json.cast());
            Ok(text)
        }
    }

    /// Subscribes to a stream of the domain `owner`, a name or a number (`None`: our own). Does not
    /// wait for its producer, which may come later.
    ///
    /// Errors: `ENOENT`: this program may not read such a stream, or, without `reconnect`, there is
    /// none now; `EINVAL`: not a name; `EDQUOT`: too many.
    pub fn consumer(
        &self,
        owner: Option<&str>,
        stream: &str,
        options: &ConsumerOptions,
    ) -> Result<Consumer> {
        Consumer::new(self.connection.clone(), owner, stream, options)
    }

    /// Publishes a stream of this domain, of pictures of one format and size.
    ///
    /// Errors: `EPERM`: the cockpit's configuration does not allow it; `EEXIST`: the name is taken;
    /// `EINVAL`: not a name, or a size out of range; `ENOTSUP`: not a format; `EDQUOT`, `ENOMEM`.
    pub fn producer(
        &self,
        stream: &str,
        format: Fourcc,
        width: u32,
        height: u32,
        options: &ProducerOptions,
    ) -> Result<Producer> {
        let layout = Layout::linear(format, width, height)?;
        self.producer_of(stream, layout, options)
    }

    /// The same of a layout, as where colours are said.
    pub fn producer_of(
        &self,
        stream: &str,
        layout: Layout,
        options: &ProducerOptions,
    ) -> Result<Producer> {
        Producer::new(self.connection.clone(), stream, layout, options)
    }

    /// The same, and each picture carries a check, which who shows it looks at. Its rows have to be
    /// linear.
    ///
    /// Errors: those of [`Domain::producer`]; `ENOSYS`: libgid-protection was built without that
    /// profile.
    #[cfg(feature = "protection")]
    pub fn protected_producer(
        &self,
        stream: &str,
        layout: Layout,
        protection: &Protection,
        options: &ProducerOptions,
    ) -> Result<Producer> {
        let checks = Checks::new(stream, protection)?;
        let mut producer = self.producer_of(stream, layout, options)?;
        producer.protect(checks);
        Ok(producer)
    }

    /// Subscribes to a protected stream as [`Domain::consumer`] does. It gives out copies of those
    /// pictures that are what was sent, and of the others only which fault they have. `max_age`: how
    /// long after it was sent a picture may come at most; `None`: for ever.
    ///
    /// Errors: those of [`Domain::consumer`]; `ENOSYS`.
    #[cfg(feature = "protection")]
    pub fn protected_consumer(
        &self,
        owner: Option<&str>,
        stream: &str,
        protection: &Protection,
        max_age: Option<std::time::Duration>,
        options: &ConsumerOptions,
    ) -> Result<ProtectedConsumer> {
        let checks = Checks::new(stream, protection)?;
        let consumer = self.consumer(owner, stream, options)?;
        Ok(ProtectedConsumer::new(consumer, checks, max_age))
    }
}

impl AsFd for Domain {
    /// Readable when [`Domain::dispatch`] has work.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connection.fd()
    }
}

extern "C" {
    fn free(memory: *mut std::ffi::c_void);
}
