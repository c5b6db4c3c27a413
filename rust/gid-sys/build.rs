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

fn find(library: &str) -> pkg_config::Library {
    pkg_config::Config::new()
        .atleast_version("0.2.0~")
        .probe(library)
        .unwrap_or_else(|error| panic!("{library} and its headers are needed: {error}"))
}

fn main() {
    let mut libraries = vec![find("libgid")];
    let mut headers = HEADERS.to_vec();
    if env::var_os("CARGO_FEATURE_PROTECTION").is_some() {
        libraries.push(find("libgid-protection"));
        headers.push("gid/protection.h");
    }
    let includes = headers
        .iter()
        .map(|header| format!("#include <{header}>\n"))
        .collect::<Vec<_>>()
        .concat();
    let folders = libraries
        .iter()
        .flat_map(|library| &library.include_paths)
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
