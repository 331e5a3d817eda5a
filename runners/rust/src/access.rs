//! How a connection is opened and set up: computed once, so that the `open` operation does no more
//! than its user would.

use crate::job::{Database, Job, OpenMode, Setting};

/// Everything `open` needs.
#[derive(Debug)]
pub struct Access {
    /// A path, or a `file:` URI where URI parameters are asked.
    pub name: String,
    pub read_only: bool,
    /// Whether the connection has a mutex of its own.
    pub full_mutex: bool,
    /// `PRAGMA …` statements in order.
    pub pragmas: Vec<String>,
}

impl Access {
    /// The access of a job's connections; workers have pragmas on top.
    pub fn new(job: &Job, database: &Database, worker: bool) -> Self {
        let connection = &job.connection;
        let extra = if worker { connection.worker_pragmas.as_slice() } else { &[] };
        Access {
            name: name(database),
            read_only: database.mode == OpenMode::ReadOnly,
            full_mutex: connection.engine.full_mutex(),
            pragmas: connection.pragmas.iter().chain(extra).map(pragma).collect(),
        }
    }
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
    let path = if cfg!(windows) {
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
        Database { path: path.into(), mode: OpenMode::ReadOnly, uri: uri.collect() }
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
    fn pragma_texts_are_quoted() {
        assert_eq!(pragma(&("a".into(), Setting::Integer(-16000))), "PRAGMA a=-16000");
        assert_eq!(pragma(&("a".into(), Setting::Text("it's".into()))), "PRAGMA a='it''s'");
    }
}
