//! Binding parameters without a copy, and rows as owned values for what is read off the clock.

use std::ffi::{c_int, c_void};
use std::slice;

use libsqlite3_sys as ffi;

use super::handles::Statement;
use crate::failure::Failure;
use crate::parameters::Parameter;

/// Binds a row of the pool.
///
/// # Safety
/// `parameters` must live and stay unchanged until the statement is bound again or finalized.
#[inline(always)]
pub unsafe fn bind(statement: &Statement<'_>, parameters: &[Parameter]) -> Result<(), Failure> {
    let one = |number: c_int, parameter: &Parameter| {
        // SAFETY: the caller's.
        unsafe { bind_one(statement, number, parameter) }
    };
    if !statement.places().is_empty() {
        let mut placed = statement.places().iter().zip(parameters);
        return placed.try_for_each(|(place, parameter)| one(*place, parameter));
    }
    // Short rows are written out: each place has a branch of its own, which the processor
    // predicts better than one that all places share.
    match parameters {
        [] => Ok(()),
        [a] => one(1, a),
        [a, b] => one(1, a).and(one(2, b)),
        [a, b, c] => one(1, a).and(one(2, b)).and(one(3, c)),
        [a, b, c, d] => one(1, a).and(one(2, b)).and(one(3, c)).and(one(4, d)),
        _ => (1..).zip(parameters).try_for_each(|(number, parameter)| one(number, parameter)),
    }
}

/// # Safety
/// As for [`bind`].
#[inline(always)]
unsafe fn bind_one(
    statement: &Statement<'_>,
    number: c_int,
    parameter: &Parameter,
) -> Result<(), Failure> {
    let raw = statement.raw();
    // SAFETY: the statement is live and reset; pointers are valid by the caller's promise.
    let code = unsafe {
        match parameter {
            Parameter::Null => ffi::sqlite3_bind_null(raw, number),
            Parameter::Integer(value) => ffi::sqlite3_bind_int64(raw, number, *value),
            Parameter::Real(value) => ffi::sqlite3_bind_double(raw, number, *value),
            Parameter::Text(value) => {
                let (start, length) = (value.as_ptr().cast(), value.len() as c_int);
                ffi::sqlite3_bind_text(raw, number, start, length, ffi::SQLITE_STATIC())
            }
            Parameter::Blob(value) => {
                let (start, length) = (value.as_ptr().cast(), value.len() as c_int);
                ffi::sqlite3_bind_blob(raw, number, start, length, ffi::SQLITE_STATIC())
            }
        }
    };
    if code == ffi::SQLITE_OK { Ok(()) } else { Err(statement.failure(code)) }
}

/// The current row as owned values of their own types; off the clock.
pub fn owned(statement: &Statement<'_>) -> Vec<Parameter> {
    let raw = statement.raw();
    let columns = 0..statement.column_count() as c_int;
    columns
        .map(|column| {
            // SAFETY: the statement stands on a row with these columns; an empty blob has no address, so it is not made a slice.
            unsafe {
                let bytes = |start: *const c_void| match ffi::sqlite3_column_bytes(raw, column) {
                    0 => Vec::new(),
                    length => slice::from_raw_parts(start.cast::<u8>(), length as usize).to_vec(),
                };
                match ffi::sqlite3_column_type(raw, column) {
                    ffi::SQLITE_INTEGER => {
                        Parameter::Integer(ffi::sqlite3_column_int64(raw, column))
                    }
                    ffi::SQLITE_FLOAT => Parameter::Real(ffi::sqlite3_column_double(raw, column)),
                    ffi::SQLITE_TEXT => {
                        let text = bytes(ffi::sqlite3_column_text(raw, column).cast());
                        Parameter::Text(String::from_utf8_lossy(&text).into())
                    }
                    ffi::SQLITE_BLOB => {
                        Parameter::Blob(bytes(ffi::sqlite3_column_blob(raw, column)).into())
                    }
                    _ => Parameter::Null,
                }
            }
        })
        .collect()
}
