// SPDX-License-Identifier: MIT

use crate::domain::{text, Connection};
use crate::error::{Error, Result};
use crate::layout::Layout;
#[cfg(feature = "protection")]
use crate::protection::Checks;
use crate::wait::{wait, Deadline};
use crate::{Gid, Rect};
use gid_sys as sys;
use rustix::io::Errno;
use std::ffi::c_void;
use std::mem::size_of;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// While it waits for a slot it says so as often, to readers that renew their leases.
const SAY_EVERY: Duration = Duration::from_millis(500);
/// A producer that always finds a free slot hears as often who comes.
const HEAR_EVERY: Duration = Duration::from_millis(20);

/// How a producer behaves.
#[derive(Clone, Debug)]
pub struct ProducerOptions {
    /// How many pictures there is memory for: one to draw, one on its way, and those that readers
    /// hold.
    pub slots: u32,
    /// Waits for readers, which then miss no frame.
    pub patient: bool,
    /// Who comes gets the last picture at once, as from GStreamer's gidsink. That picture keeps its
    /// slot; with a single slot there is none to keep.
    pub keeps_shown: bool,
    /// How long a reader may hold a frame once the next was sent; zero: 1 s, or 10 s if patient.
    pub lease: Duration,
    /// Frames that one reader may hold; 0: 8.
    pub credit_max: u32,
    /// For readers by GStreamer: caps, as
    /// `video/x-raw,format=BGRx,width=64,height=48,framerate=30/1`. Without it they get those of
    /// the format and the size.
    pub description: Option<String>,
}

impl Default for ProducerOptions {
    fn default() -> ProducerOptions {
        ProducerOptions {
            slots: 4,
            patient: false,
            keeps_shown: true,
            lease: Duration::ZERO,
            credit_max: 0,
            description: None,
        }
    }
}

/// The writing end of a stream, made by [`crate::Domain::producer`]. Call [`Producer::dispatch`]
/// when it is readable, or at least a few times a second: who comes waits for that.
pub struct Producer {
    connection: Rc<Connection>,
    c: *mut sys::gid_producer,
    slab: *mut sys::gid_slab,
    layout: Layout,
    slot_size: usize,
    stream: String,
    patient: bool,
    heard: Instant,
    #[cfg(feature = "protection")]
    _checks: Option<Checks>, // dropped after the producer, which has them made
}

/// The last reader let go of a slot. `data` is the slab.
unsafe extern "C" fn released(data: *mut c_void, gid: sys::gid_id) {
    // SAFETY: the slab outlives its producer, which calls this.
    unsafe { sys::gid_slab_give(data.cast(), Gid(gid).slot()) }
}

impl Producer {
    pub(crate) fn new(
        connection: Rc<Connection>,
        stream: &str,
        layout: Layout,
        options: &ProducerOptions,
    ) -> Result<Producer> {
        let name = text(stream)?;
        let description = options.description.as_deref().map(text).transpose()?;
        let mut slab = null_mut();
        // SAFETY: texts and a layout that live until it returns.
        connection.check(unsafe {
            sys::gid_slab_create_for_stream(
                connection.c,
                name.as_ptr(),
                &layout.0,
                0,
                options.slots,
                description.as_ref().map_or(null(), |text| text.as_ptr()),
                &mut slab,
            )
        })?;
        // SAFETY: all zeroes are good options; the slab was just made.
        let (mut c_options, info): (sys::gid_producer_options, sys::gid_slab_info) = unsafe {
            let mut info = std::mem::zeroed();
            sys::gid_slab_get_info(slab, &mut info);
            (std::mem::zeroed(), info)
        };
        c_options.size = size_of::<sys::gid_producer_options>() as u32;
        c_options.quiet = true;
        c_options.released = Some(released);
        c_options.data = slab.cast();
        c_options.patient = options.patient;
        c_options.keeps_shown = options.keeps_shown && options.slots > 1;
        c_options.lease_ns = options.lease.as_nanos().try_into().unwrap_or(u64::MAX);
        c_options.credit_max = options.credit_max;
        let mut producer = Producer {
            connection,
            c: null_mut(), // dropped so, only the slab goes
            slab,
            layout,
            slot_size: info.slot_size as usize,
            stream: stream.to_owned(),
            patient: options.patient,
            heard: Instant::now(),
            #[cfg(feature = "protection")]
            _checks: None,
        };
        // SAFETY: a text and options that live until it returns.
        let result = unsafe {
            let domain = producer.connection.c;
            sys::gid_producer_create(domain, name.as_ptr(), &c_options, &mut producer.c)
        };
        producer.connection.check(result)?;
        Ok(producer)
    }

    /// From now on each picture that is sent has a check.
    #[cfg(feature = "protection")]
    pub(crate) fn protect(&mut self, checks: Checks) {
        checks.protect(self.c);
        self._checks = Some(checks);
    }

    /// A free slot to draw into, for [`Slot::send`]. If readers have all of them it waits, for
    /// `timeout` at most (`None`: for as long as it takes), and takes frames back that nobody has
    /// read yet. A `patient` producer takes none back, and waits until no reader would miss a frame.
    ///
    /// Errors: `ETIMEDOUT`.
    pub fn slot(&mut self, timeout: Option<Duration>) -> Result<Slot<'_>> {
        let deadline = Deadline::after(timeout);
        loop {
            if let Some(index) = self.take()? {
                return Ok(Slot::new(self, index));
            }
            if deadline.is_over() {
                let timeout = timeout.unwrap_or_default();
                let why = format!("readers of {} had all slots for {timeout:?}", self.stream);
                return Err(Error::own(Errno::TIMEDOUT, why));
            }
            let limit = deadline
                .left()
                .map_or(SAY_EVERY, |left| left.min(SAY_EVERY));
            wait(self.connection.fd(), self.as_fd(), limit)?;
        }
    }

    fn take(&mut self) -> Result<Option<u32>> {
        if self.heard.elapsed() >= HEAR_EVERY {
            self.heard = Instant::now();
            self.connection.dispatch()?;
        }
        // SAFETY: all on the domain's thread.
        unsafe {
            sys::gid_producer_dispatch(self.c);
            if !self.patient || sys::gid_producer_room(self.c) > 0 {
                let mut index = sys::gid_slab_take(self.slab);
                if index < 0 && !self.patient && sys::gid_producer_reclaim(self.c, false) > 0 {
                    index = sys::gid_slab_take(self.slab);
                }
                if let Ok(index) = u32::try_from(index) {
                    return Ok(Some(index));
                }
                sys::gid_producer_lacks_memory(self.c);
            }
            sys::gid_producer_want_release(self.c);
        }
        self.connection.dispatch()?;
        Ok(None)
    }

    /// Hears of readers that come and go, and of frames that they release. Waits for nothing.
    pub fn dispatch(&self) -> Result<()> {
        self.connection.dispatch()?;
        // SAFETY: on the domain's thread.
        let result = unsafe { sys::gid_producer_dispatch(self.c) };
        self.connection.check(result)?;
        Ok(())
    }

    /// What the pixels of its slots mean.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// How many readers there are.
    pub fn consumers(&self) -> u32 {
        // SAFETY: only reads.
        unsafe { sys::gid_producer_consumers(self.c) }
    }

    /// Frames sent, delivered and dropped, and so on, as libgid counts them.
    pub fn stats(&self) -> sys::gid_producer_stats {
        // SAFETY: a struct of numbers, which is filled in.
        unsafe {
            let mut stats = std::mem::zeroed();
            sys::gid_producer_get_stats(self.c, &mut stats);
            stats
        }
    }

    /// Ends the flow, and the stream when its last frames were read and given back, or `limit` is
    /// over. Who is only dropped takes back at once what readers still hold.
    pub fn finish(self, limit: Duration) -> Result<()> {
        // SAFETY: a struct of numbers.
        let mut end: sys::gid_frame = unsafe { std::mem::zeroed() };
        end.flags = sys::GID_FRAME_EOS;
        for time in [
            &mut end.capture_time,
            &mut end.present_time,
            &mut end.pts,
            &mut end.dts,
            &mut end.duration,
        ] {
            *time = u64::MAX;
        }
        (end.offset, end.offset_end) = (u64::MAX, u64::MAX);
        // SAFETY: on the domain's thread.
        let result = unsafe { sys::gid_producer_send(self.c, &mut end) };
        self.connection.check(result)?;
        let deadline = Deadline::after(Some(limit));
        while !self.is_read()? && !deadline.is_over() {
            let left = deadline.left().unwrap_or_default();
            wait(self.connection.fd(), self.as_fd(), left.min(SAY_EVERY))?;
        }
        Ok(())
    }

    fn is_read(&self) -> Result<bool> {
        self.connection.dispatch()?;
        // SAFETY: on the domain's thread.
        unsafe { sys::gid_producer_want_release(self.c) };
        // SAFETY: only reads.
        let unread = unsafe { sys::gid_producer_unread(self.c) };
        Ok(self.consumers() == 0 || unread == 0 && self.stats().held == 0)
    }
}

impl AsFd for Producer {
    /// Readable when [`Producer::dispatch`] has work.
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is the producer's as long as that lives.
        unsafe { BorrowedFd::borrow_raw(sys::gid_producer_get_fd(self.c)) }
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        // SAFETY: slots borrow the producer, so that none is left. The producer goes first, for it
        // calls `released`.
        unsafe {
            sys::gid_producer_destroy(self.c);
            sys::gid_slab_destroy(self.slab, false);
        }
    }
}

/// A free slot: memory that only this process can write, and that nobody reads before it is sent.
/// What was drawn there some frames ago is still in it. Who drops it gives it back unsent.
pub struct Slot<'p> {
    producer: &'p mut Producer,
    index: u32,
    frame: sys::gid_frame,
    metadata: Vec<u8>,
}

impl<'p> Slot<'p> {
    fn new(producer: &'p mut Producer, index: u32) -> Slot<'p> {
        // SAFETY: a struct of numbers.
        let mut frame: sys::gid_frame = unsafe { std::mem::zeroed() };
        // SAFETY: only reads the clock.
        frame.capture_time = unsafe { sys::gid_clock_now() };
        for time in [
            &mut frame.present_time,
            &mut frame.pts,
            &mut frame.dts,
            &mut frame.duration,
        ] {
            *time = u64::MAX;
        }
        (frame.offset, frame.offset_end) = (u64::MAX, u64::MAX);
        Slot {
            producer,
            index,
            frame,
            metadata: Vec::new(),
        }
    }

    /// Which of the producer's slots it is, from 0: for who draws only what changed since it last had
    /// this one.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// All of its memory, as the layout has it: plane after plane, each where its offset is.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the slot is ours alone while we have it, and as large. Its address stays.
        unsafe {
            let data = sys::gid_slab_data(self.producer.slab, self.index);
            assert!(!data.is_null(), "a slab that was made has memory");
            std::slice::from_raw_parts_mut(data.cast(), self.producer.slot_size)
        }
    }

    /// The rows of a plane one after the other, with what lies between them, see
    /// [`Slot::stride`]. Panics where there is no such plane.
    pub fn plane(&mut self, plane: usize) -> &mut [u8] {
        let rows = self.producer.layout.rows(plane);
        &mut self.bytes()[rows.offset..rows.offset + rows.bytes()]
    }

    /// Bytes from one row of a plane to the next. Panics where there is no such plane.
    pub fn stride(&self, plane: usize) -> usize {
        self.producer.layout.rows(plane).stride
    }

    /// When the picture came to be: ns of `CLOCK_MONOTONIC`. Now, if it is not said.
    pub fn set_capture_time(&mut self, ns: u64) -> &mut Self {
        self.frame.capture_time = ns;
        self
    }

    /// When it is meant to be shown, likewise.
    pub fn set_present_time(&mut self, ns: u64) -> &mut Self {
        self.frame.present_time = ns;
        self
    }

    /// Media time at which it is to be shown, and for how long, ns.
    pub fn set_media_time(&mut self, pts: u64, duration: u64) -> &mut Self {
        (self.frame.pts, self.frame.duration) = (pts, duration);
        self
    }

    /// What is to be shown of it.
    pub fn set_crop(&mut self, crop: Rect) -> &mut Self {
        self.frame.crop = crop;
        self
    }

    /// What changed since the frame before.
    pub fn set_damage(&mut self, damage: Rect) -> &mut Self {
        self.frame.damage = damage;
        self
    }

    /// What goes beside the picture: bytes of any form, at most 16 KiB, as what was found in it. Of
    /// readers only those that ask for it get it: `Frame::metadata()`.
    pub fn set_metadata(&mut self, bytes: impl Into<Vec<u8>>) -> &mut Self {
        self.metadata = bytes.into();
        self
    }

    /// Sends it. Returns to how many readers.
    ///
    /// Errors: `EINVAL`: something that was said of it is out of range; `EMSGSIZE`: so is the size
    /// of its metadata, for which other errors can say that there is no memory; of a protected
    /// stream also `ENOTSUP`, `EAGAIN`: its pixels cannot be read by a processor, or not now.
    pub fn send(self) -> Result<u32> {
        self.send_with(&[])
    }

    /// The same with a note of at most 256 bytes for the readers' program.
    pub fn send_with(mut self, note: &[u8]) -> Result<u32> {
        let Producer {
            c,
            slab,
            ref connection,
            ..
        } = *self.producer;
        self.frame.note = note.as_ptr().cast();
        self.frame.note_size = note.len().try_into().unwrap_or(u32::MAX);
        let (metadata, size) = (self.metadata.as_ptr(), self.metadata.len());
        let size = size.try_into().unwrap_or(u32::MAX);
        // SAFETY: on the domain's thread; note and metadata live until it returns. If nobody holds
        // the slot when this is dropped, it is given back there.
        let result = unsafe {
            self.frame.gid = sys::gid_slab_gid(slab, self.index);
            match sys::gid_producer_put_metadata(c, &mut self.frame, metadata.cast(), size) {
                0 => sys::gid_producer_send(c, &mut self.frame),
                error => error,
            }
        };
        connection.check(result).map(|readers| readers as u32)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let slab = self.producer.slab;
        // SAFETY: on the domain's thread. Where somebody holds it, `released` gives it back.
        unsafe {
            if sys::gid_slab_holders(slab, self.index) == 0 {
                sys::gid_slab_give(slab, self.index);
            }
        }
    }
}
