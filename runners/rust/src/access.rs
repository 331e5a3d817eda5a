//! How a connection is opened and set up: computed once, so that the `open` operation does no more
//! than its user would.

use std::ffi::c_int;

use libsqlite3_sys as ffi;

use crate::engine::Engine;
use crate::job::{Database, Flag, Job, OpenMode, Setting};

/// Everything `open` needs.
#[derive(Debug)]
pub struct Access {
    /// A path, or a `file:` URI where URI parameters are asked.
    pub name: String,
    /// The flags of `sqlite3_open_v2`.
    pub flags: c_int,
    /// `PRAGMA …` statements in order.
    pub pragmas: Vec<String>,
    /// SQL for the job's own connections, after the pragmas.
    pub setup: Vec<String>,
}

impl Access {
    /// The access of a job's connections.
    pub fn new(job: &Job, database: &Database) -> Self {
        let connection = &job.connection;
        Access {
            name: name(database),
            flags: flags(&connection.engine, database),
            pragmas: connection.pragmas.iter().map(pragma).collect(),
            setup: connection.setup.clone(),
        }
    }
}

fn flags(engine: &Engine, database: &Database) -> c_int {
    let mode = match database.mode {
        OpenMode::ReadWrite => ffi::SQLITE_OPEN_READWRITE,
        OpenMode::ReadOnly => ffi::SQLITE_OPEN_READONLY,
    };
    told(engine, &database.flags)
        .iter()
        .fold(mode | ffi::SQLITE_OPEN_URI, |all, (_, flag)| all | flag)
}

/// The flags that a job decides on, with their names: those that it asks for, and of the mutexes
/// rusqlite's default, which the floor takes, too, unless the job names one.
pub fn told(engine: &Engine, asked: &[Flag]) -> Vec<(&'static str, c_int)> {
    let default = if engine.full_mutex() { Flag::FullMutex } else { Flag::NoMutex };
    let named = asked.iter().any(|flag| matches!(flag, Flag::NoMutex | Flag::FullMutex));
    let default = (!named).then_some(default);
    let flags = default.iter().chain(asked).map(|flag| match flag {
        Flag::NoMutex => ("SQLITE_OPEN_NOMUTEX", ffi::SQLITE_OPEN_NOMUTEX),
        Flag::FullMutex => ("SQLITE_OPEN_FULLMUTEX", ffi::SQLITE_OPEN_FULLMUTEX),
        Flag::PrivateCache => ("SQLITE_OPEN_PRIVATECACHE", ffi::SQLITE_OPEN_PRIVATECACHE),
        Flag::SharedCache => ("SQLITE_OPEN_SHAREDCACHE", ffi::SQLITE_OPEN_SHAREDCACHE),
    });
    flags.collect()
}

fn pragma((name, value): &(String, Setting)) -> String {
    match value {
        Setting::Integer(number) => format!("PRAGMA {name}={number}"),
        Setting::Text(text) => format!("PRAGMA {name}='{}'", text.replace('\'', "''")),
    }
}

fn name(database: &Database) -> String {
    if database.uri.is_empty() {
        return database.path.clone();
    }
    let path = if cfg!(windows) && !database.in_memory() {
        format!("///{}", database.path.replace('\\', "/"))
    } else {
        database.path.clone()
    };
    let parameters = database.uri.iter();
    let parameters =
        parameters.map(|(key, value)| format!("{}={}", encode(key, ""), encode(value, "")));
    format!("file:{}?{}", encode(&path, "/:"), parameters.collect::<Vec<_>>().join("&"))
}

/// Percent-encodes all but RFC 3986's unreserved characters and those in `kept`.
fn encode(text: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let letter = char::from(byte);
        if letter.is_ascii_alphanumeric() || "-._~".contains(letter) || kept.contains(letter) {
            encoded.push(letter);
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(path: &str, uri: &[(&str, &str)]) -> Database {
        let uri = uri.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
        Database {
            path: path.into(),
            mode: OpenMode::ReadOnly,
            uri: uri.collect(),
            flags: Vec::new(),
        }
    }

    #[test]
    fn a_plain_path_stays_as_it_is() {
        assert_eq!(name(&database("/a b?c.db", &[])), "/a b?c.db");
    }

    #[test]
    #[cfg(not(windows))]
    fn uri_parts_are_percent_encoded() {
        let database = database("/a b?é#.db", &[("immutable", "1"), ("vfs", "x&y")]);
        assert_eq!(name(&database), "file:/a%20b%3F%C3%A9%23.db?immutable=1&vfs=x%26y");
    }

    #[test]
    fn a_database_in_memory_stays_one_with_parameters() {
        let database = database(":memory:", &[("cache", "private")]);
        assert_eq!(name(&database), "file::memory:?cache=private");
    }

    #[test]
    fn a_mutex_that_is_named_replaces_the_default() {
        let names = |engine: &str, asked: &[Flag]| {
            let engine = serde_json::from_str(engine).unwrap();
            told(&engine, asked).iter().map(|(name, _)| &name[12..]).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("{}", &[]), "NOMUTEX");
        assert_eq!(names("{}", &[Flag::SharedCache]), "NOMUTEX SHAREDCACHE");
        assert_eq!(names("{}", &[Flag::PrivateCache, Flag::FullMutex]), "PRIVATECACHE FULLMUTEX");
        let serialized = r#"{"threading": "serialized"}"#;
        assert_eq!(names(serialized, &[]), "FULLMUTEX");
        assert_eq!(names(serialized, &[Flag::NoMutex]), "NOMUTEX");
    }

    #[test]
    fn pragma_texts_are_quoted() {
        assert_eq!(pragma(&("a".into(), Setting::Integer(-16000))), "PRAGMA a=-16000");
        assert_eq!(pragma(&("a".into(), Setting::Text("it's".into()))), "PRAGMA a='it''s'");
    }
}
