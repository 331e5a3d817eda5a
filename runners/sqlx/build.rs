//! Hands the version of sqlx to `main.rs`.

use std::fs;

#[path = "../rust/lock.rs"]
mod lock;

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock stands beside Cargo.toml");
    println!("cargo:rustc-env=SQLX_VERSION={}", lock::version(&lock, "sqlx"));
}
