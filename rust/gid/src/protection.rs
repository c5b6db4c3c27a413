// SPDX-License-Identifier: MIT

use crate::domain::text;
use crate::error::{Error, Result};
use crate::frame::said;
use crate::layout::Layout;
use crate::{Consumer, Frame, State};
use gid_sys as sys;
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{null, null_mut, write_volatile};
use std::time::Duration;

/// What a check's descriptor has there: when the frame was sent, by its producer's clock.
const SUBMIT_TIME: std::ops::Range<usize> = 16..24;

/// How the pictures of a stream are protected. Both ends need the same.
#[derive(Clone, Debug)]
pub enum Protection {
    /// A CRC of 64 bits: against accidents.
    Crc64,
    /// AES-CMAC: who has not the key can make no check that is right.
    Cmac(Key),
}

/// The key of [`Protection::Cmac`]. It is forgotten when it is dropped, and not printed.
#[derive(Clone)]
pub struct Key([u8; sys::GID_PROTECTION_KEY_SIZE as usize]);

impl Key {
    /// Reads a file of 32 hexadecimal digits, as `openssl rand -hex 16` makes them.
    ///
    /// Errors: `EPERM`: others can read or write it; `EINVAL`: it holds something else; or why it
    /// cannot be read.
    pub fn read(file: impl AsRef<Path>) -> Result<Key> {
        let file = file.as_ref();
        let mut key = Key([0; sys::GID_PROTECTION_KEY_SIZE as usize]);
        let name = CString::new(file.as_os_str().as_bytes())
            .map_err(|_| Error::own(Errno::INVAL, format!("{file:?} has a NUL")))?;
        // SAFETY: a text, and room for a key.
        match unsafe { sys::gid_protection_read_key(name.as_ptr(), key.0.as_mut_ptr()) } {
            error if error < 0 => {
                // SAFETY: a text that stays until this thread asks for another one.
                let why = unsafe { CStr::from_ptr(sys::gid_protection_key_error(error)) };
                let why = why.to_string_lossy();
                Err(Error::new(error, &format!("{}: {why}", file.display())))
            }
            _ => Ok(key),
        }
    }
}

impl From<[u8; sys::GID_PROTECTION_KEY_SIZE as usize]> for Key {
    fn from(bytes: [u8; sys::GID_PROTECTION_KEY_SIZE as usize]) -> Key {
        Key(bytes)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        for byte in &mut self.0 {
            // SAFETY: a byte of our own. Nobody reads it, so that an ordinary write could be left out.
            unsafe { write_volatile(byte, 0) }
        }
    }
}

/// What makes checks of a stream's pictures, and compares them.
pub(crate) struct Checks {
    c: *mut sys::gid_protection,
}

impl Checks {
    pub fn new(stream: &str, protection: &Protection) -> Result<Checks> {
        let name = text(stream)?;
        let (profile, key) = match protection {
            Protection::Crc64 => (sys::GID_PROTECTION_CRC64, null()),
            Protection::Cmac(key) => (sys::GID_PROTECTION_CMAC, key.0.as_ptr()),
        };
        let mut c = null_mut();
        // SAFETY: a text and a key, or none, which are copied.
        match unsafe { sys::gid_protection_create(profile, name.as_ptr(), key, &mut c) } {
            0 => Ok(Checks { c }),
            error => Err(Error::new(error, "")),
        }
    }

    /// It must be dropped after the producer.
    pub fn protect(&self, producer: *mut sys::gid_producer) {
        // SAFETY: on the domain's thread.
        unsafe { sys::gid_protection_protect(self.c, producer) }
    }

    fn profile(&self) -> u64 {
        // SAFETY: only reads.
        u64::from(unsafe { sys::gid_protection_profile(self.c) })
    }
}

impl Drop for Checks {
    fn drop(&mut self) {
        // SAFETY: nobody else has it.
        unsafe { sys::gid_protection_destroy(self.c) }
    }
}

/// What happened to a picture on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// Picture and check are not of each other: bits of it, or of what is said of it, have changed;
    /// it is of another frame or another stream; or who sent it has another key.
    CheckMismatch,
    /// It has no check of this kind.
    NoCheck,
    /// It came again, or after a later one.
    OldFrame,
    /// It was sent longer ago than it may be.
    Age,
}

impl Fault {
    /// Its name, as `gid-cluster` and the Python package have it.
    pub fn name(self) -> &'static str {
        match self {
            Fault::CheckMismatch => "check-mismatch",
            Fault::NoCheck => "no-check",
            Fault::OldFrame => "old-frame",
            Fault::Age => "age",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::CheckMismatch => "picture and check are not of each other",
            Fault::NoCheck => "it has no check of the profile",
            Fault::OldFrame => "a later one has come already",
            Fault::Age => "it was sent too long ago",
        })
    }
}

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtectionError {
    /// It is not what was sent: show something else.
    Wrong {
        /// The frame's number, as it says.
        sequence: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// Its lease ended, or its producer went, before it was looked at.
    TakenBack {
        /// The frame's number, as it says.
        sequence: u64,
    },
    /// libgid could not do it, as where nothing came in time.
    Failed(Error),
}

impl ProtectionError {
    /// What is wrong with the picture, if that is what is wrong.
    pub fn fault(&self) -> Option<Fault> {
        match self {
            ProtectionError::Wrong { fault, .. } => Some(*fault),
            _ => None,
        }
    }
}

impl fmt::Display for ProtectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProtectionError::Wrong { sequence, fault } => write!(f, "frame {sequence}: {fault}"),
            ProtectionError::TakenBack { sequence } => {
                write!(
                    f,
                    "frame {sequence}: it was taken back before it was checked"
                )
            }
            ProtectionError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ProtectionError {}

impl From<Error> for ProtectionError {
    fn from(error: Error) -> ProtectionError {
        ProtectionError::Failed(error)
    }
}

/// A picture that is what was sent: a copy, which nobody else can write. Its note has no check, so
/// there is none.
#[derive(Clone)]
pub struct Picture {
    c: sys::gid_frame,
    layout: Layout,
    bytes: Vec<u8>,
}

// SAFETY: the pointer of `c` is null, all else are numbers and bytes of its own.
unsafe impl Send for Picture {}
// SAFETY: likewise, and nothing of it changes.
unsafe impl Sync for Picture {}

said!(Picture);

impl Picture {
    /// What its pixels mean.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// All of it, as the layout has it. Only what is to be shown is what was checked: not the bytes
    /// between the rows, and with a crop nothing beside that.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, to be kept.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The rows of a plane, from the first to the last. Panics where there is no such plane.
    pub fn rows(&self, plane: usize) -> impl ExactSizeIterator<Item = &[u8]> + '_ {
        let rows = self.layout.rows(plane);
        (0..rows.rows).map(move |y| {
            let first = rows.offset + y * rows.stride;
            &self.bytes[first..first + rows.row_bytes]
        })
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, frame {}", self.layout, self.sequence())
    }
}

/// The frame that was sent last of those that came.
#[derive(Default)]
struct Newest {
    sequence: u64,
    flow: u64, // how often its producer had come back
    sent: u64, // ns of the producer's clock
    came: u64, // ns of ours
}

impl Newest {
    /// Whether this one comes again, or after a later one; if not it is the newest.
    ///
    /// A producer that comes back counts from 1 again, and anybody can say that one went. But its
    /// clock goes on. Where that began anew with its machine it has run for less time than has
    /// passed here meanwhile.
    fn is_old(&mut self, next: Newest) -> bool {
        let is_back = next.flow != self.flow;
        let is_before = next.sent < self.sent || is_back && next.sent == self.sent;
        let is_old = !is_back && next.sequence <= self.sequence
            || is_before && next.sent > next.came.saturating_sub(self.came);
        if !is_old {
            *self = next;
        }
        is_old
    }
}

/// Looks at the frames of one consumer, each once, in the order in which they came.
struct Guard {
    checks: Checks,
    max_age: Option<Duration>,
    newest: Newest,
}

impl Guard {
    fn look(&mut self, mut frame: Frame<'_>) -> std::result::Result<Picture, ProtectionError> {
        let consumer = frame.consumer.c;
        // SAFETY: a struct of numbers.
        let mut check: sys::gid_check = unsafe { std::mem::zeroed() };
        // SAFETY: on the domain's thread, a frame that is held, and a place for its check.
        match unsafe { sys::gid_consumer_get_check(consumer, &mut frame.c, &mut check) } {
            0 if check.kind == self.checks.profile() => {}
            0 => return Err(wrong(&frame, Fault::NoCheck)),
            error => return Err(lost(&frame, error)),
        }
        let (bytes, result) = frame.keep();
        if result < 0 {
            return Err(lost(&frame, result));
        }
        let layout = frame.layout();
        // SAFETY: the copy has as many bytes as its layout says, if that is one of rows; else it is
        // refused.
        let result = unsafe {
            let slot = bytes.as_ptr().cast();
            sys::gid_protection_verify(self.checks.c, &frame.c, &check, &layout.0, slot)
        };
        if result < 0 {
            return Err(wrong(&frame, Fault::CheckMismatch));
        }
        if let Some(fault) = self.late(&frame, &check) {
            return Err(wrong(&frame, fault));
        }
        // SAFETY: on the domain's thread.
        unsafe {
            sys::gid_consumer_count_copy(consumer, sys::GID_COPY_UNSAID, bytes.len() as u64);
        }
        let mut c = frame.c;
        (c.note, c.note_size) = (null(), 0);
        Ok(Picture { c, layout, bytes })
    }

    /// What is wrong with the time of a frame whose check is right.
    fn late(&mut self, frame: &Frame<'_>, check: &sys::gid_check) -> Option<Fault> {
        let sent = check.descriptor[SUBMIT_TIME].try_into().expect("8 bytes");
        // SAFETY: only reads the clock.
        let now = unsafe { sys::gid_clock_now() };
        let is_old = self.newest.is_old(Newest {
            sequence: frame.sequence(),
            flow: frame.consumer.stats().reconnects,
            sent: u64::from_le_bytes(sent),
            came: now,
        });
        let age = Duration::from_nanos(now.saturating_sub(frame.submit_time()));
        if self.max_age.is_some_and(|most| age > most) {
            return Some(Fault::Age);
        }
        is_old.then_some(Fault::OldFrame)
    }
}

fn wrong(frame: &Frame<'_>, fault: Fault) -> ProtectionError {
    ProtectionError::Wrong {
        sequence: frame.sequence(),
        fault,
    }
}

/// Of an error of libgid's that says that there is no check, or nothing any more that it is of.
fn lost(frame: &Frame<'_>, error: i32) -> ProtectionError {
    match Errno::from_raw_os_error(-error) {
        Errno::NODATA => wrong(frame, Fault::NoCheck),
        Errno::PROTO => wrong(frame, Fault::CheckMismatch),
        Errno::STALE | Errno::NOENT | Errno::NOTCONN => ProtectionError::TakenBack {
            sequence: frame.sequence(),
        },
        _ => Error::new(error, "").into(),
    }
}

/// The reading end of a protected stream, made by [`crate::Domain::protected_consumer`]. Nobody gets
/// a picture of it that was not looked at, in the order in which they came.
pub struct ProtectedConsumer {
    consumer: Consumer,
    guard: Guard,
}

impl ProtectedConsumer {
    pub(crate) fn new(
        consumer: Consumer,
        checks: Checks,
        max_age: Option<Duration>,
    ) -> ProtectedConsumer {
        ProtectedConsumer {
            consumer,
            guard: Guard {
                checks,
                max_age,
                newest: Newest::default(),
            },
        }
    }

    /// The next picture that is there now, or `None`, as [`Consumer::receive`]. After an error of a
    /// picture the next one may be right.
    pub fn receive(&mut self) -> std::result::Result<Option<Picture>, ProtectionError> {
        let frame = self.consumer.receive()?;
        frame.map(|frame| self.guard.look(frame)).transpose()
    }

    /// Waits for the next picture, for `timeout` at most, as [`Consumer::next_frame`]. Pictures that
    /// were taken away on their way are seen by that alone.
    pub fn next_picture(
        &mut self,
        timeout: Option<Duration>,
    ) -> std::result::Result<Option<Picture>, ProtectionError> {
        let frame = self.consumer.next_frame(timeout)?;
        frame.map(|frame| self.guard.look(frame)).transpose()
    }

    /// All pictures until the flow ends, and what is wrong with those that are.
    pub fn pictures(&mut self) -> Pictures<'_> {
        Pictures { consumer: self }
    }

    /// Whether frames can come.
    pub fn state(&self) -> State {
        self.consumer.state()
    }

    /// Whether the producer said last that nothing is to be shown now. That has no check.
    pub fn is_hidden(&self) -> bool {
        self.consumer.is_hidden()
    }

    /// Frames received and missed and so on, as libgid counts them.
    pub fn stats(&self) -> sys::gid_consumer_stats {
        self.consumer.stats()
    }
}

impl AsFd for ProtectedConsumer {
    /// Readable, after [`ProtectedConsumer::receive`] gave none, when there is a picture again.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.consumer.as_fd()
    }
}

/// An iterator of pictures, see [`ProtectedConsumer::pictures`].
pub struct Pictures<'c> {
    consumer: &'c mut ProtectedConsumer,
}

impl Iterator for Pictures<'_> {
    type Item = std::result::Result<Picture, ProtectionError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.consumer.next_picture(None).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn frame(flow: u64, sequence: u64, sent: u64, came: u64) -> Newest {
        Newest {
            sequence,
            flow,
            sent,
            came,
        }
    }

    #[test]
    fn frames_again_and_those_before_are_old() {
        let mut newest = Newest::default();
        assert!(!newest.is_old(frame(0, 1, 90 * S, 100 * S)));
        assert!(!newest.is_old(frame(0, 5, 91 * S, 101 * S)));
        for (sequence, sent) in [(5, 91), (5, 92), (4, 92), (6, 90)] {
            assert!(newest.is_old(frame(0, sequence, sent * S, 102 * S)));
        }
        assert!(!newest.is_old(frame(0, 6, 92 * S, 102 * S)));
    }

    #[test]
    fn who_says_that_a_producer_went_brings_nothing_back() {
        let mut newest = Newest::default();
        assert!(!newest.is_old(frame(0, 7, 90 * S, 100 * S)));
        for (sequence, sent) in [(1, 80), (7, 90), (8, 90)] {
            assert!(newest.is_old(frame(1, sequence, sent * S, 101 * S)));
        }
        assert!(!newest.is_old(frame(1, 1, 91 * S, 101 * S)), "it is back");
        assert!(newest.is_old(frame(1, 1, 92 * S, 102 * S)), "and counts");
        // Its machine was started anew, less than 9 s ago.
        assert!(!newest.is_old(frame(2, 1, 3 * S, 110 * S)));
    }

    #[test]
    fn keys_are_not_printed() {
        let protection = Protection::Cmac(Key::from([7; 16]));
        assert_eq!(format!("{protection:?}"), "Cmac(Key)");
    }
}
