//! Who measures: names, versions and what the build and the connections were told.

use serde::Serialize;

use crate::access;
use crate::engine::Engine;
use crate::job::Flag;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DriverName {
    Rusqlite,
    Ffi,
}

impl DriverName {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "rusqlite" => Some(DriverName::Rusqlite),
            "ffi" => Some(DriverName::Ffi),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Identity {
    pub runner: String,
    pub runtime: Versioned,
    pub driver: Versioned,
    pub architecture: &'static str,
    pub flags: Vec<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Versioned {
    pub name: &'static str,
    pub version: &'static str,
}

impl Identity {
    /// The identity of a driver whose connections are opened with these engine options and flags;
    /// another build of it is a variant, and another runner.
    pub fn of(driver: DriverName, variant: Option<&str>, engine: &Engine, flags: &[Flag]) -> Self {
        let build = [
            concat!("profile=", env!("BUILD_PROFILE")),
            concat!("opt-level=", env!("OPTIMISATION")),
        ];
        let (runner, name, version) = match driver {
            DriverName::Rusqlite => ("rust", "rusqlite", env!("RUSQLITE_VERSION")),
            DriverName::Ffi => ("rust-ffi", "libsqlite3-sys", env!("LIBSQLITE3_SYS_VERSION")),
        };
        Identity {
            runner: [Some(runner), variant].into_iter().flatten().collect::<Vec<_>>().join("-"),
            runtime: Versioned { name: "Rust", version: env!("RUSTC_VERSION") },
            driver: Versioned { name, version },
            architecture: std::env::consts::ARCH,
            flags: build
                .into_iter()
                .chain(access::told(engine, flags).into_iter().map(|(name, _)| name))
                .collect(),
        }
    }
}
