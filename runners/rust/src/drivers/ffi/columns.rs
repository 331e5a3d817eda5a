//! Reading the columns of a row in place, specialised by their types three at a time: a branch per
//! column would cost the floor several per cent.

use std::ffi::{c_int, c_void};
use std::slice;

use libsqlite3_sys as ffi;

use super::handles::Statement;
use crate::checksum::Sink;
use crate::job::Type;

/// Reads neighbouring columns from the one with this number on.
///
/// The sink is handed over and back, so that a checksum stays in a register.
type Reader<S> = unsafe fn(*mut ffi::sqlite3_stmt, c_int, S) -> S;

/// The readers of a row: of its first columns, and of those after them.
pub struct Columns<S> {
    first: Reader<S>,
    others: Box<[(c_int, Reader<S>)]>,
}

impl<S: Sink> Columns<S> {
    pub fn new(types: &[Type]) -> Self {
        let (first, others) = types.split_at(types.len().min(WIDEST));
        let others = others.chunks(WIDEST).zip(1..);
        let others = others.map(|(chunk, n)| ((n * WIDEST) as c_int, reader(chunk)));
        Columns { first: reader(first), others: others.collect() }
    }

    /// Reads every column of the row that the statement stands on.
    #[inline(always)]
    pub fn read(&self, statement: &Statement<'_>, sink: &mut S) {
        // SAFETY: `check_counts` has made sure that there are as many columns as types.
        unsafe {
            let mut handed = (self.first)(statement.raw(), 0, std::mem::take(sink));
            for (number, reader) in &self.others {
                handed = reader(statement.raw(), *number, handed);
            }
            *sink = handed;
        }
    }
}

const WIDEST: usize = 3;

fn reader<S: Sink>(types: &[Type]) -> Reader<S> {
    /// Evaluates an expression with the type parameter that stands for a column type.
    macro_rules! with {
        ($declared:ident as $T:ident: $body:expr) => {
            match $declared {
                Type::Integer => {
                    type $T = Integer;
                    $body
                }
                Type::Real => {
                    type $T = Real;
                    $body
                }
                Type::Text => {
                    type $T = Text;
                    $body
                }
                Type::Blob => {
                    type $T = Blob;
                    $body
                }
            }
        };
    }
    match types {
        [] => none,
        [a] => with!(a as A: one::<A, S>),
        [a, b] => with!(a as A: with!(b as B: two::<A, B, S>)),
        [a, b, c] => with!(a as A: with!(b as B: with!(c as C: three::<A, B, C, S>))),
        _ => unreachable!("chunks have at most {WIDEST} columns"),
    }
}

/// A column type. A value is fetched once and then looked at, which is less than a column call for
/// each look; its type is asked only where it may be NULL. Such values are unprotected, which
/// matters only where threads share a connection.
trait Column {
    /// # Safety
    /// The value must be a column's, and no call may have been made on its statement since.
    unsafe fn read<S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S);
}

struct Integer;
struct Real;
struct Text;
struct Blob;

#[inline(always)]
unsafe fn is_null(value: *mut ffi::sqlite3_value) -> bool {
    // SAFETY: the caller's.
    unsafe { ffi::sqlite3_value_type(value) == ffi::SQLITE_NULL }
}

/// The bytes at `start`, which a conversion of `value` has returned.
#[inline(always)]
unsafe fn bytes<'v>(value: *mut ffi::sqlite3_value, start: *const c_void) -> &'v [u8] {
    // SAFETY: the caller's.
    unsafe { slice::from_raw_parts(start.cast(), ffi::sqlite3_value_bytes(value) as usize) }
}

impl Column for Integer {
    #[inline(always)]
    unsafe fn read<S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S) {
        // SAFETY: the caller's.
        unsafe {
            match ffi::sqlite3_value_int64(value) {
                0 if is_null(value) => sink.null(),
                number => sink.integer(number),
            }
        }
    }
}

impl Column for Real {
    #[inline(always)]
    unsafe fn read<S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S) {
        // SAFETY: the caller's.
        unsafe {
            match ffi::sqlite3_value_double(value) {
                0.0 if is_null(value) => sink.null(),
                number => sink.real(number),
            }
        }
    }
}

impl Column for Text {
    #[inline(always)]
    unsafe fn read<S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S) {
        // SAFETY: the caller's.
        unsafe {
            let start = ffi::sqlite3_value_text(value);
            if start.is_null() { sink.null() } else { sink.text(bytes(value, start.cast())) }
        }
    }
}

impl Column for Blob {
    #[inline(always)]
    unsafe fn read<S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S) {
        // SAFETY: the caller's.
        unsafe {
            let start = ffi::sqlite3_value_blob(value);
            if !start.is_null() {
                sink.blob(bytes(value, start));
            } else if is_null(value) {
                sink.null();
            } else {
                // An empty blob has no address.
                sink.blob(&[]);
            }
        }
    }
}

unsafe fn none<S>(_: *mut ffi::sqlite3_stmt, _: c_int, sink: S) -> S {
    sink
}

unsafe fn one<A: Column, S: Sink>(raw: *mut ffi::sqlite3_stmt, first: c_int, mut sink: S) -> S {
    // SAFETY: the caller's.
    unsafe { A::read(ffi::sqlite3_column_value(raw, first), &mut sink) };
    sink
}

unsafe fn two<A: Column, B: Column, S: Sink>(
    raw: *mut ffi::sqlite3_stmt,
    first: c_int,
    mut sink: S,
) -> S {
    // SAFETY: the caller's.
    unsafe {
        A::read(ffi::sqlite3_column_value(raw, first), &mut sink);
        B::read(ffi::sqlite3_column_value(raw, first + 1), &mut sink);
    }
    sink
}

unsafe fn three<A: Column, B: Column, C: Column, S: Sink>(
    raw: *mut ffi::sqlite3_stmt,
    first: c_int,
    mut sink: S,
) -> S {
    // SAFETY: the caller's.
    unsafe {
        A::read(ffi::sqlite3_column_value(raw, first), &mut sink);
        B::read(ffi::sqlite3_column_value(raw, first + 1), &mut sink);
        C::read(ffi::sqlite3_column_value(raw, first + 2), &mut sink);
    }
    sink
}
