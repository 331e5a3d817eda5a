//! Who measures: names, versions and what the build and the connections were told.

use serde::Serialize;

use crate::access;
use crate::engine::Engine;
use crate::job::Flag;

/// A driver: how it is called, and what it has of the contract's lists.
#[derive(Debug)]
pub struct DriverFacts {
    /// What follows `--driver=`.
    pub option: &'static str,
    pub runner: &'static str,
    pub name: &'static str,
    pub version: &'static str,
    /// Its name in a sentence.
    pub title: &'static str,
    pub operations: &'static [&'static str],
    pub shapes: &'static [&'static str],
    pub statements: &'static [&'static str],
    pub bindings: &'static [&'static str],
    pub flags: &'static [&'static str],
    pub lacks: &'static [&'static str],
    pub figures: &'static [&'static str],
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
    pub fn of(
        driver: &DriverFacts,
        variant: Option<&str>,
        engine: &Engine,
        flags: &[Flag],
    ) -> Self {
        let build = [
            concat!("profile=", env!("BUILD_PROFILE")),
            concat!("opt-level=", env!("OPTIMISATION")),
        ];
        Identity {
            runner: [Some(driver.runner), variant]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("-"),
            runtime: Versioned { name: "Rust", version: env!("RUSTC_VERSION") },
            driver: Versioned { name: driver.name, version: driver.version },
            architecture: std::env::consts::ARCH,
            flags: build
                .into_iter()
                .chain(access::told(engine, flags).into_iter().map(|(name, _)| name))
                .collect(),
        }
    }
}
