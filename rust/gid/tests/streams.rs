// SPDX-License-Identifier: MIT
//! Streams between two domains. tests/rust/test_rust.py starts these and says where their gidds are.

use gid::{Consumer, ConsumerOptions, Domain, Fourcc, Producer, ProducerOptions, Result, State};
use std::env;
use std::io::ErrorKind;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, Sender};
use std::thread::{sleep, spawn, JoinHandle};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(120); // for what comes: machines may stand still
const LEAVE: Duration = Duration::from_secs(2); // for readers that read no more
const SHORT: Duration = Duration::from_millis(20); // for what does not

fn domain(name: &str) -> Domain {
    let socket = env::var(format!("GID_TEST_{name}")).expect("run by tests/rust/test_rust.py");
    Domain::connect(Some(&socket)).unwrap()
}

fn consumer(stream: &str, options: ConsumerOptions) -> (Domain, Consumer) {
    let domain = domain("CLUSTER");
    let consumer = domain.consumer(Some("open"), stream, &options).unwrap();
    (domain, consumer)
}

fn format(text: &str) -> Fourcc {
    text.parse().unwrap()
}

/// A producer in a thread of its own, in `open`, which lives until `done` says something.
fn produce(
    stream: &'static str,
    options: ProducerOptions,
    work: impl FnOnce(&mut Producer) -> Result<()> + Send + 'static,
) -> (JoinHandle<()>, Sender<()>) {
    let (done, wait) = channel::<()>();
    let thread = spawn(move || {
        let domain = domain("OPEN");
        let mut producer = domain
            .producer(stream, format("XR24"), 64, 48, &options)
            .unwrap();
        while producer.consumers() == 0 {
            producer.dispatch().unwrap();
            sleep(SHORT);
        }
        work(&mut producer).unwrap();
        while wait.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            producer.dispatch().unwrap();
            sleep(SHORT);
        }
        producer.finish(LEAVE).unwrap();
    });
    (thread, done)
}

fn send(producer: &mut Producer, value: u8) -> Result<u32> {
    let mut slot = producer.slot(Some(LONG))?;
    slot.plane(0).fill(value);
    slot.set_media_time(u64::from(value) * 1000, 1000);
    slot.send_with(&[value; 3])
}

fn patient() -> ProducerOptions {
    ProducerOptions {
        patient: true,
        ..ProducerOptions::default()
    }
}

#[test]
fn each_frame_arrives_as_it_was_sent() {
    let (_domain, consumer) = consumer("rust/order", ConsumerOptions::default());
    let (thread, done) = produce("rust/order", patient(), |producer| {
        (1..=100).try_for_each(|value| send(producer, value).map(drop))
    });
    for value in 1..=100u8 {
        let frame = consumer.next_frame(Some(LONG)).unwrap().unwrap();
        let pixels = frame.pixels().unwrap();
        let plane = &pixels.planes()[0];
        let mut bytes = vec![0; plane.rows() * plane.row_bytes()];
        plane.copy_to(&mut bytes);
        assert_eq!((plane.rows(), plane.row_bytes()), (48, 64 * 4));
        assert!(bytes.iter().all(|&byte| byte == value));
        assert_eq!(frame.sequence(), u64::from(value));
        assert_eq!(frame.pts(), Some(u64::from(value) * 1000));
        assert_eq!(frame.note(), [value; 3]);
        assert!(frame.is_current());
        assert_eq!(frame.to_vec().unwrap(), bytes);
    }
    assert_eq!(consumer.state(), State::Live);
    drop(done);
    assert!(
        consumer.next_frame(Some(LONG)).unwrap().is_none(),
        "its end"
    );
    assert_eq!(consumer.stats().missed, 0);
    thread.join().unwrap();
}

#[test]
fn a_slot_is_known_by_its_number() {
    let domain = domain("OPEN");
    let options = ProducerOptions::default();
    let mut producer = domain
        .producer("rust/slots", format("R8"), 64, 48, &options)
        .unwrap();
    let mut drawn = vec![0; options.slots as usize];
    for value in 1..=9 {
        let mut slot = producer.slot(Some(LONG)).unwrap();
        let before = std::mem::replace(&mut drawn[slot.index() as usize], value);
        assert_eq!(slot.plane(0)[0], before, "what was drawn there last");
        slot.plane(0).fill(value);
        slot.send().unwrap();
    }
    assert!(drawn.iter().filter(|&&value| value > 0).count() > 1);
}

#[test]
fn what_was_found_goes_beside_the_picture() {
    let (_domain, consumer) = consumer("rust/metadata", ConsumerOptions::default());
    const SIZES: [usize; 4] = [0, 5, 16384, 1];
    let (thread, done) = produce("rust/metadata", patient(), |producer| {
        for (value, size) in (1..).zip(SIZES) {
            let mut slot = producer.slot(Some(LONG))?;
            slot.set_metadata(vec![value; size]);
            slot.send()?;
        }
        let mut slot = producer.slot(Some(LONG))?;
        slot.set_metadata(vec![0; 16385]);
        assert_eq!(slot.send().unwrap_err().errno(), 90, "EMSGSIZE");
        send(producer, 5).map(drop) // of the slot that went back
    });
    let mut before = Vec::new();
    for (value, size) in (1..).zip(SIZES) {
        let frame = consumer.next_frame(Some(LONG)).unwrap().unwrap();
        assert_eq!(frame.metadata().unwrap(), vec![value; size]);
        before.push(frame);
    }
    assert_eq!(before[1].metadata().unwrap(), [2; 5], "while it is held");
    drop(before);
    let frame = consumer.next_frame(Some(LONG)).unwrap().unwrap();
    assert_eq!((frame.sequence(), frame.metadata().unwrap().len()), (5, 0));
    drop((frame, done));
    thread.join().unwrap();
}

#[test]
fn metadata_of_a_frame_that_was_taken_back_is_told() {
    let (_domain, consumer) = consumer("rust/late", ConsumerOptions::default());
    let options = ProducerOptions {
        lease: Duration::from_millis(50),
        ..ProducerOptions::default()
    };
    let (thread, done) = produce("rust/late", options, |producer| {
        let mut slot = producer.slot(Some(LONG))?;
        slot.set_metadata(*b"found");
        slot.send()?;
        send(producer, 2).map(drop)
    });
    let frame = consumer.next_frame(Some(LONG)).unwrap().unwrap();
    let end = Instant::now() + LONG;
    while frame.is_current() {
        assert!(Instant::now() < end);
        sleep(SHORT);
    }
    assert_eq!(frame.metadata().unwrap_err().errno(), 116, "ESTALE");
    drop((frame, done));
    thread.join().unwrap();
}

#[test]
fn a_frame_stays_while_it_is_held_and_its_lease_renewed() {
    let (_domain, consumer) = consumer("rust/held", ConsumerOptions::default());
    let options = ProducerOptions {
        lease: Duration::from_secs(60),
        ..patient()
    };
    let (thread, done) = produce("rust/held", options, |producer| {
        (1..=20).try_for_each(|value| send(producer, value).map(drop))
    });
    let held = consumer.next_frame(Some(LONG)).unwrap().unwrap();
    for _ in 2..=20 {
        consumer.next_frame(Some(LONG)).unwrap().unwrap();
        consumer.renew().unwrap();
    }
    assert!(held.is_current());
    assert!(held.to_vec().unwrap().iter().all(|&byte| byte == 1));
    drop((held, done));
    thread.join().unwrap();
}

#[test]
fn a_lease_that_ended_is_told() {
    let (_domain, consumer) = consumer("rust/lease", ConsumerOptions::default());
    let options = ProducerOptions {
        lease: Duration::from_millis(50),
        ..ProducerOptions::default()
    };
    let (thread, done) = produce("rust/lease", options, |producer| {
        send(producer, 1)?;
        send(producer, 2).map(drop)
    });
    let frame = consumer.next_frame(Some(LONG)).unwrap().unwrap();
    let end = Instant::now() + LONG;
    while frame.is_current() {
        assert!(Instant::now() < end);
        sleep(SHORT);
    }
    assert_eq!(frame.to_vec().unwrap_err().errno(), 116, "ESTALE");
    drop((frame, done));
    thread.join().unwrap();
}

#[test]
fn who_waits_is_told_what_for() {
    let (_domain, consumer) = consumer("rust/nobody", ConsumerOptions::default());
    let error = consumer.next_frame(Some(SHORT)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.to_string().contains("nobody sends it"), "{error}");
    assert!(consumer.receive().unwrap().is_none());
}

#[test]
fn all_frames_held_are_told() {
    let options = ConsumerOptions {
        credit: 2,
        ..ConsumerOptions::default()
    };
    let (_domain, consumer) = consumer("rust/all", options);
    let options = ProducerOptions {
        lease: LONG,
        ..ProducerOptions::default()
    };
    let (thread, done) = produce("rust/all", options, |producer| {
        (1..=2).try_for_each(|value| send(producer, value).map(drop))
    });
    let held: Vec<_> = (0..2)
        .map(|_| consumer.next_frame(Some(LONG)).unwrap().unwrap())
        .collect();
    let error = consumer.next_frame(Some(SHORT)).err().unwrap();
    assert!(error.to_string().contains("all 2 frames"), "{error}");
    drop((held, done));
    thread.join().unwrap();
}

#[test]
fn slots_go_back_and_run_out() {
    let domain = domain("OPEN");
    let options = ProducerOptions {
        slots: 2,
        ..ProducerOptions::default()
    };
    let mut producer = domain
        .producer("rust/slots", format("NV12"), 64, 48, &options)
        .unwrap();
    for _ in 0..10 {
        drop(producer.slot(Some(SHORT)).unwrap()); // unsent
        let mut slot = producer.slot(Some(SHORT)).unwrap();
        assert_eq!(slot.plane(1).len(), 23 * slot.stride(1) + 64);
        assert_eq!(slot.send().unwrap(), 0, "nobody reads it");
    }
    let error = domain
        .producer("rust/slots", format("NV12"), 64, 48, &options)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
}

#[test]
fn a_plane_that_a_format_lacks_is_a_mistake() {
    for (name, planes) in [("XR24", 1), ("NV12", 2)] {
        let stream = format!("rust/planes-{planes}");
        let options = ProducerOptions::default();
        let mut producer = domain("OPEN")
            .producer(&stream, format(name), 64, 48, &options)
            .unwrap();
        let mut slot = producer.slot(Some(SHORT)).unwrap();
        assert!(!slot.plane(planes - 1).is_empty());
        for missing in planes..6 {
            assert!(catch_unwind(AssertUnwindSafe(|| slot.plane(missing).len())).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| slot.stride(missing))).is_err());
        }
    }
}

#[test]
fn what_cannot_be_says_why() {
    let options = ConsumerOptions {
        reconnect: false,
        ..ConsumerOptions::default()
    };
    let domain = domain("CLUSTER");
    let error = domain.consumer(Some("open"), "rust/none", &options).err();
    assert_eq!(error.unwrap().kind(), ErrorKind::NotFound);
    assert!(domain.consumer(Some("open"), "no name", &options).is_err());
    assert!(domain.consumer(Some("a\0b"), "a", &options).is_err());
    let error = Domain::connect(Some("/nowhere/gidd.sock")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("/nowhere"), "{error}");
    assert!(domain.status().unwrap().starts_with('{'));
    assert_eq!((domain.name().as_str(), domain.number()), ("cluster", 2));
}
