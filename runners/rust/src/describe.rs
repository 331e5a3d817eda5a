//! The answer to `describe`.

use std::collections::BTreeMap;
use std::ffi::CStr;

use libsqlite3_sys as ffi;
use serde::Serialize;

use crate::engine::Engine;
use crate::identity::{DriverFacts, Identity};
use crate::job::VERSION;
use crate::support::Features;

#[derive(Debug, Serialize)]
pub struct Description {
    contract: u32,
    identity: Identity,
    sqlite: Sqlite,
    features: Features,
    limits: BTreeMap<&'static str, i64>,
}

#[derive(Debug, Serialize)]
struct Sqlite {
    version: String,
    source_id: String,
    compile_options: Vec<String>,
    threadsafe: i32,
}

/// Describes the runner; needs no connection.
pub fn describe(driver: &DriverFacts, variant: Option<&str>) -> Description {
    Description {
        contract: VERSION,
        identity: Identity::of(driver, variant, &Engine::default(), &[]),
        sqlite: sqlite(),
        features: Features::of(driver),
        limits: BTreeMap::new(),
    }
}

fn sqlite() -> Sqlite {
    // SAFETY: these calls need no connection and return static strings; the options end at null.
    unsafe {
        let text = |pointer| CStr::from_ptr(pointer).to_string_lossy().into_owned();
        let options = (0..).map(|number| ffi::sqlite3_compileoption_get(number));
        Sqlite {
            version: version(),
            source_id: text(ffi::sqlite3_sourceid()),
            compile_options: options.take_while(|option| !option.is_null()).map(text).collect(),
            threadsafe: ffi::sqlite3_threadsafe(),
        }
    }
}

/// The version of the SQLite that is linked.
pub fn version() -> String {
    // SAFETY: the call needs no connection and returns a static string.
    unsafe { CStr::from_ptr(ffi::sqlite3_libversion()) }.to_string_lossy().into_owned()
}
