// SPDX-License-Identifier: MIT
//! Binds the public headers of the libgid that pkg-config finds: nothing is kept by hand.

use std::env;
use std::path::PathBuf;

const HEADERS: [&str; 4] = [
    "gid/gid.h",
    "gid/domain.h",
    "gid/stream.h",
    "gid/timeline.h",
];

fn main() {
    let library = pkg_config::Config::new()
        .atleast_version("0.2.0~")
        .probe("libgid")
        .unwrap_or_else(|error| panic!("libgid and its headers are needed: {error}"));
    let includes = HEADERS
        .map(|header| format!("#include <{header}>\n"))
        .concat();
    let folders = library
        .include_paths
        .iter()
        .map(|folder| format!("-I{}", folder.display()));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    bindgen::builder()
        .header_contents("gid.h", &includes)
        .clang_args(folders)
        .allowlist_item("(gid|GID)_.*")
        .prepend_enum_name(false)
        .generate_comments(false)
        .layout_tests(true)
        .generate()
        .expect("the headers of libgid can be parsed")
        .write_to_file(out.join("gid.rs"))
        .expect("cargo's OUT_DIR can be written");
}
