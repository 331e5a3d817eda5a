//! The barrier across processes: a line on stdout when this one is ready, a line on stdin to go on.

use std::io::{self, BufRead, Write};

use crate::failure::Failure;

/// Says that this process is ready and waits for its release.
pub fn released(mut output: impl Write, input: &mut impl BufRead) -> Result<(), Failure> {
    let problem = |error: io::Error| Failure::new(format!("the barrier: {error}"));
    output.write_all(b"ready\n").and_then(|()| output.flush()).map_err(problem)?;
    match input.read_line(&mut String::new()).map_err(problem)? {
        0 => Err(Failure::new("stdin ended before the iteration was released")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_releases_and_the_end_of_input_does_not() {
        let (mut said, mut input) = (Vec::new(), &b"go\ngo\n"[..]);
        released(&mut said, &mut input).unwrap();
        released(&mut said, &mut input).unwrap();
        let failure = released(&mut said, &mut input).unwrap_err();
        assert_eq!(failure.into_details().message, "stdin ended before the iteration was released");
        assert_eq!(said, b"ready\nready\nready\n");
    }
}
