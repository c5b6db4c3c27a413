// SPDX-License-Identifier: MIT
//! The windows, what programs ask of them, and when they are drawn.

use crate::screen::Screen;
use smithay::backend::renderer::utils::on_commit_buffer_handler;
use smithay::desktop::{PopupKind, PopupManager, Space, Window};
use smithay::input::{SeatHandler, SeatState};
use smithay::reexports::wayland_server::backend::ClientData;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_seat::WlSeat;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{self, DisplayHandle};
use smithay::utils::Serial;
use smithay::wayland::buffer::BufferHandler;
use smithay::wayland::compositor::{
    get_parent, CompositorClientState, CompositorHandler, CompositorState,
};
use smithay::wayland::output::OutputHandler;
use smithay::wayland::shell::xdg::{
    PopupSurface, PositionerState, ToplevelSurface, XdgShellHandler, XdgShellState,
};
use smithay::wayland::shm::{ShmHandler, ShmState};
use smithay::{
    delegate_compositor, delegate_output, delegate_seat, delegate_shm, delegate_xdg_shell,
};
use std::error::Error;
use std::time::{Duration, Instant};

const BETWEEN: Duration = Duration::from_nanos(16_666_667); // 60 Hz
/// Each window is so far to the right of and below the one before, again from the first after some.
const STEP: i32 = 40;
const STEPS: i32 = 10;

pub struct Desk {
    pub wayland: DisplayHandle,
    pub screen: Screen,
    space: Space<Window>,
    popups: PopupManager,
    opened: i32,
    began: Instant,
    last_turn: Instant,
    /// Something may have changed since the last turn.
    is_due: bool,
    compositor: CompositorState,
    shell: XdgShellState,
    shm: ShmState,
    seats: SeatState<Desk>,
}

impl Desk {
    pub fn new(wayland: &DisplayHandle, screen: Screen) -> Desk {
        let mut space = Space::default();
        space.map_output(&screen.output, (0, 0));
        screen.output.create_global::<Desk>(wayland);
        let mut seats = SeatState::new();
        seats.new_wl_seat(wayland, "seat0"); // some programs want one: it has no keys, no pointer
        let now = Instant::now();
        Desk {
            wayland: wayland.clone(),
            screen,
            space,
            popups: PopupManager::default(),
            opened: 0,
            began: now,
            last_turn: now,
            is_due: true, // late readers get an empty desk, too
            compositor: CompositorState::new::<Desk>(wayland),
            shell: XdgShellState::new::<Desk>(wayland),
            shm: ShmState::new::<Desk>(wayland, []),
            seats,
        }
    }

    /// How long there is nothing to do but to hear; `None`: until somebody says something.
    pub fn rest(&self) -> Option<Duration> {
        self.is_due
            .then(|| BETWEEN.saturating_sub(self.last_turn.elapsed()))
    }

    /// Draws, 60 times a second at most. Programs hear then that they may draw the next picture; not
    /// while readers have all slots: so no program draws what nobody gets.
    pub fn turn(&mut self) -> Result<(), Box<dyn Error>> {
        if self.rest().is_some_and(|rest| rest.is_zero()) {
            self.last_turn = Instant::now();
            self.space.refresh();
            self.popups.cleanup();
            self.is_due = !self.screen.draw(&self.space)?;
            if !self.is_due {
                self.ask_for_pictures();
            }
        }
        Ok(self.wayland.flush_clients()?)
    }

    fn ask_for_pictures(&self) {
        let output = &self.screen.output;
        for window in self.space.elements() {
            window.send_frame(output, self.began.elapsed(), None, |_, _| {
                Some(output.clone())
            });
        }
    }

    fn window_of(&self, surface: &WlSurface) -> Option<Window> {
        let is_it = |window: &&Window| {
            window
                .toplevel()
                .is_some_and(|top| top.wl_surface() == surface)
        };
        self.space.elements().find(is_it).cloned()
    }
}

/// What is kept of each program that is connected.
#[derive(Default)]
pub struct Client {
    compositor: CompositorClientState,
}

impl ClientData for Client {}

impl CompositorHandler for Desk {
    fn compositor_state(&mut self) -> &mut CompositorState {
        &mut self.compositor
    }

    fn client_compositor_state<'a>(
        &self,
        client: &'a wayland_server::Client,
    ) -> &'a CompositorClientState {
        let client = client.get_data::<Client>();
        &client.expect("each is inserted with its data").compositor
    }

    fn commit(&mut self, surface: &WlSurface) {
        on_commit_buffer_handler::<Desk>(surface);
        self.popups.commit(surface);
        if let Some(PopupKind::Xdg(popup)) = self.popups.find_popup(surface) {
            if !popup.is_initial_configure_sent() {
                let _ = popup.send_configure(); // the first always may
            }
        }
        let mut root = surface.clone();
        while let Some(parent) = get_parent(&root) {
            root = parent;
        }
        if let Some(window) = self.window_of(&root) {
            window.on_commit();
            let top = window.toplevel().expect("there are no others");
            if !top.is_initial_configure_sent() {
                top.send_configure();
            }
        }
        self.is_due = true;
    }
}

impl XdgShellHandler for Desk {
    fn xdg_shell_state(&mut self) -> &mut XdgShellState {
        &mut self.shell
    }

    fn new_toplevel(&mut self, surface: ToplevelSurface) {
        let place = self.opened % STEPS * STEP;
        self.opened += 1;
        let window = Window::new_wayland_window(surface);
        self.space.map_element(window, (place, place), true);
    }

    fn toplevel_destroyed(&mut self, surface: ToplevelSurface) {
        if let Some(window) = self.window_of(surface.wl_surface()) {
            self.space.unmap_elem(&window);
        }
        self.is_due = true;
    }

    fn new_popup(&mut self, surface: PopupSurface, positioner: PositionerState) {
        surface.with_pending_state(|state| state.geometry = positioner.get_geometry());
        let _ = self.popups.track_popup(surface.into()); // but for one that is gone already
    }

    fn grab(&mut self, _surface: PopupSurface, _seat: WlSeat, _serial: Serial) {}

    fn reposition_request(
        &mut self,
        surface: PopupSurface,
        positioner: PositionerState,
        token: u32,
    ) {
        surface.with_pending_state(|state| state.geometry = positioner.get_geometry());
        surface.send_repositioned(token);
    }

    fn popup_destroyed(&mut self, _surface: PopupSurface) {
        self.is_due = true;
    }
}

impl SeatHandler for Desk {
    type KeyboardFocus = WlSurface;
    type PointerFocus = WlSurface;
    type TouchFocus = WlSurface;

    fn seat_state(&mut self) -> &mut SeatState<Desk> {
        &mut self.seats
    }
}

impl BufferHandler for Desk {
    fn buffer_destroyed(&mut self, _buffer: &WlBuffer) {}
}

impl ShmHandler for Desk {
    fn shm_state(&self) -> &ShmState {
        &self.shm
    }
}

impl OutputHandler for Desk {}

delegate_compositor!(Desk);
delegate_output!(Desk);
delegate_seat!(Desk);
delegate_shm!(Desk);
delegate_xdg_shell!(Desk);
