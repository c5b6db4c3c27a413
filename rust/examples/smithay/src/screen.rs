// SPDX-License-Identifier: MIT
//! The screen: windows are drawn where readers of the stream read them, so that nothing is copied
//! after that.

use gid::{Domain, Producer, ProducerOptions, Rect, Slot};
use smithay::backend::renderer::damage::OutputDamageTracker;
use smithay::backend::renderer::element::surface::WaylandSurfaceRenderElement;
use smithay::backend::renderer::pixman::PixmanRenderer;
use smithay::backend::renderer::Bind;
use smithay::desktop::space::{space_render_elements, SpaceRenderElements};
use smithay::desktop::{Space, Window};
use smithay::output::{Mode, Output, PhysicalProperties, Subpixel};
use smithay::reexports::pixman::{FormatCode, Image};
use smithay::utils::{Physical, Rectangle};
use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

const WIDTH: u32 = 1280;
const HEIGHT: u32 = 720;
const BACKGROUND: [f32; 4] = [0.11, 0.22, 0.33, 1.0];
/// One to draw, one on its way, and two that readers hold.
const SLOTS: u32 = 4;

pub struct Screen {
    pub output: Output,
    pub producer: Producer,
    painter: Painter,
    /// Since the last frame, which readers are told.
    changes: OutputDamageTracker,
    unsent: Option<Rectangle<i32, Physical>>,
}

/// Draws what a slot lacks, which had another frame some time ago.
struct Painter {
    renderer: PixmanRenderer,
    repairs: OutputDamageTracker,
    frames: usize,
    /// Of each slot the frame that it has; 0: none.
    drawn: [usize; SLOTS as usize],
}

type Element = SpaceRenderElements<PixmanRenderer, WaylandSurfaceRenderElement<PixmanRenderer>>;

impl Screen {
    pub fn new(domain: &Domain, stream: &str) -> Result<Screen, Box<dyn Error>> {
        let options = ProducerOptions {
            slots: SLOTS,
            ..ProducerOptions::default()
        };
        let producer = domain.producer(stream, "XR24".parse()?, WIDTH, HEIGHT, &options)?;
        let properties = PhysicalProperties {
            size: (0, 0).into(), // in mm: nobody knows
            subpixel: Subpixel::Unknown,
            make: "gidway".into(),
            model: stream.into(),
        };
        let output = Output::new(stream.into(), properties);
        let mode = Mode {
            size: (WIDTH as i32, HEIGHT as i32).into(),
            refresh: 60_000,
        };
        output.set_preferred(mode);
        output.change_current_state(Some(mode), None, None, Some((0, 0).into()));
        Ok(Screen {
            producer,
            painter: Painter {
                renderer: PixmanRenderer::new()?,
                repairs: OutputDamageTracker::from_output(&output),
                frames: 0,
                drawn: [0; SLOTS as usize],
            },
            changes: OutputDamageTracker::from_output(&output),
            unsent: None,
            output,
        })
    }

    /// Sends a frame where something has changed. Returns false if readers have all slots: what
    /// changed then goes with the next frame.
    pub fn draw(&mut self, space: &Space<Window>) -> Result<bool, Box<dyn Error>> {
        let windows =
            space_render_elements(&mut self.painter.renderer, [space], &self.output, 1.0)?;
        let (changes, _) = self.changes.damage_output(1, &windows)?;
        for &change in changes.into_iter().flatten() {
            self.unsent = Some(self.unsent.map_or(change, |other| other.merge(change)));
        }
        let Some(changed) = self.unsent else {
            return Ok(true);
        };
        // Readers of a frame keep its slot: who asks for one gets another.
        let mut slot = match self.producer.slot(Some(Duration::ZERO)) {
            Err(error) if error.kind() == ErrorKind::TimedOut => return Ok(false),
            result => result?,
        };
        self.painter.paint(&mut slot, &windows)?;
        slot.set_damage(Rect {
            x: changed.loc.x,
            y: changed.loc.y,
            width: changed.size.w,
            height: changed.size.h,
        });
        slot.send()?;
        self.unsent = None;
        Ok(true)
    }

    pub fn finish(self, limit: Duration) -> gid::Result<()> {
        self.producer.finish(limit)
    }
}

impl Painter {
    fn paint(&mut self, slot: &mut Slot, windows: &[Element]) -> Result<(), Box<dyn Error>> {
        let index = slot.index() as usize;
        let (stride, pixels) = (slot.stride(0), slot.plane(0).as_mut_ptr().cast());
        let (width, height) = (WIDTH as usize, HEIGHT as usize);
        // SAFETY: the slot has as many rows of that stride, and outlives the image.
        let image = unsafe {
            Image::from_raw_mut(FormatCode::X8R8G8B8, width, height, pixels, stride, false)
        };
        let mut image = image.map_err(|_| "pixman does not take the slot")?;
        let mut target = self.renderer.bind(&mut image)?;
        self.frames += 1;
        let age = match self.drawn[index] {
            0 => 0, // all has to be drawn
            frame => self.frames - frame,
        };
        self.repairs
            .render_output(&mut self.renderer, &mut target, age, windows, BACKGROUND)?;
        self.drawn[index] = self.frames;
        Ok(())
    }
}
