//! For build scripts: what a lock file says.

/// The version of a package in the text of a lock file.
pub fn version<'a>(lock: &'a str, name: &str) -> &'a str {
    let entry = lock.split("[[package]]").find(|entry| {
        let mut lines = entry.lines();
        lines.any(|line| line == format!("name = \"{name}\""))
    });
    let mut lines = entry.unwrap_or_default().lines();
    let line = lines.find_map(|line| line.strip_prefix("version = "));
    line.unwrap_or_else(|| panic!("{name} is in Cargo.lock")).trim_matches('"')
}
