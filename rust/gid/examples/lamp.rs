// SPDX-License-Identifier: MIT
//! A lamp whose pictures are protected from end to end, and who shows it:
//! cargo run --features protection --example lamp -- send STREAM [KEY [FRAMES]]
//! cargo run --features protection --example lamp -- show OWNER STREAM [KEY [FRAMES]]
//! KEY is a file of 32 hexadecimal digits, or `-`: then there is only a CRC.

use gid::{
    ConsumerOptions, Domain, Fault, Key, Layout, ProducerOptions, Protection, ProtectionError,
};
use std::thread::sleep;
use std::time::Duration;

const WIDTH: u32 = 64;
const HEIGHT: u32 = 64;
const BETWEEN: Duration = Duration::from_millis(33);
const LATE: Duration = Duration::from_secs(60); // nothing came
const OLD: Duration = Duration::from_secs(10); // it came, but when it was sent it was another world

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["send", stream, ref rest @ ..] => send(stream, &protection(rest)?, frames(rest)?),
        ["show", owner, stream, ref rest @ ..] => {
            show(owner, stream, &protection(rest)?, frames(rest)?)
        }
        _ => Err("lamp send STREAM [KEY [FRAMES]], lamp show OWNER STREAM [KEY [FRAMES]]".into()),
    }
}

fn protection(rest: &[&str]) -> gid::Result<Protection> {
    match rest {
        [] | ["-", ..] => Ok(Protection::Crc64),
        [file, ..] => Key::read(file).map(Protection::Cmac),
    }
}

fn frames(rest: &[&str]) -> Result<usize, std::num::ParseIntError> {
    rest.get(1).map_or(Ok(usize::MAX), |word| word.parse())
}

fn send(
    stream: &str,
    protection: &Protection,
    frames: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let domain = Domain::connect(None)?;
    let layout = Layout::linear("XR24".parse()?, WIDTH, HEIGHT)?;
    let options = ProducerOptions {
        patient: true,
        ..ProducerOptions::default()
    };
    let mut producer = domain.protected_producer(stream, layout, protection, &options)?;
    while producer.consumers() == 0 {
        producer.dispatch()?;
        sleep(BETWEEN);
    }
    for number in 0..frames {
        let mut slot = producer.slot(None)?;
        let light = if number % 30 < 15 { 255 } else { 32 }; // it blinks
        for pixel in slot.plane(0).chunks_exact_mut(4) {
            pixel.copy_from_slice(&[0, 0, light, 255]);
        }
        slot.send()?;
        sleep(BETWEEN);
    }
    producer.finish(Duration::from_secs(5))?;
    Ok(())
}

fn show(
    owner: &str,
    stream: &str,
    protection: &Protection,
    frames: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let domain = Domain::connect(None)?;
    let options = ConsumerOptions::default();
    let mut lamp =
        domain.protected_consumer(Some(owner), stream, protection, Some(OLD), &options)?;
    for _ in 0..frames {
        match lamp.next_picture(Some(LATE)) {
            Ok(Some(picture)) => {
                let first = picture.rows(0).next().expect("it has rows");
                println!("{} good, red {}", picture.sequence(), first[2]);
            }
            Ok(None) => break,
            // Here a display shows its fallback.
            Err(ProtectionError::Wrong { sequence, fault }) => {
                println!("{sequence} wrong: {}{}", fault.name(), advice(fault));
            }
            Err(ProtectionError::TakenBack { sequence }) => println!("{sequence} taken back"),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn advice(fault: Fault) -> &'static str {
    match fault {
        Fault::NoCheck => " (does its producer protect it, and how?)",
        Fault::CheckMismatch => " (has its producer the same key?)",
        _ => "",
    }
}
