// SPDX-License-Identifier: MIT

use crate::error::Result;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Until when something is waited for.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// `None`: there is none. What is later than clocks can say is none either.
    pub fn after(timeout: Option<Duration>) -> Deadline {
        Deadline(timeout.and_then(|timeout| Instant::now().checked_add(timeout)))
    }

    /// How long that is from now; `None`: for ever.
    pub fn left(self) -> Option<Duration> {
        self.0
            .map(|end| end.saturating_duration_since(Instant::now()))
    }

    pub fn is_over(self) -> bool {
        self.left() == Some(Duration::ZERO)
    }

    /// The same for libgid: rounded up, so that nobody spins in the last millisecond.
    pub fn left_ms(self) -> i32 {
        self.left().map_or(-1, |left| {
            i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX)
        })
    }
}

/// Waits until one of two descriptors is readable, for `limit` at most. A signal ends it, too.
pub(crate) fn wait(one: BorrowedFd, other: BorrowedFd, limit: Duration) -> Result<()> {
    let mut polled = [
        PollFd::from_borrowed_fd(one, PollFlags::IN),
        PollFd::from_borrowed_fd(other, PollFlags::IN),
    ];
    let limit = Timespec::try_from(limit).map_err(|_| Errno::INVAL)?;
    match poll(&mut polled, Some(&limit)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
