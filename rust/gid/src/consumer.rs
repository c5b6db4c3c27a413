// SPDX-License-Identifier: MIT

use crate::domain::{text, Connection};
use crate::error::{Error, Result};
use crate::wait::Deadline;
use crate::Frame;
use gid_sys as sys;
use rustix::io::Errno;
use std::cell::Cell;
use std::mem::size_of;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::time::Duration;

/// How a consumer behaves.
#[derive(Clone, Debug)]
pub struct ConsumerOptions {
    /// Frames to have at once, unread ones too, at most 63; 0: 4. If all are used, new ones are
    /// lost.
    pub credit: u32,
    /// Then the oldest of the unread ones are lost instead: for who wants the newest picture.
    pub drop_old: bool,
    /// Waits for the stream to appear, and again when its producer goes. Without it the stream must
    /// be there, and ends with its producer.
    pub reconnect: bool,
}

impl Default for ConsumerOptions {
    fn default() -> ConsumerOptions {
        ConsumerOptions {
            credit: 0,
            drop_old: false,
            reconnect: true,
        }
    }
}

/// Whether frames can come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no such stream now, or its producer has not answered yet.
    Waiting,
    /// Frames come when they are sent.
    Live,
    /// The producer ended, and `reconnect` is off.
    Ended,
}

/// The reading end of a stream, made by [`crate::Domain::consumer`].
pub struct Consumer {
    pub(crate) connection: Rc<Connection>,
    pub(crate) c: *mut sys::gid_consumer,
    stream: String,
    hidden: Cell<bool>,
    ended: Cell<bool>,
}

impl Consumer {
    pub(crate) fn new(
        connection: Rc<Connection>,
        owner: Option<&str>,
        stream: &str,
        options: &ConsumerOptions,
    ) -> Result<Consumer> {
        let (owner, name) = (owner.map(text).transpose()?, text(stream)?);
        // SAFETY: all zeroes are good options.
        let mut c_options: sys::gid_consumer_options = unsafe { std::mem::zeroed() };
        c_options.size = size_of::<sys::gid_consumer_options>() as u32;
        c_options.credit = options.credit;
        c_options.drop_old = options.drop_old;
        c_options.reconnect = options.reconnect;
        let mut c = null_mut();
        // SAFETY: texts and options that live until it returns.
        connection.check(unsafe {
            sys::gid_consumer_create(
                connection.c,
                owner.as_ref().map_or(null(), |owner| owner.as_ptr()),
                name.as_ptr(),
                &c_options,
                &mut c,
            )
        })?;
        Ok(Consumer {
            connection,
            c,
            stream: stream.to_owned(),
            hidden: Cell::new(false),
            ended: Cell::new(false),
        })
    }

    /// The next frame that is there now, or `None`. Waits for nothing, but for gidd at the first
    /// frame of memory that is new.
    ///
    /// Errors: `EPROTO`: the producer broke the protocol; `EDQUOT`, `ENODATA`: its memory cannot be
    /// read.
    pub fn receive(&self) -> Result<Option<Frame<'_>>> {
        // SAFETY: a struct of numbers and a pointer that is not used before it is set.
        let mut frame: sys::gid_frame = unsafe { std::mem::zeroed() };
        // A ring has no more in it. Who sends faster than we take keeps nobody from a deadline.
        for _ in 0..sys::GID_CREDIT_MAX {
            // SAFETY: on the domain's thread, and a place for the frame.
            match unsafe { sys::gid_consumer_receive(self.c, &mut frame) } {
                1 => {}
                result if result == -Errno::AGAIN.raw_os_error() => return Ok(None),
                result if result == -Errno::PIPE.raw_os_error() => {
                    self.ended.set(true);
                    return Ok(None);
                }
                result => return Err(Error::new(result, "")),
            }
            if frame.gid == 0 {
                self.note(&frame);
                if self.ended.get() {
                    return Ok(None);
                }
                continue;
            }
            self.hidden.set(false);
            self.ended.set(false);
            let mut slab = null_mut();
            // SAFETY: on the domain's thread, and a place for the slab.
            let result = unsafe { sys::gid_slab_import(self.connection.c, frame.gid, &mut slab) };
            if result == 0 {
                return Ok(Some(Frame::new(self, frame, slab)));
            }
            self.give_back(&frame);
            // The memory or gidd went away meanwhile: the next frame may have other memory.
            let gone = [Errno::NOENT, Errno::NOTCONN].map(|errno| -errno.raw_os_error());
            if !gone.contains(&result) {
                self.connection.check(result)?;
            }
        }
        Ok(None)
    }

    /// What an entry without a picture says.
    fn note(&self, frame: &sys::gid_frame) {
        self.hidden.set(frame.flags & sys::GID_FRAME_HIDDEN != 0);
        self.ended.set(frame.flags & sys::GID_FRAME_EOS != 0);
        self.give_back(frame);
    }

    pub(crate) fn give_back(&self, frame: &sys::gid_frame) {
        // SAFETY: on the domain's thread; a frame that is held no more is refused, which is fine.
        unsafe { sys::gid_consumer_release(self.c, frame) };
    }

    /// Waits for the next frame, for `timeout` at most (`None`: for as long as it takes). `None`:
    /// the flow has ended, or without `reconnect` its producer is gone; a later call waits for the
    /// next flow.
    ///
    /// Errors: `ETIMEDOUT`; those of [`Consumer::receive`].
    pub fn next_frame(&self, timeout: Option<Duration>) -> Result<Option<Frame<'_>>> {
        let deadline = Deadline::after(timeout);
        self.ended.set(false);
        loop {
            match self.receive()? {
                None if self.ended.get() => return Ok(None),
                None => {}
                frame => return Ok(frame),
            }
            if deadline.is_over() {
                return Err(self.late(timeout.unwrap_or_default()));
            }
            // SAFETY: on the domain's thread.
            let result = unsafe { sys::gid_consumer_wait(self.c, deadline.left_ms()) };
            if result != -Errno::INTR.raw_os_error() {
                self.connection.check(result)?;
            }
        }
    }

    fn late(&self, timeout: Duration) -> Error {
        let stats = self.stats();
        let why = if stats.credit > 0 && stats.held >= stats.credit {
            format!(
                "this program holds all {} frames that it may: drop one",
                stats.held
            )
        } else if self.state() == State::Waiting {
            "nobody sends it: `gidctl list` says what there is".to_owned()
        } else {
            "its producer sent none".to_owned()
        };
        let stream = &self.stream;
        let message = format!("no frame of {stream} within {timeout:?}: {why}");
        Error::own(Errno::TIMEDOUT, message)
    }

    /// All frames until the flow ends. Each one has to be dropped before credit runs out.
    pub fn frames(&self) -> Frames<'_> {
        Frames { consumer: self }
    }

    /// Begins the leases of all frames that are held anew: for who holds frames for longer than
    /// they are shown, three times in each `lease_ns` of the statistics.
    ///
    /// Errors: `ENOTCONN`: there is no producer now.
    pub fn renew(&self) -> Result<()> {
        // SAFETY: on the domain's thread.
        let result = unsafe { sys::gid_consumer_renew(self.c) };
        self.connection.check(result)?;
        Ok(())
    }

    /// Whether frames can come.
    pub fn state(&self) -> State {
        // SAFETY: only reads.
        match unsafe { sys::gid_consumer_get_state(self.c) } {
            sys::GID_CONSUMER_LIVE => State::Live,
            sys::GID_CONSUMER_ENDED => State::Ended,
            _ => State::Waiting,
        }
    }

    /// Whether the producer said last that nothing is to be shown now.
    pub fn is_hidden(&self) -> bool {
        self.hidden.get()
    }

    /// Frames received and missed, credit, lease and so on, as libgid counts them.
    pub fn stats(&self) -> sys::gid_consumer_stats {
        // SAFETY: a struct of numbers, which is filled in.
        unsafe {
            let mut stats = std::mem::zeroed();
            sys::gid_consumer_get_stats(self.c, &mut stats);
            stats
        }
    }
}

impl AsFd for Consumer {
    /// Readable, after [`Consumer::receive`] gave none, when there is a frame again.
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is the consumer's as long as that lives.
        unsafe { BorrowedFd::borrow_raw(sys::gid_consumer_get_fd(self.c)) }
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        // SAFETY: frames borrow the consumer, so that none is left.
        unsafe { sys::gid_consumer_destroy(self.c) }
    }
}

/// An iterator of frames, see [`Consumer::frames`].
pub struct Frames<'c> {
    consumer: &'c Consumer,
}

impl<'c> Iterator for Frames<'c> {
    type Item = Result<Frame<'c>>;

    fn next(&mut self) -> Option<Result<Frame<'c>>> {
        self.consumer.next_frame(None).transpose()
    }
}
