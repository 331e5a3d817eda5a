//! The engine options of a job: set for the whole library before it initialises, and read back.

use std::collections::BTreeMap;
use std::ffi::c_int;

use libsqlite3_sys as ffi;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::job::Setting;
use crate::result::PageCache;

/// The names of the options.
const OPTIONS: &[&str] = &["memstatus", "threading"];

/// SQLite's threading modes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threading {
    /// A mutex in the core and one in each connection.
    Serialized,
    /// A mutex in the core alone.
    MultiThread,
    /// No mutex.
    SingleThread,
}

/// What is asked; `None` leaves SQLite's default and the driver's open flags as they are.
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(from = "BTreeMap<String, Setting>")]
pub struct Engine {
    pub threading: Option<Threading>,
    pub memstatus: Option<bool>,
    /// Why an option cannot be set: such a job is unsupported, not unreadable.
    pub refused: Option<String>,
}

impl From<BTreeMap<String, Setting>> for Engine {
    fn from(options: BTreeMap<String, Setting>) -> Self {
        let mut engine = Engine::default();
        for (name, value) in options {
            match (name.as_str(), &value) {
                ("threading", Setting::Text(mode)) if threading(mode).is_some() => {
                    engine.threading = threading(mode);
                }
                ("memstatus", Setting::Integer(switch @ (0 | 1))) => {
                    engine.memstatus = Some(*switch == 1);
                }
                _ => engine.refused = Some(refusal(&name, &value)),
            }
        }
        engine
    }
}

fn threading(mode: &str) -> Option<Threading> {
    match mode {
        "serialized" => Some(Threading::Serialized),
        "multi-thread" => Some(Threading::MultiThread),
        "single-thread" => Some(Threading::SingleThread),
        _ => None,
    }
}

fn refusal(name: &str, value: &Setting) -> String {
    let expected = match name {
        "threading" => "serialized, multi-thread or single-thread",
        "memstatus" => "0 or 1",
        _ => return format!("this runner has no engine option {name:?}"),
    };
    let found = match value {
        Setting::Integer(number) => number.to_string(),
        Setting::Text(text) => format!("{text:?}"),
    };
    format!("the engine option {name:?} is {expected}, not {found}")
}

impl Engine {
    /// Whether connections are opened with a mutex of their own. Without being asked they are
    /// not: rusqlite's default.
    pub fn full_mutex(&self) -> bool {
        self.threading == Some(Threading::Serialized)
    }

    /// Sets what is asked. SQLite takes it only until the process first uses the library.
    pub fn configure(&self) -> Result<(), Failure> {
        if let Some(threading) = self.threading {
            let option = match threading {
                Threading::Serialized => ffi::SQLITE_CONFIG_SERIALIZED,
                Threading::MultiThread => ffi::SQLITE_CONFIG_MULTITHREAD,
                Threading::SingleThread => ffi::SQLITE_CONFIG_SINGLETHREAD,
            };
            // SAFETY: these options take no argument.
            taken("threading", unsafe { ffi::sqlite3_config(option) })?;
        }
        if let Some(memstatus) = self.memstatus {
            let switch = c_int::from(memstatus);
            // SAFETY: this option takes one int.
            let code = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, switch) };
            taken("memstatus", code)?;
        }
        Ok(())
    }
}

fn taken(option: &str, code: c_int) -> Result<(), Failure> {
    let why = match code {
        ffi::SQLITE_OK => return Ok(()),
        ffi::SQLITE_MISUSE => "the library is in use already; give each job a process of its own",
        _ => "the library is built without it; build it with SQLITE_THREADSAFE=1 or 2",
    };
    let message = format!("sqlite3_config did not take the engine option {option:?}: {why}");
    Err(Failure::from_sqlite(message, Some(code)))
}

/// What is in effect of the options that the library takes, whether asked or not.
#[derive(Debug, Serialize)]
pub struct InEffect {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threading: Option<Threading>,
    pub memstatus: u8,
}

impl InEffect {
    /// Asks the library and a connection.
    ///
    /// # Safety
    /// `connection` is open.
    pub unsafe fn read(connection: *mut ffi::sqlite3) -> Self {
        // SAFETY: the caller keeps the connection open.
        let mutex = unsafe { ffi::sqlite3_db_mutex(connection) };
        let threading = match (core_mutexes(), mutex.is_null()) {
            (false, _) => Threading::SingleThread,
            (true, true) => Threading::MultiThread,
            (true, false) => Threading::Serialized,
        };
        let threading = options().contains(&"threading").then_some(threading);
        InEffect { threading, memstatus: u8::from(memory_used() != 0) }
    }
}

/// How often pages were found in the cache since this was last asked, and how often not; what is
/// mapped into memory counts as neither.
///
/// # Safety
/// `connection` is open.
pub unsafe fn page_cache(connection: *mut ffi::sqlite3) -> PageCache {
    let counted = |what: c_int| {
        let (mut now, mut most) = (0, 0);
        // SAFETY: the caller keeps the connection open; both counters live through the call.
        unsafe { ffi::sqlite3_db_status(connection, what, &mut now, &mut most, 1) };
        u64::from(now.cast_unsigned())
    };
    PageCache {
        hits: counted(ffi::SQLITE_DBSTATUS_CACHE_HIT),
        misses: counted(ffi::SQLITE_DBSTATUS_CACHE_MISS),
    }
}

/// The options that the library takes: without mutexes it has no threading mode.
pub fn options() -> &'static [&'static str] {
    // SAFETY: the call needs no connection.
    let threadsafe = unsafe { ffi::sqlite3_threadsafe() } != 0;
    if threadsafe { OPTIONS } else { &["memstatus"] }
}

/// Whether the library has real mutexes: those are different ones on every call.
fn core_mutexes() -> bool {
    // SAFETY: both are freed once and never entered.
    unsafe {
        let first = ffi::sqlite3_mutex_alloc(ffi::SQLITE_MUTEX_FAST);
        let second = ffi::sqlite3_mutex_alloc(ffi::SQLITE_MUTEX_FAST);
        ffi::sqlite3_mutex_free(first);
        ffi::sqlite3_mutex_free(second);
        first != second
    }
}

/// Bytes that SQLite counts as allocated: an open connection has some, unless it does not count.
fn memory_used() -> i64 {
    let (mut used, mut highest) = (0, 0);
    // SAFETY: both places live through the call.
    unsafe {
        ffi::sqlite3_status64(ffi::SQLITE_STATUS_MEMORY_USED, &mut used, &mut highest, 0);
    }
    used
}

/// What rusqlite links, and a SQLite lacks that was compiled without mutexes.
#[cfg(feature = "no-mutex")]
mod no_mutex {
    use std::ffi::{c_int, c_void};
    use std::ptr::null_mut;

    #[unsafe(no_mangle)]
    extern "C" fn sqlite3_mutex_alloc(_kind: c_int) -> *mut c_void {
        null_mut()
    }

    #[unsafe(no_mangle)]
    extern "C" fn sqlite3_mutex_free(_mutex: *mut c_void) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(json: &str) -> Engine {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn options_are_read_by_name_and_value() {
        let read = engine(r#"{"threading": "multi-thread", "memstatus": 0}"#);
        assert_eq!((read.threading, read.memstatus), (Some(Threading::MultiThread), Some(false)));
        assert_eq!(read.refused, None);
        let none = engine("{}");
        assert_eq!((none.threading, none.memstatus, none.refused), (None, None, None));
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_is() {
        let cases = [
            (r#"{"no-such": 1}"#, "this runner has no engine option \"no-such\""),
            (
                r#"{"threading": "fast"}"#,
                "the engine option \"threading\" is serialized, multi-thread or single-thread, \
                 not \"fast\"",
            ),
            (r#"{"threading": 1}"#, "not 1"),
            (r#"{"memstatus": 2}"#, "the engine option \"memstatus\" is 0 or 1, not 2"),
            (r#"{"memstatus": "1", "threading": "serialized"}"#, "is 0 or 1, not \"1\""),
        ];
        for (json, reason) in cases {
            let said = engine(json).refused.unwrap();
            assert!(said.ends_with(reason), "{said:?} does not end with {reason:?}");
        }
    }

    #[test]
    fn every_mode_is_read_under_the_name_it_is_reported_by() {
        for mode in [Threading::Serialized, Threading::MultiThread, Threading::SingleThread] {
            let name = serde_json::to_value(mode).unwrap();
            assert_eq!(threading(name.as_str().unwrap()), Some(mode));
        }
    }
}
