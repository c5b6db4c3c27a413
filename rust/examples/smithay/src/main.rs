// SPDX-License-Identifier: MIT
//! A Wayland compositor by Smithay whose screen is a stream: gid-smithay STREAM [PROGRAM [WORD…]]
//!
//! It says its WAYLAND_DISPLAY. With a program it ends when that does.

mod desk;
mod screen;

use desk::{Client, Desk};
use screen::Screen;
use smithay::reexports::calloop::generic::Generic;
use smithay::reexports::calloop::{EventLoop, Interest, LoopHandle, Mode, PostAction};
use smithay::reexports::wayland_server::Display;
use smithay::wayland::socket::ListeningSocketSource;
use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// For readers, to get the last picture when all is over.
const LAST: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args_os().skip(1);
    let stream = words.next().and_then(|word| word.into_string().ok());
    let stream = stream.ok_or("gid-smithay STREAM [PROGRAM [WORD…]]")?;

    let mut events = EventLoop::try_new()?;
    let domain = gid::Domain::connect(None)?;
    let screen = Screen::new(&domain, &stream)?;
    let wayland = Display::new()?;
    let mut desk = Desk::new(&wayland.handle(), screen);
    hear_gid(&events.handle(), domain, &desk)?;
    let socket = hear_clients(&events.handle(), wayland)?;
    println!("WAYLAND_DISPLAY={}", socket.to_string_lossy());

    let over = Arc::new(AtomicBool::new(false));
    if let Some(program) = words.next() {
        let mut child = Command::new(program)
            .args(words)
            .env("WAYLAND_DISPLAY", &socket)
            .spawn()?;
        let (over, signal) = (over.clone(), events.get_signal());
        std::thread::spawn(move || {
            let _ = child.wait();
            over.store(true, Ordering::Relaxed);
            signal.wakeup();
        });
    }
    while !over.load(Ordering::Relaxed) {
        events.dispatch(desk.rest(), &mut desk)?;
        desk.turn()?;
    }
    Ok(desk.screen.finish(LAST)?)
}

/// Readers come and go, and give frames back.
fn hear_gid(
    events: &LoopHandle<'_, Desk>,
    domain: gid::Domain,
    desk: &Desk,
) -> Result<(), Box<dyn Error>> {
    // The loop has descriptors of its own: the producer stays with whoever draws.
    let readers = desk.screen.producer.as_fd().try_clone_to_owned()?;
    let readers = Generic::new(readers, Interest::READ, Mode::Level);
    events.insert_source(readers, |_, _, desk| {
        desk.screen.producer.dispatch()?;
        Ok(PostAction::Continue)
    })?;
    let gidd = Generic::new(domain, Interest::READ, Mode::Level);
    events.insert_source(gidd, |_, domain, _| {
        domain.dispatch()?;
        Ok(PostAction::Continue)
    })?;
    Ok(())
}

/// Returns the name of the socket to which programs connect.
fn hear_clients(
    events: &LoopHandle<'_, Desk>,
    wayland: Display<Desk>,
) -> Result<std::ffi::OsString, Box<dyn Error>> {
    let socket = ListeningSocketSource::new_auto()?;
    let name: &OsStr = socket.socket_name();
    let name = name.to_owned();
    events.insert_source(socket, |stream, _, desk| {
        let client = Arc::new(Client::default());
        if let Err(error) = desk.wayland.insert_client(stream, client) {
            eprintln!("a program could not connect: {error}");
        }
    })?;
    let requests = Generic::new(wayland, Interest::READ, Mode::Level);
    events.insert_source(requests, |_, wayland, desk| {
        // SAFETY: it is not dropped here, nor its descriptor closed.
        unsafe { wayland.get_mut() }.dispatch_clients(desk)?;
        Ok(PostAction::Continue)
    })?;
    Ok(name)
}
