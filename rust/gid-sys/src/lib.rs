// SPDX-License-Identifier: MIT
//! The functions, structs and constants of libgid as they are in C. Its headers, which this is made
//! from, say what each is for; the crate `gid` is safe to use.

#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]

include!(concat!(env!("OUT_DIR"), "/gid.rs"));
