// SPDX-License-Identifier: MIT
//! Says what a stream's pictures are: cargo run --example look -- OWNER STREAM [FRAMES]

use gid::{ConsumerOptions, Domain};
use std::env;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [owner, stream, rest @ ..] = words.as_slice() else {
        return Err("look OWNER STREAM [FRAMES]".into());
    };
    let frames: usize = rest.first().map_or(Ok(usize::MAX), |word| word.parse())?;

    let domain = Domain::connect(None)?;
    let consumer = domain.consumer(Some(owner), stream, &ConsumerOptions::default())?;
    for _ in 0..frames {
        let Some(frame) = consumer.next_frame(Some(Duration::from_secs(60)))? else {
            break;
        };
        let pixels = frame.pixels()?;
        let plane = &pixels.planes()[0];
        let mut bytes = vec![0; plane.rows() * plane.row_bytes()];
        plane.copy_to(&mut bytes);
        let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
        println!(
            "{} {} {:?} mean {} current {}",
            frame.sequence(),
            frame.gid(),
            frame.layout(),
            sum / bytes.len() as u64,
            frame.is_current()
        );
    }
    let stats = consumer.stats();
    println!("{} frames, {} missed", stats.frames, stats.missed);
    Ok(())
}
