// SPDX-License-Identifier: MIT
//! Sends a picture that changes: cargo run --example paint -- [STREAM [FRAMES [FORMAT]]]

use gid::{Domain, ProducerOptions};
use std::env;
use std::thread::sleep;
use std::time::Duration;

const WIDTH: u32 = 320;
const HEIGHT: u32 = 240;
const BETWEEN: Duration = Duration::from_millis(33);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = env::args().skip(1);
    let stream = words.next().unwrap_or("rust".into());
    let frames: u64 = words.next().map_or(Ok(300), |word| word.parse())?;
    let format = words.next().unwrap_or("XR24".into()).parse()?;

    let domain = Domain::connect(None)?;
    let options = ProducerOptions {
        patient: true,
        ..ProducerOptions::default()
    };
    let mut producer = domain.producer(&stream, format, WIDTH, HEIGHT, &options)?;
    println!("{stream}: {:?}", producer.layout());
    while producer.consumers() == 0 {
        producer.dispatch()?;
        sleep(BETWEEN);
    }
    for number in 0..frames {
        let mut slot = producer.slot(None)?;
        slot.plane(0).fill(number as u8);
        slot.set_media_time(
            number * BETWEEN.as_nanos() as u64,
            BETWEEN.as_nanos() as u64,
        );
        slot.send()?;
        sleep(BETWEEN);
    }
    producer.finish(Duration::from_secs(5))?;
    Ok(())
}
