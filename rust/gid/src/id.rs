// SPDX-License-Identifier: MIT

use crate::{Error, Result};
use gid_sys as sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::str::FromStr;

/// The number that names a slot of memory, in all domains. It is a name: knowing it gives nobody
/// access. Its text form is `1:42.3#7`: domain, slab, slot, generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gid(pub u64);

impl Gid {
    /// The number of the domain whose memory it is.
    pub fn domain(self) -> u32 {
        (self.0 >> 56) as u32
    }

    /// The number of the slab in its domain.
    pub fn slab(self) -> u32 {
        (self.0 >> 32) as u32 & sys::GID_SLAB_MAX
    }

    /// The number of the slot in its slab.
    pub fn slot(self) -> u32 {
        (self.0 >> 16) as u32 & 0xffff
    }

    /// How often the slot was taken back by force, modulo 65536.
    pub fn generation(self) -> u32 {
        self.0 as u32 & 0xffff
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; sys::GID_TEXT_MAX as usize];
        // SAFETY: it writes a text of GID_TEXT_MAX bytes at most, with its end.
        let text = unsafe { CStr::from_ptr(sys::gid_format(self.0, text.as_mut_ptr())) };
        f.write_str(&text.to_string_lossy())
    }
}

impl FromStr for Gid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Gid> {
        let mut gid = 0;
        let c = CString::new(text).map_err(|_| Error::from(rustix::io::Errno::INVAL))?;
        // SAFETY: a text and a place for the number.
        match unsafe { sys::gid_parse(c.as_ptr(), &mut gid) } {
            0 => Ok(Gid(gid)),
            error => Err(Error::new(
                error,
                &format!("{text:?} is no gid, as 1:42.3#7"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_parts() {
        let gid: Gid = "1:42.3#7".parse().unwrap();
        assert_eq!(
            (gid.domain(), gid.slab(), gid.slot(), gid.generation()),
            (1, 42, 3, 7)
        );
        assert_eq!(gid.to_string(), "1:42.3#7");
        for wrong in ["", "1", "1:42.3", "1:42.3#7 ", "255:1.0#0", "1:1.0#\0"] {
            assert!(wrong.parse::<Gid>().is_err(), "{wrong:?}");
        }
    }
}
