// SPDX-License-Identifier: MIT
//! Compiles shim.c once with libgid's sources as they are, and once for each mutant of them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Of which file, what is there, and what is there instead: each takes one thing away that an end
/// relies on.
const MUTANTS: [(&str, &str, &str, &str); 19] = [
    // A store that may be seen after the load behind it.
    (
        "store_release",
        "ring_frame.h",
        "(void)__atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);",
        "__atomic_store_n(word, value, __ATOMIC_RELEASE);",
    ),
    // Nor is it seen because another ring is published.
    (
        "only_shown",
        "ring_frame.h",
        "uint64_t tail = end->tail;\n\tend->published = tail;\n\tring_store(&end->ring->tail, tail);",
        "gid_ring_show(end);",
    ),
    ("load_acquire", "ring_frame.h", "return __atomic_load_n(word, __ATOMIC_SEQ_CST);", "return __atomic_load_n(word, __ATOMIC_ACQUIRE);"),
    // A copy of which a part may be of an earlier entry than another part is.
    (
        "entry_relaxed",
        "ring_frame.h",
        "__atomic_load_n(place + i, __ATOMIC_ACQUIRE);",
        "__atomic_load_n(place + i, __ATOMIC_RELAXED);",
    ),
    // An entry of which only the first line is read.
    ("one_line", "ring.c", "ring_get_more(copy, &end->notes[number], ring, place);", ""),
    // A consumer that does not look whether what it copied was taken back meanwhile.
    ("no_floor_again", "ring.c", "if (floor > index) {", "if (floor > index && number > 99) {"),
    // A producer that takes back what was just claimed.
    ("no_head_again", "ring.c", "if (end->head <= sent->index) {", "if (sent != NULL) {"),
    // What was taken by force is not marked.
    ("no_mark", "ring.c", "ring_mark_taken(end, index, true);", ""),
    (
        "no_fence",
        "ring.c",
        "\t__atomic_thread_fence(__ATOMIC_SEQ_CST);\n#endif\n\tring_free_entry",
        "#endif\n\tring_free_entry",
    ),
    // A sleeper that does not look once more.
    (
        "no_look_asleep",
        "ring.c",
        "ring_sleep(&end->page->asleep, &end->asleep);\n\treturn gid_ring_is_readable(end);",
        "ring_sleep(&end->page->asleep, &end->asleep);\n\treturn false;",
    ),
    // A producer that rings for what the sleeper has seen, and then no more.
    (
        "ring_for_seen",
        "ring_frame.h",
        "end->floor >= end->published ||\n\t\t\tring_load(&end->page->head) >= end->published",
        "false",
    ),
    // Or for what was taken back meanwhile.
    ("ring_for_taken", "ring_frame.h", "end->floor >= end->published ||", "false ||"),
    // A futex that is expected to have what was never looked at.
    (
        "newest_tail",
        "sleep.c",
        "sleep->value = (uint32_t)ring->tail;",
        "sleep->value = (uint32_t)__atomic_load_n(&ring->ring->tail, __ATOMIC_SEQ_CST);",
    ),
    // One ring for all: a reader that takes what was sent to others, for one of three reasons.
    (
        "one_index_last",
        "one_ring.c",
        "\t__atomic_store_n(&one.ring.entries[place].index, index + 1, __ATOMIC_RELEASE);\n\tfor (uint32_t reader = 0; reader < ONE_READERS; reader++) {\n\t\tone_deny(reader, place, (readers >> reader & 1) == 0);\n\t}\n",
        "\tfor (uint32_t reader = 0; reader < ONE_READERS; reader++) {\n\t\tone_deny(reader, place, (readers >> reader & 1) == 0);\n\t}\n\t__atomic_store_n(&one.ring.entries[place].index, index + 1, __ATOMIC_RELEASE);\n",
    ),
    ("one_index_once", "one_ring.c", "again == named && ", ""),
    ("one_gate_open", "one_ring.c", "(denied >> place & 1) == 0", "denied < 99"),
    // A reader that does not look again, and a producer.
    ("one_no_floor_again", "one_ring.c", "if (ring_load(&one.gates[reader].floor) > first) {", "if (!ours && first > 99) {"),
    ("one_no_head_again", "one_ring.c", "return head <= index ?", "return head < 99 ?"),
    // A reader that goes over to the floor, and keeps what its head seems to claim.
    ("one_no_jump", "one_ring.c", "if (first > head) {", "if (first > head + 99) {"),
];

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?}: {status}");
}

/// An object in which only the table of functions has a name that others see.
fn compile(libgid: &Path, folder: &Path, name: &str) {
    let object = folder.join("shim.o");
    let table = format!("model_{name}");
    let file = |name: &str| format!("{:?}", folder.join(name));
    run(Command::new("cc")
        .args(["-O1", "-fPIC", "-fexceptions", "-std=gnu17", "-D_GNU_SOURCE", "-c", "shim.c"])
        .arg(format!("-DMODEL={table}"))
        .arg(format!("-DRING={}", file("ring.c")))
        .arg(format!("-DSLEEP={}", file("sleep.c")))
        .arg(format!("-DONE_RING={}", file("one_ring.c")))
        .arg("-I")
        .arg(libgid)
        .arg("-I")
        .arg(libgid.join("include"))
        .arg("-o")
        .arg(&object));
    run(Command::new("objcopy").arg(format!("--keep-global-symbol={table}")).arg(&object));
}

fn main() {
    let libgid = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../libgid");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let library = out.join("libshim.a");
    let _ = fs::remove_file(&library);
    let mut ar = Command::new("ar");
    ar.arg("rcs").arg(&library);
    let mut tables = String::new();
    let mut names = String::new();
    for (name, of, from, to) in
        [("plain", "", "", "")].into_iter().chain(MUTANTS)
    {
        let folder = out.join(name);
        fs::create_dir_all(&folder).unwrap();
        for file in ["ring.c", "ring.h", "ring_frame.h", "sleep.c", "sleep.h", "one_ring.c"] {
            let planned = PathBuf::from(file);
            let path = if planned.exists() { planned } else { libgid.join(file) };
            let mut text = fs::read_to_string(path).unwrap();
            if file == of {
                assert_eq!(text.matches(from).count(), 1, "mutant {name}: {from}");
                text = text.replace(from, to);
            }
            fs::write(folder.join(file), text).unwrap();
        }
        compile(&libgid, &folder, name);
        let named = out.join(format!("{name}.o"));
        fs::rename(folder.join("shim.o"), &named).unwrap();
        ar.arg(named);
        tables += &format!("    static model_{name}: Ops;\n");
        names += &format!("    (\"{name}\", unsafe {{ &model_{name} }}),\n");
    }
    run(&mut ar);
    fs::write(
        out.join("tables.rs"),
        format!(
            "extern \"C\" {{\n{tables}}}\n\nstatic COPIES: [(&str, &Ops); {}] = [\n{names}];\n",
            MUTANTS.len() + 1
        ),
    )
    .unwrap();
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=shim");
    for file in ["shim.c", "one_ring.c", "build.rs"] {
        println!("cargo:rerun-if-changed={file}");
    }
    println!("cargo:rerun-if-changed={}", libgid.display());
}
