//! How rows are materialised, and how what was materialised is read.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Error, Result, Row};

use crate::checksum::Sink;
use crate::job::Type;

pub trait Shape {
    /// A collection of rows.
    type Rows: Default;

    /// Materialises a row at the end of `rows`; what the shape does not materialise is read here.
    fn push<S: Sink>(&self, row: &Row<'_>, rows: &mut Self::Rows, sink: &mut S) -> Result<()>;

    /// Reads every value of every row, drops the rows and keeps the collection's memory.
    fn read<S: Sink>(&self, rows: &mut Self::Rows, sink: &mut S);
}

/// Owned values of the declared types. Records stand end to end in one vector, as those of a
/// `Vec<User>` would: no allocation per row other than its texts and blobs.
pub struct Object(Vec<Type>);

pub enum Field {
    Null,
    Integer(i64),
    Real(f64),
    // Not String: without a niche in a capacity, the tag is read with one instruction.
    Text(Box<str>),
    Blob(Box<[u8]>),
}

impl Object {
    pub fn new(columns: Vec<Type>) -> Self {
        Object(columns)
    }
}

impl Shape for Object {
    type Rows = Vec<Field>;

    #[inline(always)]
    fn push<S: Sink>(&self, row: &Row<'_>, rows: &mut Vec<Field>, _sink: &mut S) -> Result<()> {
        for (column, declared) in self.0.iter().enumerate() {
            rows.push(match (declared, row.get_ref(column)?) {
                (_, ValueRef::Null) => Field::Null,
                (Type::Integer, ValueRef::Integer(value)) => Field::Integer(value),
                (Type::Real, ValueRef::Real(value)) => Field::Real(value),
                (Type::Real, ValueRef::Integer(value)) => Field::Real(value as f64),
                (Type::Text, ValueRef::Text(value)) => Field::Text(str::from_utf8(value)?.into()),
                (Type::Blob, ValueRef::Blob(value)) => Field::Blob(value.into()),
                (_, value) => return Err(mistyped(row, column, value)),
            });
        }
        Ok(())
    }

    #[inline(always)]
    fn read<S: Sink>(&self, rows: &mut Vec<Field>, sink: &mut S) {
        // One pass, not two: a value is dropped where its type is known.
        for field in rows.drain(..) {
            match field {
                Field::Null => sink.null(),
                Field::Integer(value) => sink.integer(value),
                Field::Real(value) => sink.real(value),
                Field::Text(value) => sink.text(value.as_bytes()),
                Field::Blob(value) => sink.blob(&value),
            }
        }
    }
}

/// A `Vec<Value>` per row.
pub struct Array(Vec<Type>);

impl Array {
    pub fn new(columns: Vec<Type>) -> Self {
        Array(columns)
    }
}

impl Shape for Array {
    type Rows = Vec<Vec<Value>>;

    #[inline(always)]
    fn push<S: Sink>(&self, row: &Row<'_>, rows: &mut Self::Rows, _sink: &mut S) -> Result<()> {
        let mut values = Vec::with_capacity(self.0.len());
        for column in 0..self.0.len() {
            values.push(row.get(column)?);
        }
        rows.push(values);
        Ok(())
    }

    #[inline(always)]
    fn read<S: Sink>(&self, rows: &mut Self::Rows, sink: &mut S) {
        for row in rows.drain(..) {
            for (value, declared) in row.iter().zip(&self.0) {
                match value {
                    Value::Null => sink.null(),
                    // A column of reals may hold whole numbers as integers.
                    Value::Integer(value) if *declared == Type::Real => sink.real(*value as f64),
                    Value::Integer(value) => sink.integer(*value),
                    Value::Real(value) => sink.real(*value),
                    Value::Text(value) => sink.text(value.as_bytes()),
                    Value::Blob(value) => sink.blob(value),
                }
            }
        }
    }
}

#[cold]
fn mistyped(row: &Row<'_>, column: usize, value: ValueRef<'_>) -> Error {
    let name = row.as_ref().column_name(column).map(str::to_owned);
    name.map_or_else(
        |error| error,
        |name| Error::InvalidColumnType(column, name, value.data_type()),
    )
}

/// Values read in place through `get_ref`; nothing is materialised.
pub struct Typed(Vec<Type>);

impl Typed {
    pub fn new(columns: Vec<Type>) -> Self {
        Typed(columns)
    }
}

impl Shape for Typed {
    type Rows = ();

    #[inline(always)]
    fn push<S: Sink>(&self, row: &Row<'_>, _rows: &mut (), sink: &mut S) -> Result<()> {
        for (column, declared) in self.0.iter().enumerate() {
            match (declared, row.get_ref(column)?) {
                (_, ValueRef::Null) => sink.null(),
                (Type::Integer, ValueRef::Integer(value)) => sink.integer(value),
                (Type::Real, ValueRef::Real(value)) => sink.real(value),
                (Type::Real, ValueRef::Integer(value)) => sink.real(value as f64),
                (Type::Text, ValueRef::Text(value)) => sink.text(str::from_utf8(value)?.as_bytes()),
                (Type::Blob, ValueRef::Blob(value)) => sink.blob(value),
                (_, value) => return Err(mistyped(row, column, value)),
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn read<S: Sink>(&self, (): &mut (), _sink: &mut S) {}
}
