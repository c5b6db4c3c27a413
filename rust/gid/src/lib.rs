// SPDX-License-Identifier: MIT
//! Frames of gidway's streams: pictures that another domain (a virtual machine, a container, a
//! process) wrote, read where they are, and slots of memory to draw one's own into.
//!
//! ```no_run
//! fn main() -> gid::Result<()> {
//!     let domain = gid::Domain::connect(None)?;
//!     let consumer = domain.consumer(Some("open"), "movie", &gid::ConsumerOptions::default())?;
//!     for frame in consumer.frames() {
//!         let frame = frame?;
//!         let pixels = frame.pixels()?;
//!         let mut row = vec![0; pixels.planes()[0].row_bytes()];
//!         pixels.planes()[0].copy_row(0, &mut row);
//!         println!("{}: {:?}, current: {}", frame.sequence(), &row[..4], frame.is_current());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # What is safe here
//! A frame's pixels belong to another process. It does not touch them while the frame is ours; but
//! a lease may end, and a producer may be hostile. So there is no `&[u8]` of them, which Rust may
//! take to be constant: [`Plane`] copies rows, or gives a pointer. [`Frame::is_current`] says after
//! reading whether what was read was the frame. A [`Slot`] of one's own has plain `&mut [u8]`:
//! nobody else can write there.
//!
//! # Protection
//! With the feature `protection` a stream's pictures are protected from who draws them to who shows
//! them: `Domain::protected_producer()` and `Domain::protected_consumer()`. It takes
//! libgid-protection, which comes with libgid's headers, liblzma and nettle.
//!
//! # Threads
//! A [`Domain`] and all that is made of it belong to one thread: they are neither `Send` nor
//! `Sync`. Each thread makes a domain of its own; they share the pictures all the same. So does each
//! process: a child of `fork()` drops nothing that its parent made, and ends by `exec` or `_exit`.
//!
//! # Event loops
//! [`Domain`], [`Consumer`] and [`Producer`] are `AsFd`: when the first is readable, call
//! [`Domain::dispatch`]; when a consumer's is, [`Consumer::receive`] until there is none; when a
//! producer's is, [`Producer::dispatch`]. What waits here does all that by itself.

mod consumer;
mod domain;
mod error;
mod frame;
mod id;
mod layout;
mod producer;
#[cfg(feature = "protection")]
mod protection;
mod wait;

pub use consumer::{Consumer, ConsumerOptions, Frames, State};
pub use domain::Domain;
pub use error::{Error, Result};
pub use frame::{Frame, Pixels, Plane};
/// The bindings of libgid, for its constants and for what is not here.
pub use gid_sys as sys;
pub use id::Gid;
pub use layout::{Colours, Fourcc, Layout, Rect};
pub use producer::{Producer, ProducerOptions, Slot};
#[cfg(feature = "protection")]
pub use protection::{
    Fault, Key, Picture, Pictures, ProtectedConsumer, Protection, ProtectionError,
};
