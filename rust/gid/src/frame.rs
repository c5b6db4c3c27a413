// SPDX-License-Identifier: MIT

use crate::error::{Error, Result};
use crate::layout::{Layout, Rows};
use crate::Consumer;
use gid_sys as sys;
use rustix::io::Errno;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};

/// A picture that was received. It is given back when it is dropped.
pub struct Frame<'c> {
    pub(crate) consumer: &'c Consumer,
    pub(crate) c: sys::gid_frame,
    note: Vec<u8>,
    slab: *mut sys::gid_slab,
    info: sys::gid_slab_info,
}

/// What is said of a picture, for each type that has the struct gid_frame of it as `c`.
macro_rules! said {
    ($type:ty) => {
        impl $type {
            /// The frame's name in all domains.
            pub fn gid(&self) -> $crate::Gid {
                $crate::Gid(self.c.gid)
            }

            /// Its number in the stream, from 1. Where it jumps, frames were missed.
            pub fn sequence(&self) -> u64 {
                self.c.sequence
            }

            /// When the picture came to be: ns of `CLOCK_MONOTONIC`, as all times but the media's.
            pub fn capture_time(&self) -> Option<u64> {
                $crate::frame::time(self.c.capture_time)
            }

            /// When it was sent.
            pub fn submit_time(&self) -> u64 {
                self.c.submit_time
            }

            /// When it is meant to be shown.
            pub fn present_time(&self) -> Option<u64> {
                $crate::frame::time(self.c.present_time)
            }

            /// Media time at which it is to be shown, ns.
            pub fn pts(&self) -> Option<u64> {
                $crate::frame::time(self.c.pts)
            }

            /// Media time for which it is to be shown, ns.
            pub fn duration(&self) -> Option<u64> {
                $crate::frame::time(self.c.duration)
            }

            /// What is to be shown of it.
            pub fn crop(&self) -> $crate::Rect {
                self.c.crop
            }

            /// What changed since the frame before.
            pub fn damage(&self) -> $crate::Rect {
                self.c.damage
            }

            /// How it is to be turned, 0 to 7, as `enum wl_output_transform` has it.
            pub fn transform(&self) -> u32 {
                self.c.transform
            }

            /// Bits of `GID_FRAME_*` in [`sys`](crate::sys).
            pub fn flags(&self) -> u32 {
                self.c.flags
            }
        }
    };
}
#[cfg(feature = "protection")]
pub(crate) use said;

said!(Frame<'_>);

impl<'c> Frame<'c> {
    /// Takes over the frame and a reference to its slab.
    pub(crate) fn new(
        consumer: &'c Consumer,
        c: sys::gid_frame,
        slab: *mut sys::gid_slab,
    ) -> Frame<'c> {
        // SAFETY: the note is good until the next frame is received; the slab is referenced.
        let (note, info) = unsafe {
            let mut info = std::mem::zeroed();
            sys::gid_slab_get_info(slab, &mut info);
            let note = match c.note_size as usize {
                0 => Vec::new(),
                size => std::slice::from_raw_parts(c.note.cast(), size).to_vec(),
            };
            (note, info)
        };
        Frame {
            consumer,
            c,
            note,
            slab,
            info,
        }
    }

    /// What the producer's program says of it beyond all this, at most 256 bytes: not to be trusted.
    pub fn note(&self) -> &[u8] {
        &self.note
    }

    /// What its producer put beside the picture, as [`Slot::set_metadata`](crate::Slot) does: a
    /// copy, empty where that is nothing. Any bytes can be there: parse them with care.
    ///
    /// Errors: `ESTALE`, `ENOENT`, `ENOTCONN`: the frame was taken back; `EPROTO`: its producer
    /// broke the protocol; `EAGAIN`, or another of libgid's: its memory is not to be had now.
    pub fn metadata(&self) -> Result<Vec<u8>> {
        if self.c.metadata == 0 {
            return Ok(Vec::new());
        }
        let mut result = 0;
        for room in [sys::GID_METADATA_DEFAULT, sys::GID_METADATA_MAX] {
            let mut bytes = vec![0u8; room as usize];
            // SAFETY: on the domain's thread, and so much room; the slab is referenced.
            result = unsafe {
                let to = bytes.as_mut_ptr().cast();
                sys::gid_consumer_get_metadata(self.consumer.c, &self.c, self.slab, to, room)
            };
            if let Ok(size) = usize::try_from(result) {
                bytes.truncate(size);
                return Ok(bytes);
            }
            if result != -Errno::MSGSIZE.raw_os_error() {
                break;
            }
        }
        Err(Error::new(result, ""))
    }

    /// What its pixels mean.
    pub fn layout(&self) -> Layout {
        Layout(self.info.layout)
    }

    /// What its producer's framework says of the pixels, as GStreamer's caps; or nothing.
    pub fn description(&self) -> String {
        // SAFETY: the text lives as long as the slab, which is referenced.
        unsafe { CStr::from_ptr(self.info.description) }
            .to_string_lossy()
            .into_owned()
    }

    /// Whether it lies in a dma-buf: for devices, by [`Frame::as_fd`].
    pub fn is_dmabuf(&self) -> bool {
        self.info.memory == sys::GID_MEMORY_DMABUF
    }

    /// Where the picture begins behind [`Frame::as_fd`], bytes.
    pub fn offset(&self) -> u64 {
        self.info.offset + u64::from(self.gid().slot()) * self.info.slot_size
    }

    /// Its pixels, for a processor.
    ///
    /// Errors: `EAGAIN`: a device draws it still; `ENOTSUP`: only devices can read such memory;
    /// `ENODATA`: the memory has holes, which would be filled as they are read; `ENOENT`: it was
    /// revoked.
    pub fn pixels(&self) -> Result<Pixels<'_>> {
        Pixels::new(self)
    }

    /// Whether all that was read of it until now is what was sent. Ask after reading: `false` means
    /// that its lease ended, or that it was revoked, before or while it was read.
    pub fn is_current(&self) -> bool {
        // SAFETY: on the domain's thread; the slab is referenced.
        let held = unsafe {
            sys::gid_consumer_holds(self.consumer.c, &self.c, self.slab, std::ptr::null_mut())
        };
        held == 0
            || held == -Errno::NOTCONN.raw_os_error()
                // SAFETY: as above.
                && unsafe { sys::gid_slab_is_current(self.slab, self.c.gid) }
    }

    /// A copy of its memory, in the layout that it has, as bytes of one's own.
    ///
    /// Errors: `ESTALE`, `ENOENT`: it was taken back meanwhile; `EAGAIN`, `EINVAL`: it cannot be
    /// read by a processor now, or ever.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let (bytes, result) = self.keep();
        let is_same = result == -Errno::NOTCONN.raw_os_error() && self.is_current();
        if result < 0 && !is_same {
            return Err(Error::new(result, ""));
        }
        Ok(bytes)
    }

    /// A copy of its memory, and what libgid says of the copy.
    pub(crate) fn keep(&self) -> (Vec<u8>, i32) {
        // SAFETY: a pure function of numbers.
        let size = match unsafe { sys::gid_layout_size(&self.info.layout) } {
            0 => self.info.slot_size,
            size => size,
        } as usize;
        let mut bytes = vec![0u8; size];
        // SAFETY: as many bytes as it writes; the slab is referenced.
        let result = unsafe {
            sys::gid_consumer_keep(
                self.consumer.c,
                &self.c,
                self.slab,
                bytes.as_mut_ptr().cast(),
            )
        };
        (bytes, result)
    }
}

impl AsFd for Frame<'_> {
    /// The memory of its slab, which can only be read, for importers: a memfd, or a dma-buf. The
    /// picture begins [`Frame::offset`] bytes into it.
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is the slab's, which is referenced.
        unsafe { BorrowedFd::borrow_raw(self.info.fd) }
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        self.consumer.give_back(&self.c);
        // SAFETY: it was ours.
        unsafe { sys::gid_slab_unref(self.slab) }
    }
}

pub(crate) fn time(ns: u64) -> Option<u64> {
    (ns != u64::MAX).then_some(ns)
}

/// The pixels of a frame while a processor reads them.
pub struct Pixels<'f> {
    frame: &'f Frame<'f>,
    planes: Vec<Plane<'f>>,
}

impl<'f> Pixels<'f> {
    fn new(frame: &'f Frame<'f>) -> Result<Pixels<'f>> {
        let layout = frame.layout();
        if layout.modifier() != 0 {
            let modifier = layout.modifier();
            let why = format!("rows of modifier {modifier:#x} are for devices alone");
            return Err(Error::own(Errno::NOTSUP, why));
        }
        // SAFETY: the slab is referenced, and checks the number of the slot.
        let base = unsafe { sys::gid_slab_view(frame.slab, frame.gid().slot()) }.cast::<u8>();
        if base.is_null() {
            return Err(Error::from(if frame.info.revoked {
                Errno::NOENT
            } else if frame.is_dmabuf() {
                Errno::NOTSUP
            } else {
                Errno::NODATA
            }));
        }
        let mut planes = Vec::with_capacity(layout.plane_count());
        for rows in (0..layout.plane_count()).map(|plane| layout.rows(plane)) {
            if (rows.offset + rows.bytes()) as u64 > frame.info.slot_size {
                return Err(Error::from(Errno::RANGE)); // libgid refuses such a layout before
            }
            planes.push(Plane {
                // SAFETY: within the slot, as was just seen.
                first: unsafe { base.add(rows.offset) },
                rows,
                pixels: PhantomData,
            });
        }
        if frame.is_dmabuf() {
            // SAFETY: the descriptor is the slab's.
            let result = unsafe { sys::gid_dmabuf_begin_read(frame.info.fd) };
            if result < 0 {
                return Err(Error::new(result, ""));
            }
        }
        Ok(Pixels { frame, planes })
    }

    /// Each plane of the format, as `NV12` has two.
    pub fn planes(&self) -> &[Plane<'f>] {
        &self.planes
    }
}

impl Drop for Pixels<'_> {
    fn drop(&mut self) {
        if self.frame.is_dmabuf() {
            // SAFETY: it was begun.
            unsafe { sys::gid_dmabuf_end_read(self.frame.info.fd) }
        }
    }
}

/// A plane of pixels in memory that another process may write at any time.
pub struct Plane<'f> {
    first: *const u8,
    rows: Rows,
    pixels: PhantomData<&'f ()>,
}

impl Plane<'_> {
    /// The first byte of row 0. Memory that others write: read it by `read_volatile()` or by code
    /// that Rust does not look into, within [`Plane::stride`] x [`Plane::rows`], and only as long as
    /// the [`Pixels`] are there.
    pub fn as_ptr(&self) -> *const u8 {
        self.first
    }

    /// Bytes from one row to the next.
    pub fn stride(&self) -> usize {
        self.rows.stride
    }

    /// Bytes of a row's pixels.
    pub fn row_bytes(&self) -> usize {
        self.rows.row_bytes
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.rows
    }

    /// Copies the pixels of row `y`. Panics where there is no such row, and where `to` has not just
    /// [`Plane::row_bytes`].
    pub fn copy_row(&self, y: usize, to: &mut [u8]) {
        let Rows {
            stride,
            row_bytes,
            rows,
            ..
        } = self.rows;
        assert!(y < rows, "row {y} of {rows}");
        assert_eq!(to.len(), row_bytes, "bytes of a row");
        // SAFETY: the row lies within the plane.
        unsafe { copy(self.first.add(y * stride), to) }
    }

    /// Copies all rows, without what lies between them. Panics where `to` has not just
    /// [`Plane::rows`] x [`Plane::row_bytes`].
    pub fn copy_to(&self, to: &mut [u8]) {
        assert_eq!(to.len(), self.rows() * self.row_bytes(), "bytes of a plane");
        for (y, row) in to.chunks_exact_mut(self.row_bytes().max(1)).enumerate() {
            self.copy_row(y, row);
        }
    }
}

/// Copies memory that others may write meanwhile: each byte is read once, whatever it is.
///
/// # Safety
/// `from` has `to.len()` bytes that can be read.
unsafe fn copy(from: *const u8, to: &mut [u8]) {
    const WORD: usize = size_of::<u64>();
    let head = from.align_offset(WORD).min(to.len());
    let (ends, words) = to.split_at_mut(head);
    let byte = |to: &mut u8, at: usize| {
        // SAFETY: within the bytes that the caller promises.
        *to = unsafe { from.add(at).read_volatile() }
    };
    (0..).zip(ends).for_each(|(at, to)| byte(to, at));
    let mut at = head;
    let mut words = words.chunks_exact_mut(WORD);
    for word in &mut words {
        // SAFETY: likewise, and aligned since `head`.
        let value = unsafe { from.add(at).cast::<u64>().read_volatile() };
        word.copy_from_slice(&value.to_ne_bytes());
        at += WORD;
    }
    (at..)
        .zip(words.into_remainder())
        .for_each(|(at, to)| byte(to, at));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_begin_and_end_anywhere() {
        let from: Vec<u8> = (0..64).collect();
        for begin in 0..16 {
            for size in 0..40 {
                let mut to = vec![255; size];
                // SAFETY: 56 bytes at most.
                unsafe { copy(from[begin..].as_ptr(), &mut to) };
                assert_eq!(to, from[begin..begin + size]);
            }
        }
    }
}
