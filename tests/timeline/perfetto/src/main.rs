// SPDX-License-Identifier: MIT
//! Says to Perfetto what Weston 15 says: its category, a track for its functions, one for each output
//! with the GPU's beneath it, whose times are of CLOCK_MONOTONIC, counters, flows from track to
//! track. Perfetto's service records it; what the same repaints are in a timeline goes to a file.

use perfetto_sdk::{
    producer::*, track_event::*, track_event_begin, track_event_categories,
    track_event_category_enabled, track_event_counter, track_event_end, track_event_instant,
};
use std::{error::Error, fs, thread::sleep, time::Duration};

const FRAMES: u64 = 20;
const PERIOD: Duration = Duration::from_millis(16);
const REPAINT: Duration = Duration::from_millis(2);
const GPU: Duration = Duration::from_millis(3);

track_event_categories! {
    pub mod weston {
        ( "weston.default", "Weston default events", [] ),
    }
}
use weston as perfetto_te_ns;

/// CLOCK_MONOTONIC, as Weston's timeline has it.
fn monotonic() -> Duration {
    let mut time = [0i64; 2];
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    // SAFETY: a struct of two numbers of 64 bits, on 64-bit Linux.
    assert_eq!(unsafe { clock_gettime(1, &mut time) }, 0);
    Duration::new(time[0] as u64, time[1] as u32)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("name the file of the log")?;
    Producer::init(
        ProducerInitArgsBuilder::new()
            .backends(Backends::SYSTEM)
            .build(),
    );
    TrackEvent::init();
    weston::register()?;
    let process = TrackEventTrack::process_track_uuid();
    let output = TrackEventTrack::register_named_track("DP-1", 1, process)?;
    let gpu = TrackEventTrack::register_named_track("GPU activity", 2, output.uuid())?;
    let delay = TrackEventTrack::register_counter_track("delay of DP-1", process)?;
    while !track_event_category_enabled!("weston.default") {
        sleep(PERIOD);
    }
    let mut log = String::from("{ \"id\":1, \"type\":\"weston_output\", \"name\":\"DP-1\" }\n");
    let mut point = |time: Duration, name: &str, more: &str| {
        let (s, ns) = (time.as_secs(), time.subsec_nanos());
        log += &format!("{{ \"T\":[{s}, {ns}], \"N\":\"{name}\", \"wo\":1{more} }}\n");
    };
    for number in 1..=FRAMES {
        let flow = TrackEventFlow::process_scoped_flow(number);
        track_event_instant!("weston.default", "commit", |ctx: &mut EventContext| {
            ctx.add_debug_arg("surface", TrackEventDebugArg::String("Kölsch \u{1f37a}"));
            ctx.add_debug_arg("number", TrackEventDebugArg::Uint64(number));
        });
        point(monotonic(), "core_repaint_begin", "");
        track_event_begin!(
            "weston.default",
            "weston_output_repaint",
            |ctx: &mut EventContext| {
                ctx.set_flow(&flow);
            }
        );
        track_event_begin!("weston.default", "gl_renderer_repaint_output");
        sleep(REPAINT);
        track_event_end!("weston.default");
        track_event_end!("weston.default");
        let posted = monotonic();
        point(posted, "core_repaint_posted", "");
        track_event_begin!("weston.default", "GPU", |ctx: &mut EventContext| {
            ctx.set_track(&gpu)
                .set_timestamp(TrackEventTimestamp::Monotonic(posted));
            ctx.set_terminating_flow(&flow);
        });
        track_event_end!("weston.default", |ctx: &mut EventContext| {
            ctx.set_track(&gpu)
                .set_timestamp(TrackEventTimestamp::Monotonic(posted + GPU));
        });
        track_event_counter!("weston.default", |ctx: &mut EventContext| {
            ctx.set_track(&delay)
                .set_counter(TrackEventCounter::Double(number as f64 / 2.0));
        });
        track_event_instant!("weston.default", "posted", |ctx: &mut EventContext| {
            ctx.set_track(&output);
        });
        sleep(PERIOD - REPAINT);
        let now = monotonic();
        let stamp = format!(
            ", \"vblank_monotonic\":[{}, {}]",
            now.as_secs(),
            now.subsec_nanos()
        );
        point(now, "core_repaint_finished", &stamp);
    }
    track_event_instant!("weston.default", "the end", |ctx: &mut EventContext| {
        ctx.set_flush();
    });
    fs::write(file, log)?;
    Ok(())
}
