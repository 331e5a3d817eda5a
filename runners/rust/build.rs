//! Hands the compiler's, the drivers' and the profile's facts to `identity.rs`.

use std::{env, fs, process::Command};

mod lock;

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    println!("cargo:rerun-if-changed=build.rs");
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock stands beside Cargo.toml");
    for name in ["rusqlite", "libsqlite3-sys"] {
        let version = lock::version(&lock, name);
        let variable = name.to_uppercase().replace('-', "_");
        println!("cargo:rustc-env={variable}_VERSION={version}");
    }
    println!("cargo:rustc-env=RUSTC_VERSION={}", compiler());
    println!("cargo:rustc-env=OPTIMISATION={}", variable("OPT_LEVEL"));
    println!("cargo:rustc-env=BUILD_PROFILE={}", variable("PROFILE"));
}

/// The compiler's bare version: `rustc 1.95.0 (… date)` becomes `1.95.0`.
fn compiler() -> String {
    let output = Command::new(variable("RUSTC")).arg("--version").output();
    let text = String::from_utf8(output.expect("rustc runs").stdout).expect("rustc prints text");
    text.split_whitespace().nth(1).expect("a version is the second word").to_owned()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
