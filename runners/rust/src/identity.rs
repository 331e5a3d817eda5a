//! Who measures: names, versions and what the build and the connections were told.

use serde::Serialize;

use crate::engine::Engine;

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
    pub runner: &'static str,
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
    /// The identity of a driver whose connections are opened with these engine options.
    pub fn of(driver: DriverName, engine: &Engine) -> Self {
        let (runner, name, version) = match driver {
            DriverName::Rusqlite => ("rust", "rusqlite", env!("RUSQLITE_VERSION")),
            DriverName::Ffi => ("rust-ffi", "libsqlite3-sys", env!("LIBSQLITE3_SYS_VERSION")),
        };
        Identity {
            runner,
            runtime: Versioned { name: "Rust", version: env!("RUSTC_VERSION") },
            driver: Versioned { name, version },
            architecture: std::env::consts::ARCH,
            flags: vec![
                concat!("profile=", env!("BUILD_PROFILE")),
                concat!("opt-level=", env!("OPTIMISATION")),
                // The latter is rusqlite's default, and what the floor takes, too.
                if engine.full_mutex() { "SQLITE_OPEN_FULLMUTEX" } else { "SQLITE_OPEN_NOMUTEX" },
            ],
        }
    }
}
