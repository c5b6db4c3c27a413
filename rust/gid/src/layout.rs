// SPDX-License-Identifier: MIT

use crate::error::{Error, Result};
use gid_sys as sys;
use std::fmt;
use std::str::FromStr;

/// A pixel format, by the four letters of `drm_fourcc.h`: `"XR24".parse()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fourcc(pub u32);

impl fmt::Display for Fourcc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: String = self.0.to_le_bytes().iter().map(|&b| b as char).collect();
        f.write_str(letters.trim_end())
    }
}

impl FromStr for Fourcc {
    type Err = Error;

    fn from_str(text: &str) -> Result<Fourcc> {
        let mut letters = [b' '; 4];
        if text.is_empty() || text.len() > 4 || !text.is_ascii() {
            let why = format!("{text:?} is no format: one has four letters, as XR24 or NV12");
            return Err(Error::own(rustix::io::Errno::INVAL, why));
        }
        letters[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Fourcc(u32::from_le_bytes(letters)))
    }
}

/// How the numbers of a picture are meant as colours, by the numbers of ITU-T H.273; 0: not said.
pub type Colours = sys::gid_colours;

/// A rectangle of pixels. An empty one means the whole picture.
pub type Rect = sys::gid_box;

/// What the pixels of a slot mean.
#[derive(Clone, Copy)]
pub struct Layout(pub(crate) sys::gid_layout);

impl Layout {
    /// Of a picture whose rows follow each other, aligned to 64 bytes.
    ///
    /// Errors: `EINVAL`: sizes out of range; `ENOTSUP`: a format that libgid does not know.
    pub fn linear(format: Fourcc, width: u32, height: u32) -> Result<Layout> {
        // SAFETY: a struct of numbers alone.
        let mut layout = unsafe { std::mem::zeroed() };
        // SAFETY: it fills in the struct.
        match unsafe { sys::gid_layout_init(&mut layout, format.0, width, height, 64) } {
            0 => Ok(Layout(layout)),
            error => Err(Error::new(
                error,
                &format!("{format} of {width}x{height}: not a format, or sizes that cannot be"),
            )),
        }
    }

    /// The same with colours.
    pub fn with_colours(mut self, colours: Colours) -> Layout {
        self.0.colours = colours;
        self
    }

    /// The pixel format.
    pub fn format(&self) -> Fourcc {
        Fourcc(self.0.fourcc)
    }

    /// Of the picture, in pixels.
    pub fn width(&self) -> u32 {
        self.0.width
    }

    /// Of the picture, in pixels.
    pub fn height(&self) -> u32 {
        self.0.height
    }

    /// What its numbers mean as colours.
    pub fn colours(&self) -> Colours {
        self.0.colours
    }

    /// How the memory is ordered, `DRM_FORMAT_MOD_*`; 0: rows one after the other.
    pub fn modifier(&self) -> u64 {
        self.0.modifier
    }

    /// How many planes of memory it has, 1 to 4.
    pub fn plane_count(&self) -> usize {
        self.0.plane_count.min(sys::GID_PLANES_MAX) as usize
    }

    /// Where each plane begins in its slot, and how its rows lie. Panics where there is no such
    /// plane.
    pub(crate) fn rows(&self, plane: usize) -> Rows {
        let count = self.plane_count();
        assert!(plane < count, "plane {plane} of {count}");
        let sys::gid_layout {
            fourcc,
            width,
            height,
            ..
        } = self.0;
        let place = self.0.planes[plane];
        // SAFETY: pure functions of numbers, which answer 0 for what they do not know.
        let (row_bytes, rows) = unsafe {
            (
                sys::gid_format_row_bytes(fourcc, plane as u32, width),
                sys::gid_format_rows(fourcc, plane as u32, height),
            )
        };
        Rows {
            offset: place.offset as usize,
            stride: place.stride as usize,
            row_bytes: row_bytes as usize,
            rows: rows as usize,
        }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}x{}", self.format(), self.width(), self.height())
    }
}

/// Of a plane, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub offset: usize,
    pub stride: usize,
    pub row_bytes: usize,
    pub rows: usize,
}

impl Rows {
    /// From the first byte to the last one that is a pixel's.
    pub fn bytes(&self) -> usize {
        match self.rows {
            0 => 0,
            rows => (rows - 1) * self.stride + self.row_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_letters() {
        assert_eq!("NV12".parse::<Fourcc>().unwrap().to_string(), "NV12");
        assert_eq!("R8".parse::<Fourcc>().unwrap().to_string(), "R8");
        for wrong in ["", "XRGB8888", "é"] {
            assert!(wrong.parse::<Fourcc>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn planes_of_nv12() {
        let layout = Layout::linear("NV12".parse().unwrap(), 6, 4).unwrap();
        assert_eq!(layout.plane_count(), 2);
        let (luma, chroma) = (layout.rows(0), layout.rows(1));
        assert_eq!(
            (luma.row_bytes, luma.rows, luma.bytes()),
            (6, 4, 3 * 64 + 6)
        );
        assert_eq!((chroma.row_bytes, chroma.rows), (6, 2));
        assert!(chroma.offset >= 4 * 64);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let xr24 = "XR24".parse().unwrap();
        for (width, height) in [(0, 1), (1, 0), (sys::GID_SIZE_MAX + 1, 1)] {
            assert!(Layout::linear(xr24, width, height).is_err());
        }
        assert!(Layout::linear("????".parse().unwrap(), 1, 1).is_err());
    }
}
