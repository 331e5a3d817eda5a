//! Reading the columns of a row in place, specialised three at a time by their types and by whether
//! they are nullable: a branch per column would cost the floor several per cent.

use std::ffi::{c_int, c_void};
use std::slice;

use libsqlite3_sys as ffi;

use super::handles::Statement;
use crate::checksum::Sink;
use crate::failure::Failure;
use crate::job::{Column as Declared, Type};

/// Reads neighbouring columns from the one with this number on.
///
/// The sink is handed over and back, so that a checksum stays in a register.
type Reader<S> = unsafe fn(*mut ffi::sqlite3_stmt, c_int, S) -> S;

/// The readers of a row: of its first columns, and of those after them.
pub struct Columns<'c, S> {
    declared: &'c [Declared],
    first: Reader<S>,
    others: Box<[(c_int, Reader<S>)]>,
}

impl<'c, S: Sink> Columns<'c, S> {
    pub fn new(declared: &'c [Declared]) -> Self {
        let alike = declared.chunk_by(|one, next| one.nullable == next.nullable);
        let mut number = 0;
        let mut readers = alike.flat_map(|columns| columns.chunks(WIDEST)).map(|columns| {
            let first = number;
            number += columns.len() as c_int;
            (first, reader(columns))
        });
        let first = readers.next().map_or(none as Reader<S>, |(_, reader)| reader);
        let others = readers.collect();
        Columns { declared, first, others }
    }

    /// Reads every column of the row that the statement stands on. Only verifying looks for NULL
    /// in a column that is not nullable.
    #[inline(always)]
    pub fn read(&self, statement: &Statement<'_>, sink: &mut S) -> Result<(), Failure> {
        if S::VERIFIES {
            self.refuse_null(statement)?;
        }
        // SAFETY: `check_counts` has made sure that there are as many columns as declared.
        unsafe {
            let mut handed = (self.first)(statement.raw(), 0, std::mem::take(sink));
            for (number, reader) in &self.others {
                handed = reader(statement.raw(), *number, handed);
            }
            *sink = handed;
        }
        Ok(())
    }

    fn refuse_null(&self, statement: &Statement<'_>) -> Result<(), Failure> {
        for (column, number) in self.declared.iter().zip(0..) {
            // SAFETY: as in `read`.
            let kind = unsafe { ffi::sqlite3_column_type(statement.raw(), number) };
            if kind == ffi::SQLITE_NULL && !column.nullable {
                let name = &column.name;
                return Err(Failure::new(format!("column {name} is not nullable, got NULL")));
            }
        }
        Ok(())
    }
}

const WIDEST: usize = 3;

/// The reader of up to `WIDEST` columns that are all nullable or all not.
fn reader<S: Sink>(columns: &[Declared]) -> Reader<S> {
    if columns.iter().any(|column| column.nullable) {
        typed::<true, S>(columns)
    } else {
        typed::<false, S>(columns)
    }
}

fn typed<const NULLABLE: bool, S: Sink>(columns: &[Declared]) -> Reader<S> {
    /// Evaluates an expression with the type parameter that stands for a column type.
    macro_rules! with {
        ($declared:ident as $T:ident: $body:expr) => {
            match $declared.r#type {
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
    match columns {
        [] => none,
        [a] => with!(a as A: one::<NULLABLE, A, S>),
        [a, b] => with!(a as A: with!(b as B: two::<NULLABLE, A, B, S>)),
        [a, b, c] => {
            with!(a as A: with!(b as B: with!(c as C: three::<NULLABLE, A, B, C, S>)))
        }
        _ => unreachable!("chunks have at most {WIDEST} columns"),
    }
}

/// A column type. A value is fetched once and then looked at, which is less than a column call for
/// each look; its type is asked only where it may be NULL. Such values are unprotected, which
/// matters only where threads share a connection.
trait Column {
    /// # Safety
    /// The value must be a column's, and no call may have been made on its statement since.
    unsafe fn read<const NULLABLE: bool, S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S);
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

/// The bytes at `start`, which a conversion of `value` has returned: null for an empty blob, for
/// NULL, and if there is no memory.
#[inline(always)]
unsafe fn bytes<'v>(value: *mut ffi::sqlite3_value, start: *const c_void) -> &'v [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { slice::from_raw_parts(start.cast(), ffi::sqlite3_value_bytes(value) as usize) }
}

impl Column for Integer {
    #[inline(always)]
    unsafe fn read<const NULLABLE: bool, S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S) {
        // SAFETY: the caller's.
        unsafe {
            match ffi::sqlite3_value_int64(value) {
                0 if NULLABLE && is_null(value) => sink.null(),
                number => sink.integer(number),
            }
        }
    }
}

impl Column for Real {
    #[inline(always)]
    unsafe fn read<const NULLABLE: bool, S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S) {
        // SAFETY: the caller's.
        unsafe {
            match ffi::sqlite3_value_double(value) {
                0.0 if NULLABLE && is_null(value) => sink.null(),
                number => sink.real(number),
            }
        }
    }
}

impl Column for Text {
    #[inline(always)]
    unsafe fn read<const NULLABLE: bool, S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S) {
        // SAFETY: the caller's.
        unsafe {
            let start = ffi::sqlite3_value_text(value);
            if NULLABLE && start.is_null() {
                sink.null();
            } else {
                sink.text(bytes(value, start.cast()));
            }
        }
    }
}

impl Column for Blob {
    #[inline(always)]
    unsafe fn read<const NULLABLE: bool, S: Sink>(value: *mut ffi::sqlite3_value, sink: &mut S) {
        // SAFETY: the caller's.
        unsafe {
            let start = ffi::sqlite3_value_blob(value);
            if NULLABLE && start.is_null() && is_null(value) {
                sink.null();
            } else {
                sink.blob(bytes(value, start));
            }
        }
    }
}

unsafe fn none<S>(_: *mut ffi::sqlite3_stmt, _: c_int, sink: S) -> S {
    sink
}

unsafe fn one<const NULLABLE: bool, A: Column, S: Sink>(
    raw: *mut ffi::sqlite3_stmt,
    first: c_int,
    mut sink: S,
) -> S {
    // SAFETY: the caller's.
    unsafe { A::read::<NULLABLE, S>(ffi::sqlite3_column_value(raw, first), &mut sink) };
    sink
}

unsafe fn two<const NULLABLE: bool, A: Column, B: Column, S: Sink>(
    raw: *mut ffi::sqlite3_stmt,
    first: c_int,
    mut sink: S,
) -> S {
    // SAFETY: the caller's.
    unsafe {
        A::read::<NULLABLE, S>(ffi::sqlite3_column_value(raw, first), &mut sink);
        B::read::<NULLABLE, S>(ffi::sqlite3_column_value(raw, first + 1), &mut sink);
    }
    sink
}

unsafe fn three<const NULLABLE: bool, A: Column, B: Column, C: Column, S: Sink>(
    raw: *mut ffi::sqlite3_stmt,
    first: c_int,
    mut sink: S,
) -> S {
    // SAFETY: the caller's.
    unsafe {
        A::read::<NULLABLE, S>(ffi::sqlite3_column_value(raw, first), &mut sink);
        B::read::<NULLABLE, S>(ffi::sqlite3_column_value(raw, first + 1), &mut sink);
        C::read::<NULLABLE, S>(ffi::sqlite3_column_value(raw, first + 2), &mut sink);
    }
    sink
}
