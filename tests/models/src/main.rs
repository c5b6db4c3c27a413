// SPDX-License-Identifier: MIT
//! Checks libgid's ring and its sleep in every order of accesses that a processor may show: ring.c
//! and sleep.c themselves, by loom, as they are and with mutants, each of which has to be found; and
//! what is planned in their place, one_ring.c.
//!
//! Loom has no total order of sequentially consistent accesses, but has fences. So each of these
//! stores gets a fence behind it in one pass, as x86 has it, and each of the loads one before it in
//! the other. Each pass finds what the other hides.

use loom::cell::UnsafeCell;
use loom::sync::atomic::{fence, AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::process::{Command, ExitCode, Stdio};

/// What shim.c has of one copy of the sources.
#[repr(C)]
struct Ops {
    word: unsafe extern "C-unwind" fn(u32) -> *mut u64,
    reset: unsafe extern "C-unwind" fn(bool),
    put: unsafe extern "C-unwind" fn(u64) -> i32,
    publish: unsafe extern "C-unwind" fn(),
    publish_to_both: unsafe extern "C-unwind" fn(),
    take_back: unsafe extern "C-unwind" fn(u64, *mut u64) -> i32,
    take_by_force: unsafe extern "C-unwind" fn(u64) -> bool,
    collect: unsafe extern "C-unwind" fn(*mut u64) -> i32,
    receive: unsafe extern "C-unwind" fn(u32, *mut u64, *mut u64) -> i32,
    release: unsafe extern "C-unwind" fn(u64) -> i32,
    is_held: unsafe extern "C-unwind" fn(u64) -> bool,
    consumer_sleeps: unsafe extern "C-unwind" fn() -> bool,
    producer_sleeps: unsafe extern "C-unwind" fn() -> bool,
    wakes_consumer: unsafe extern "C-unwind" fn() -> bool,
    wakes_producer: unsafe extern "C-unwind" fn() -> bool,
    sleep_by_futex: unsafe extern "C-unwind" fn(),
    wake_by_futex: unsafe extern "C-unwind" fn(),
    tell_shown: unsafe extern "C-unwind" fn(u64),
    get_shown: unsafe extern "C-unwind" fn(*mut u64) -> bool,
    one_send: unsafe extern "C-unwind" fn(u64, u32) -> bool,
    one_take_back: unsafe extern "C-unwind" fn(u32, u64) -> u64,
    one_collect: unsafe extern "C-unwind" fn(u32) -> u64,
    one_receive: unsafe extern "C-unwind" fn(u32, *mut u64, *mut u64) -> bool,
    one_release: unsafe extern "C-unwind" fn(u32, u64),
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

// --- memory ---------------------------------------------------------------------------------------

/// Where sequentially consistent accesses get their fence.
#[derive(Clone, Copy, PartialEq)]
enum Fence {
    BehindStores,
    BeforeLoads,
}

// Loom runs all of its threads on one of the system's.
thread_local! {
    static WORDS: RefCell<HashMap<usize, std::sync::Arc<AtomicU64>>> = RefCell::default();
    static FENCE: Cell<Fence> = const { Cell::new(Fence::BehindStores) };
    /// Whether the consumer sleeps over the futex, under the kernel's lock of its queue.
    static QUEUE: RefCell<Option<Arc<Mutex<bool>>>> = const { RefCell::new(None) };
}

fn shared(address: usize) -> Option<std::sync::Arc<AtomicU64>> {
    WORDS.with(|words| words.borrow().get(&address).cloned())
}

/// gcc's numbers.
fn ordering(order: i32, acquire_or_release: Ordering) -> Ordering {
    if order == 0 {
        Ordering::Relaxed
    } else {
        acquire_or_release
    }
}

fn fence_of(order: i32, place: Fence) {
    if order == 5 && FENCE.get() == place {
        fence(Ordering::SeqCst);
    }
}

/// # Safety
/// The address is of a word of that size, which only this thread uses if loom does not know it.
#[no_mangle]
unsafe extern "C-unwind" fn model_load(address: usize, size: usize, order: i32) -> u64 {
    match shared(address) {
        Some(word) => {
            fence_of(order, Fence::BeforeLoads);
            word.load(ordering(order, Ordering::Acquire))
        }
        None if size == 8 => *(address as *const u64),
        None if size == 4 => u64::from(*(address as *const u32)),
        None => u64::from(*(address as *const u8)),
    }
}

/// # Safety
/// As above.
#[no_mangle]
unsafe extern "C-unwind" fn model_store(address: usize, value: u64, size: usize, order: i32) {
    match shared(address) {
        Some(word) => {
            word.store(value, ordering(order, Ordering::Release));
            fence_of(order, Fence::BehindStores);
        }
        None if size == 8 => *(address as *mut u64) = value,
        None if size == 4 => *(address as *mut u32) = value as u32,
        None => *(address as *mut u8) = value as u8,
    }
}

/// # Safety
/// As above. An exchange of ours is a store: what it returns is not used.
#[no_mangle]
unsafe extern "C-unwind" fn model_exchange(address: usize, value: u64, size: usize) -> u64 {
    model_store(address, value, size, 5);
    0
}

#[no_mangle]
extern "C-unwind" fn model_fence() {
    fence(Ordering::SeqCst);
}

fn queue() -> Arc<Mutex<bool>> {
    QUEUE.with(|queue| queue.borrow().clone().unwrap())
}

/// The kernel looks at the word, and queues who sleeps, under one lock, and has a full barrier on
/// both sides.
#[no_mangle]
extern "C-unwind" fn model_futex_wait(address: usize, value: u32) {
    let queue = queue();
    let mut sleeps = queue.lock().unwrap();
    fence(Ordering::SeqCst);
    let word = shared(address).unwrap().load(Ordering::Relaxed);
    *sleeps = word as u32 == value;
}

#[no_mangle]
extern "C-unwind" fn model_futex_wake(_address: usize) {
    fence(Ordering::SeqCst);
    *queue().lock().unwrap() = false;
}

/// One execution: a new ring, of which loom knows the words, and slots in plain memory.
struct Model {
    ops: &'static Ops,
    slots: Vec<UnsafeCell<u64>>,
}

impl Model {
    fn new(ops: &'static Ops, two_lines: bool) -> Arc<Model> {
        unsafe { (ops.reset)(two_lines) };
        WORDS.with(|words| {
            let addresses = (0..).map(|i| unsafe { (ops.word)(i) }).take_while(|p| !p.is_null());
            *words.borrow_mut() = addresses
                .map(|p| (p as usize, std::sync::Arc::new(AtomicU64::new(unsafe { *p }))))
                .collect();
        });
        QUEUE.with(|queue| *queue.borrow_mut() = Some(Arc::new(Mutex::new(false))));
        Arc::new(Model { ops, slots: (0..4).map(|_| UnsafeCell::new(0)).collect() })
    }

    /// Draws into a slot: a race, if anybody else may look at it now.
    fn draw(&self, slot: u64) {
        self.slots[slot as usize - 1].with_mut(|pixels| unsafe { *pixels += 1 });
    }

    fn put(&self, slot: u64) -> bool {
        self.draw(slot);
        unsafe { (self.ops.put)(slot) == 1 }
    }

    fn send(&self, slot: u64) -> bool {
        let sent = self.put(slot);
        unsafe { (self.ops.publish)() };
        sent
    }

    /// The slot of what was taken back below an index.
    fn take_back(&self, below: u64) -> Option<u64> {
        let mut slot = 0;
        let got = unsafe { (self.ops.take_back)(below, &mut slot) };
        assert!(got >= 0, "take_back: {got}");
        (got == 1).then_some(slot)
    }

    fn collect(&self) -> Option<u64> {
        let mut slot = 0;
        let got = unsafe { (self.ops.collect)(&mut slot) };
        assert!(got >= 0, "collect: {got}");
        (got == 1).then_some(slot)
    }

    /// (slot, index) of each.
    fn receive(&self, most: u32) -> Vec<(u64, u64)> {
        let (mut slots, mut indices) = ([0; 2], [0; 2]);
        let got =
            unsafe { (self.ops.receive)(most, slots.as_mut_ptr(), indices.as_mut_ptr()) };
        assert!(got >= 0, "receive: {got}");
        slots.into_iter().zip(indices).take(got as usize).collect()
    }

    /// Receives, looks at each picture, and gives it back. Returns how many.
    fn look(&self, most: u32) -> usize {
        let frames = self.receive(most);
        for (slot, index) in &frames {
            self.slots[*slot as usize - 1].with(|pixels| assert!(unsafe { *pixels } > 0));
            assert_eq!(unsafe { (self.ops.release)(*index) }, 0);
        }
        frames.len()
    }
}

/// Runs both ends. Returns what the consumer's has to say.
fn both<T: 'static>(
    model: &Arc<Model>,
    producer: impl FnOnce(&Model),
    consumer: impl FnOnce(&Model) -> T + 'static,
) -> T {
    let theirs = model.clone();
    let thread = thread::spawn(move || consumer(&theirs));
    producer(model);
    thread.join().unwrap()
}

// --- what is checked ------------------------------------------------------------------------------

/// A slot is drawn into anew only once it came back.
fn publish(model: &Arc<Model>) {
    both(
        model,
        |m| {
            m.send(1);
            m.send(2);
            if let Some(slot) = m.collect() {
                m.send(slot);
            }
        },
        |m| m.look(1) + m.look(1),
    );
}

/// Two by one store are claimed by one store.
fn burst(model: &Arc<Model>) {
    both(
        model,
        |m| {
            m.put(1);
            m.put(2);
            unsafe { (m.ops.publish)() };
            if let Some(slot) = m.take_back(1) {
                m.draw(slot);
            }
        },
        |m| m.look(2),
    );
}

/// Either the producer has it back, or the consumer has it.
fn take_back(model: &Arc<Model>) {
    both(
        model,
        |m| {
            m.send(1);
            if let Some(slot) = m.take_back(1) {
                m.draw(slot);
            }
        },
        |m| m.look(1),
    );
}

/// The next one comes to the place of what was taken back.
fn take_back_and_send(model: &Arc<Model>) {
    both(
        model,
        |m| {
            m.send(1);
            m.send(2);
            if let Some(slot) = m.take_back(1) {
                m.send(slot);
            }
        },
        |m| m.look(1) + m.look(1),
    );
}

/// A copy is of one entry, however late it is made.
fn force(model: &Arc<Model>) {
    both(
        model,
        |m| {
            m.send(1);
            if m.take_back(1).is_some() || unsafe { (m.ops.take_by_force)(0) } {
                m.send(2); // index 1
                m.send(3); // index 2, at the place of 0
            }
        },
        |m| {
            for (slot, index) in m.receive(1) {
                assert_eq!(slot, index + 1, "an entry is torn");
            }
        },
    );
}

/// Both lines are of one entry, also where another one comes to its place.
fn two_lines(model: &Arc<Model>) {
    model.send(1);
    model.send(2);
    both(
        model,
        |m| {
            if m.take_back(1).is_some() {
                m.send(3);
            }
        },
        |m| m.receive(1).len(),
    );
}

/// What was held while it was looked at has been what was sent.
fn held(model: &Arc<Model>) {
    model.send(1);
    let (_, index) = model.receive(1)[0];
    let pixels = std::sync::Arc::new(AtomicU64::new(1));
    let ours = pixels.clone();
    both(
        model,
        move |m| {
            if unsafe { (m.ops.take_by_force)(0) } {
                ours.store(2, Ordering::Relaxed); // drawn anew
                m.send(1);
            }
        },
        move |m| {
            let seen = pixels.load(Ordering::Relaxed);
            let held = unsafe { (m.ops.is_held)(index) };
            assert!(!held || seen == 1, "another picture is taken for ours");
        },
    );
}

/// A consumer that sleeps was rung for what it did not see.
fn is_rung(model: &Arc<Model>, publish: unsafe extern "C-unwind" fn()) {
    let rung = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let rings = rung.clone();
    let sleeps = both(
        model,
        move |m| {
            for slot in 1..3 {
                m.put(slot);
                unsafe { publish() };
                if unsafe { (m.ops.wakes_consumer)() } {
                    rings.store(true, std::sync::atomic::Ordering::Relaxed);
                }
            }
        },
        |m| (0..2).any(|_| m.look(1) == 0) && unsafe { (m.ops.consumer_sleeps)() },
    );
    assert!(!sleeps || rung.load(std::sync::atomic::Ordering::Relaxed), "a wake is lost");
}

fn sleep(model: &Arc<Model>) {
    is_rung(model, model.ops.publish);
}

/// Also where the producer has another reader, which it publishes to last.
fn sleep_of_many(model: &Arc<Model>) {
    is_rung(model, model.ops.publish_to_both);
}

/// The same where it sleeps by a futex.
fn sleep_by_futex(model: &Arc<Model>) {
    let seen = both(
        model,
        |m| {
            for slot in 1..3 {
                m.send(slot);
                if unsafe { (m.ops.wakes_consumer)() } {
                    unsafe { (m.ops.wake_by_futex)() };
                }
            }
        },
        |m| {
            let seen = m.look(1);
            if m.look(1) == 0 && unsafe { (m.ops.consumer_sleeps)() } {
                unsafe { (m.ops.sleep_by_futex)() };
            }
            seen
        },
    );
    let sleeps = *queue().lock().unwrap();
    assert!(!sleeps || seen == 2, "a wake is lost");
}

/// Also where it slept behind what was taken back, and its producer looks as another reader gets
/// something: it is rung but once.
fn sleep_behind_taken(model: &Arc<Model>) {
    let ring = |m: &Model| {
        if unsafe { (m.ops.wakes_consumer)() } {
            unsafe { (m.ops.wake_by_futex)() };
        }
    };
    let has_last = both(
        model,
        |m| {
            m.send(1);
            m.take_back(1);
            ring(m);
            m.send(2);
            ring(m);
        },
        |m| {
            let mut slots = Vec::new();
            while let [(slot, index)] = m.receive(1)[..] {
                slots.push(slot);
                assert_eq!(unsafe { (m.ops.release)(index) }, 0);
            }
            if unsafe { (m.ops.consumer_sleeps)() } {
                unsafe { (m.ops.sleep_by_futex)() };
            }
            slots.contains(&2)
        },
    );
    let sleeps = *queue().lock().unwrap();
    assert!(!sleeps || has_last, "a wake is lost");
}

/// And the other way: a producer that sleeps is rung for a release.
fn sleep_for_release(model: &Arc<Model>) {
    model.send(1);
    let sleeps = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let falls = sleeps.clone();
    let rung = both(
        model,
        move |m| {
            if m.collect().is_none() && unsafe { (m.ops.producer_sleeps)() } {
                falls.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        },
        |m| m.look(1) == 1 && unsafe { (m.ops.wakes_producer)() },
    );
    assert!(!sleeps.load(std::sync::atomic::Ordering::Relaxed) || rung, "a wake is lost");
}

/// What a display showed is told whole, or not at all.
fn shown(model: &Arc<Model>) {
    both(
        model,
        |m| {
            let mut told = [0; 3];
            if unsafe { (m.ops.get_shown)(told.as_mut_ptr()) } {
                assert_eq!((told[1], told[2]), (2 * told[0], 3 * told[0]), "it is torn");
            }
        },
        |m| (1..3).for_each(|number| unsafe { (m.ops.tell_shown)(number) }),
    );
}

// --- one ring for all readers, as it is planned ---------------------------------------------------

/// Reader 0 is played by the producer's thread, one after the other; reader 1 is a thread.
const BOTH: u32 = 3;
const FIRST: u32 = 1;

impl Model {
    fn one_send(&self, slot: u64, readers: u32) -> bool {
        self.draw(slot);
        unsafe { (self.ops.one_send)(slot, readers) }
    }

    /// Receives, looks at the picture, and gives it back. Returns its index.
    fn one_look(&self, reader: u32) -> Option<u64> {
        let (mut slot, mut index) = (0, 0);
        if !unsafe { (self.ops.one_receive)(reader, &mut slot, &mut index) } {
            return None;
        }
        self.slots[slot as usize - 1].with(|pixels| assert!(unsafe { *pixels } > 0));
        unsafe { (self.ops.one_release)(reader, index) };
        Some(index)
    }

    /// A slot that nobody has any more.
    fn one_collect(&self, reader: u32) -> Option<u64> {
        let slot = unsafe { (self.ops.one_collect)(reader) };
        (slot != 0).then_some(slot)
    }
}

/// A slot is drawn into anew only once both gave it back.
fn one_publish(model: &Arc<Model>) {
    both(
        model,
        |m| {
            m.one_send(1, BOTH);
            m.one_send(2, BOTH);
            m.one_look(0);
            let _ = m.one_collect(0);
            if let Some(slot) = m.one_collect(1) {
                m.one_send(slot, BOTH);
            }
        },
        |m| (m.one_look(1), m.one_look(1)),
    );
}

/// Who was not sent an entry does not take it, also where the next one at its place is its own.
fn one_denied(model: &Arc<Model>) {
    both(
        model,
        |m| {
            m.one_send(1, FIRST);
            m.one_send(2, FIRST);
            m.one_look(0);
            if let Some(slot) = m.one_collect(0) {
                m.one_send(slot, BOTH); // index 2, at the place of 0
            }
        },
        |m| {
            for index in [m.one_look(1), m.one_look(1)].into_iter().flatten() {
                assert_eq!(index, 2, "it takes what another one was sent");
            }
        },
    );
}

/// Either the producer has it back from the reader, or the reader has it.
fn one_take_back(model: &Arc<Model>) {
    both(
        model,
        |m| {
            m.one_send(1, BOTH);
            m.one_look(0);
            let _ = m.one_collect(0);
            let taken = unsafe { (m.ops.one_take_back)(1, 0) };
            if taken != 0 {
                m.one_send(taken, BOTH);
            }
        },
        |m| (m.one_look(1), m.one_look(1)),
    );
}

/// And the next one comes to its place.
fn one_take_back_and_send(model: &Arc<Model>) {
    both(
        model,
        |m| {
            m.one_send(1, 2);
            m.one_send(2, 2);
            let taken = unsafe { (m.ops.one_take_back)(1, 0) };
            if taken != 0 {
                m.one_send(taken, 2); // index 2, at the place of 0
            } else if let Some(slot) = m.one_collect(1) {
                m.one_send(slot, 2);
            }
        },
        |m| (m.one_look(1), m.one_look(1)),
    );
    while model.one_look(1).is_some() {}
    while model.one_collect(1).is_some() {}
    assert!(model.one_send(3, 2) && model.one_send(4, 2), "something did not come back");
}

type Scenario = fn(&Arc<Model>);
const SCENARIOS: [(&str, Scenario); 17] = [
    ("publish", publish),
    ("burst", burst),
    ("take_back", take_back),
    ("two_lines", two_lines),
    ("held", held),
    ("sleep", sleep),
    ("sleep_of_many", sleep_of_many),
    ("sleep_by_futex", sleep_by_futex),
    ("sleep_behind_taken", sleep_behind_taken),
    ("sleep_for_release", sleep_for_release),
    ("shown", shown),
    ("force", force),
    ("take_back_and_send", take_back_and_send),
    ("one_publish", one_publish),
    ("one_denied", one_denied),
    ("one_take_back", one_take_back),
    ("one_take_back_and_send", one_take_back_and_send),
];
const PASSES: [(&str, Fence); 2] =
    [("stores", Fence::BehindStores), ("loads", Fence::BeforeLoads)];

/// One of them, in this process: whether it holds in all executions.
fn check(copy: &str, scenario: &str, pass: &str) -> bool {
    let ops = COPIES.iter().find(|(name, _)| *name == copy).unwrap().1;
    let run = SCENARIOS.iter().find(|(name, _)| *name == scenario).unwrap().1;
    let place = PASSES.iter().find(|(name, _)| *name == pass).unwrap().1;
    let two_lines = scenario == "two_lines";
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let executions = count.clone();
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 100_000;
    let result = std::panic::catch_unwind(move || {
        builder.check(move || {
            executions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            FENCE.set(place);
            let model = Model::new(ops, two_lines);
            run(&model);
            WORDS.with(|words| words.borrow_mut().clear());
            QUEUE.with(|queue| *queue.borrow_mut() = None);
        });
    });
    if result.is_err() {
        // Of an execution that is over: they must not be dropped outside of it.
        std::mem::forget(WORDS.take());
        std::mem::forget(QUEUE.take());
        return false;
    }
    println!("{}", count.load(std::sync::atomic::Ordering::Relaxed));
    true
}

/// How many executions there are, or None where it does not hold in one of them.
fn try_one(copy: &str, scenario: &str, pass: &str) -> Option<u64> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([copy, scenario, pass])
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0) => text.trim().parse().ok(),
        Some(1) => None,
        _ => panic!("{copy} {scenario} {pass}: {}", output.status),
    }
}

fn exit_code(good: bool) -> ExitCode {
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [copy, scenario, pass] = &words[..] {
        return exit_code(check(copy, scenario, pass));
    }
    let mut good = true;
    for (scenario, _) in SCENARIOS {
        for (pass, _) in PASSES {
            let found = try_one("plain", scenario, pass);
            match found {
                Some(count) => println!("{scenario}: holds in {count} orders (fences at {pass})"),
                None => println!("{scenario}: DOES NOT HOLD (fences at {pass})"),
            }
            good &= found.is_some();
        }
    }
    for (copy, _) in COPIES.iter().filter(|(name, _)| *name != "plain") {
        let found = SCENARIOS.iter().find(|(scenario, _)| {
            PASSES.iter().any(|(pass, _)| try_one(copy, scenario, pass).is_none())
        });
        match found {
            Some((scenario, _)) => println!("mutant {copy}: found by {scenario}"),
            None => println!("mutant {copy}: NOT FOUND"),
        }
        good &= found.is_some();
    }
    exit_code(good)
}
