// SPDX-License-Identifier: MIT
//! Protected streams between two domains, see streams.rs. tests/rust/test_rust.py has another program
//! do to frames what can happen to them on their way.

use gid::{
    ConsumerOptions, Domain, Fault, Key, Layout, Picture, Producer, ProducerOptions,
    ProtectedConsumer, Protection, ProtectionError, State,
};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

const LONG: Duration = Duration::from_secs(120);
const SHORT: Duration = Duration::from_millis(20);

fn domain(name: &str) -> Domain {
    let socket = env::var(format!("GID_TEST_{name}")).expect("run by tests/rust/test_rust.py");
    Domain::connect(Some(&socket)).unwrap()
}

fn cmac(digit: u8) -> Protection {
    Protection::Cmac(Key::from([digit; 16]))
}

fn layout(format: &str) -> Layout {
    Layout::linear(format.parse().unwrap(), 64, 48).unwrap()
}

fn producer(stream: &str, protection: &Protection) -> Producer {
    let options = ProducerOptions {
        lease: LONG,
        ..ProducerOptions::default()
    };
    domain("OPEN")
        .protected_producer(stream, layout("NV12"), protection, &options)
        .unwrap()
}

fn consumer(stream: &str, protection: &Protection, age: Option<Duration>) -> ProtectedConsumer {
    let options = ConsumerOptions::default();
    domain("CLUSTER")
        .protected_consumer(Some("open"), stream, protection, age, &options)
        .unwrap()
}

/// One of each, of a stream of this name.
fn pair(stream: &str, sends: &Protection, reads: &Protection) -> (Producer, ProtectedConsumer) {
    let (producer, mut consumer) = (producer(stream, sends), consumer(stream, reads, None));
    settle(&producer, &mut consumer);
    (producer, consumer)
}

/// Until they know of each other.
fn settle(producer: &Producer, consumer: &mut ProtectedConsumer) {
    let end = Instant::now() + LONG;
    while producer.consumers() == 0 || consumer.state() != State::Live {
        assert!(Instant::now() < end);
        assert!(look(producer, consumer).is_none());
    }
}

/// What has come, while both hear of each other.
fn look(producer: &Producer, consumer: &mut ProtectedConsumer) -> Option<Picture> {
    producer.dispatch().unwrap();
    match consumer.next_picture(Some(SHORT)) {
        Ok(picture) => picture,
        Err(ProtectionError::Failed(error)) if error.kind() == ErrorKind::TimedOut => None,
        Err(error) => panic!("{error}"),
    }
}

fn send(producer: &mut Producer, value: u8) {
    let mut slot = producer.slot(Some(LONG)).unwrap();
    slot.plane(0).fill(value);
    slot.plane(1).fill(value ^ 0xff);
    slot.set_media_time(u64::from(value) * 1000, 1000);
    slot.send_with(b"a note").unwrap();
}

fn next(consumer: &mut ProtectedConsumer) -> Result<Picture, ProtectionError> {
    consumer
        .next_picture(Some(LONG))
        .map(|picture| picture.expect("a picture"))
}

#[test]
fn each_picture_is_a_copy_of_what_was_sent() {
    for (stream, protection) in [("rust/crc", Protection::Crc64), ("rust/cmac", cmac(1))] {
        let (mut producer, mut consumer) = pair(stream, &protection, &protection);
        for value in 1..=50 {
            send(&mut producer, value);
            let picture = next(&mut consumer).unwrap();
            assert_eq!((picture.rows(0).len(), picture.rows(1).len()), (48, 24));
            assert!(picture.rows(0).all(|row| row == [value; 64]));
            assert!(picture.rows(1).all(|row| row == [value ^ 0xff; 64]));
            assert_eq!(picture.sequence(), u64::from(value));
            assert_eq!(picture.pts(), Some(u64::from(value) * 1000));
            assert_eq!(consumer.stats().held, 0, "it went back at once");
        }
        assert_eq!(consumer.state(), State::Live);
    }
}

#[test]
fn a_picture_stays_and_goes_to_other_threads() {
    let (mut producer, mut consumer) = pair("rust/stays", &cmac(2), &cmac(2));
    send(&mut producer, 7);
    let picture = next(&mut consumer).unwrap();
    drop((producer, consumer));
    let sum = std::thread::spawn(move || {
        let bytes: Vec<u8> = picture.rows(0).flatten().copied().collect();
        bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>()
    });
    assert_eq!(sum.join().unwrap(), 7 * 64 * 48);
}

#[test]
fn who_protects_otherwise_is_told_by_name() {
    let cases = [
        ("rust/key", cmac(3), cmac(4), Fault::CheckMismatch),
        ("rust/keyed", cmac(3), Protection::Crc64, Fault::NoCheck),
        ("rust/unkeyed", Protection::Crc64, cmac(3), Fault::NoCheck),
    ];
    for (stream, sends, reads, fault) in cases {
        let (mut producer, mut consumer) = pair(stream, &sends, &reads);
        for sequence in 1..=20 {
            send(&mut producer, sequence as u8);
            let error = next(&mut consumer).unwrap_err();
            assert_eq!(error, ProtectionError::Wrong { sequence, fault });
            assert_eq!(error.fault(), Some(fault));
            assert_eq!(consumer.stats().held, 0, "nor is it kept");
        }
    }
}

#[test]
fn who_does_not_protect_is_told_by_name() {
    let mut producer = domain("OPEN")
        .producer_of("rust/none", layout("NV12"), &ProducerOptions::default())
        .unwrap();
    let mut consumer = consumer("rust/none", &Protection::Crc64, None);
    settle(&producer, &mut consumer);
    send(&mut producer, 1);
    let error = next(&mut consumer).unwrap_err();
    assert_eq!(error.fault().map(Fault::name), Some("no-check"));
    assert_eq!(error.to_string(), "frame 1: it has no check of the profile");
}

#[test]
fn what_took_too_long_is_told_by_name() {
    let mut producer = producer("rust/late", &Protection::Crc64);
    let mut consumer = consumer("rust/late", &Protection::Crc64, Some(SHORT));
    settle(&producer, &mut consumer);
    send(&mut producer, 1);
    sleep(2 * SHORT);
    assert_eq!(next(&mut consumer).unwrap_err().fault(), Some(Fault::Age));
}

#[test]
fn what_never_came_is_told() {
    let (_producer, mut consumer) = pair("rust/gone", &Protection::Crc64, &Protection::Crc64);
    match consumer.next_picture(Some(SHORT)) {
        Err(ProtectionError::Failed(error)) => assert_eq!(error.kind(), ErrorKind::TimedOut),
        other => panic!("{other:?}"),
    }
    assert!(consumer.receive().unwrap().is_none());
}

#[test]
fn a_producer_that_comes_back_is_no_old_one() {
    let mut consumer = consumer("rust/back", &cmac(5), None);
    for round in 0..3 {
        let mut producer = producer("rust/back", &cmac(5));
        settle(&producer, &mut consumer);
        for value in 1..=4 - round {
            send(&mut producer, value);
            assert_eq!(next(&mut consumer).unwrap().sequence(), u64::from(value));
        }
    }
}

#[test]
fn who_comes_late_gets_the_last_picture_checked() {
    let mut producer = producer("rust/shown", &cmac(6));
    send(&mut producer, 9);
    let mut consumer = consumer("rust/shown", &cmac(6), None);
    let end = Instant::now() + LONG;
    let picture = loop {
        assert!(Instant::now() < end);
        if let Some(picture) = look(&producer, &mut consumer) {
            break picture;
        }
    };
    assert!(picture.rows(0).all(|row| row == [9; 64]));
}

#[test]
fn keys_that_are_none_say_why() {
    let file = env::temp_dir().join(format!("gid-rust-{}.key", std::process::id()));
    for (text, mode, why) in [
        ("0011", 0o600, "it has not 32 hexadecimal digits"),
        (
            &"0".repeat(32),
            0o604,
            "others may read or write it: chmod 600",
        ),
    ] {
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let error = Key::read(&file).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: {why}", file.display()));
    }
    fs::remove_file(&file).unwrap();
    let error = Key::read("/nowhere/lamp.key").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        error.to_string().starts_with("/nowhere/lamp.key: "),
        "{error}"
    );
    assert!(Key::read("a\0b").is_err());
}
