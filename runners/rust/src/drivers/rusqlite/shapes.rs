//! How rows are materialised, and how what was materialised is read.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Error, Result, Row, Statement};

use crate::checksum::Sink;
use crate::job::{Column, Type};

pub trait Shape {
    /// A collection of rows.
    type Rows: Default;

    /// Materialises a row at the end of `rows`; what the shape does not materialise is read here.
    fn push<S: Sink>(&self, row: &Row<'_>, rows: &mut Self::Rows, sink: &mut S) -> Result<()>;

    /// Reads every value of every row, drops the rows and keeps the collection's memory.
    fn read<S: Sink>(&self, rows: &mut Self::Rows, sink: &mut S);

    /// All rows in a collection of their own, then every value; returns the number of rows.
    #[inline(always)]
    fn all<S: Sink>(&self, statement: &mut Statement<'_>, sink: &mut S) -> Result<u64> {
        self.pushed(statement, sink)
    }

    /// The same in a loop of its own.
    #[inline(always)]
    fn pushed<S: Sink>(&self, statement: &mut Statement<'_>, sink: &mut S) -> Result<u64> {
        let mut collection = Self::Rows::default();
        let mut count = 0;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            self.push(row, &mut collection, sink)?;
            count += 1;
        }
        self.read(&mut collection, sink);
        Ok(count)
    }

    /// Materialises a row that is read and dropped before the next one.
    #[inline(always)]
    fn one<S: Sink>(&self, row: &Row<'_>, kept: &mut Self::Rows, sink: &mut S) -> Result<()> {
        self.push(row, kept, sink)?;
        self.read(kept, sink);
        Ok(())
    }
}

/// Owned values of the declared types; NULL where a column is not nullable is an error, as it is
/// for `row.get::<_, i64>`. Records are what a `Vec<User>` would hold: no allocation per row other
/// than its texts and blobs.
pub struct Object<'c>(&'c [Column]);

pub enum Field {
    Null,
    Integer(i64),
    Real(f64),
    // Not String: without a niche in a capacity, the tag is read with one instruction.
    Text(Box<str>),
    Blob(Box<[u8]>),
}

impl<'c> Object<'c> {
    pub fn new(columns: &'c [Column]) -> Self {
        Object(columns)
    }

    /// As its users write it, `query_map` and `collect`: each record moves through a `Result` into
    /// the list, which costs 6 % of a list of 100 rows.
    #[inline(always)]
    fn records<const N: usize, S: Sink>(
        &self,
        statement: &mut Statement<'_>,
        sink: &mut S,
    ) -> Result<u64> {
        let rows = statement.raw_query().mapped(|row| {
            let mut record = [const { Field::Null }; N];
            for (number, field) in record.iter_mut().enumerate() {
                *field = self.field(row, number)?;
            }
            Ok(record)
        });
        let records = rows.collect::<Result<Vec<[Field; N]>>>()?;
        let count = records.len() as u64;
        for record in records {
            record.into_iter().for_each(|field| field.read(sink));
        }
        Ok(count)
    }

    #[inline(always)]
    fn field(&self, row: &Row<'_>, number: usize) -> Result<Field> {
        let column = &self.0[number];
        Ok(match (column.r#type, row.get_ref(number)?) {
            (Type::Integer, ValueRef::Integer(value)) => Field::Integer(value),
            (Type::Real, ValueRef::Real(value)) => Field::Real(value),
            (Type::Real, ValueRef::Integer(value)) => Field::Real(value as f64),
            (Type::Text, ValueRef::Text(value)) => Field::Text(str::from_utf8(value)?.into()),
            (Type::Blob, ValueRef::Blob(value)) => Field::Blob(value.into()),
            (_, ValueRef::Null) if column.nullable => Field::Null,
            (_, value) => return Err(mistyped(row, number, value)),
        })
    }
}

impl Field {
    #[inline(always)]
    fn read<S: Sink>(self, sink: &mut S) {
        match self {
            Field::Null => sink.null(),
            Field::Integer(value) => sink.integer(value),
            Field::Real(value) => sink.real(value),
            Field::Text(value) => sink.text(value.as_bytes()),
            Field::Blob(value) => sink.blob(&value),
        }
    }
}

impl Shape for Object<'_> {
    type Rows = Vec<Field>;

    #[inline(always)]
    fn push<S: Sink>(&self, row: &Row<'_>, rows: &mut Vec<Field>, _sink: &mut S) -> Result<()> {
        for number in 0..self.0.len() {
            rows.push(self.field(row, number)?);
        }
        Ok(())
    }

    #[inline(always)]
    fn read<S: Sink>(&self, rows: &mut Vec<Field>, sink: &mut S) {
        // One pass, not two: a value is dropped where its type is known.
        rows.drain(..).for_each(|field| field.read(sink));
    }

    /// Wider rows end to end in one vector.
    #[inline(always)]
    fn all<S: Sink>(&self, statement: &mut Statement<'_>, sink: &mut S) -> Result<u64> {
        match self.0.len() {
            1 => self.records::<1, S>(statement, sink),
            2 => self.records::<2, S>(statement, sink),
            3 => self.records::<3, S>(statement, sink),
            4 => self.records::<4, S>(statement, sink),
            5 => self.records::<5, S>(statement, sink),
            6 => self.records::<6, S>(statement, sink),
            7 => self.records::<7, S>(statement, sink),
            8 => self.records::<8, S>(statement, sink),
            _ => self.pushed(statement, sink),
        }
    }

    /// A record of one row needs no tags: what owns memory is kept until the row has been read.
    #[inline(always)]
    fn one<S: Sink>(&self, row: &Row<'_>, kept: &mut Vec<Field>, sink: &mut S) -> Result<()> {
        read_row::<true, S>(self.0, row, kept, sink)?;
        kept.clear();
        Ok(())
    }
}

/// Reads the values of a row in place; those that are `OWNED` from a copy, which is kept.
#[inline(always)]
fn read_row<const OWNED: bool, S: Sink>(
    columns: &[Column],
    row: &Row<'_>,
    kept: &mut Vec<Field>,
    sink: &mut S,
) -> Result<()> {
    for (number, column) in columns.iter().enumerate() {
        match (column.r#type, row.get_ref(number)?) {
            (Type::Integer, ValueRef::Integer(value)) => sink.integer(value),
            (Type::Real, ValueRef::Real(value)) => sink.real(value),
            (Type::Real, ValueRef::Integer(value)) => sink.real(value as f64),
            (Type::Text, ValueRef::Text(value)) => {
                let value = str::from_utf8(value)?.as_bytes();
                if OWNED {
                    let own: Box<[u8]> = value.into();
                    sink.text(&own);
                    kept.push(Field::Blob(own));
                } else {
                    sink.text(value);
                }
            }
            (Type::Blob, ValueRef::Blob(value)) => {
                if OWNED {
                    let own: Box<[u8]> = value.into();
                    sink.blob(&own);
                    kept.push(Field::Blob(own));
                } else {
                    sink.blob(value);
                }
            }
            (_, ValueRef::Null) if column.nullable => sink.null(),
            (_, value) => return Err(mistyped(row, number, value)),
        }
    }
    Ok(())
}

/// A `Vec<Value>` per row.
pub struct Array<'c>(&'c [Column]);

impl<'c> Array<'c> {
    pub fn new(columns: &'c [Column]) -> Self {
        Array(columns)
    }
}

impl Shape for Array<'_> {
    type Rows = Vec<Vec<Value>>;

    #[inline(always)]
    fn push<S: Sink>(&self, row: &Row<'_>, rows: &mut Self::Rows, _sink: &mut S) -> Result<()> {
        let mut values = Vec::with_capacity(self.0.len());
        for (number, column) in self.0.iter().enumerate() {
            let value = row.get(number)?;
            if S::VERIFIES && value == Value::Null && !column.nullable {
                return Err(mistyped(row, number, ValueRef::Null));
            }
            values.push(value);
        }
        rows.push(values);
        Ok(())
    }

    #[inline(always)]
    fn read<S: Sink>(&self, rows: &mut Self::Rows, sink: &mut S) {
        for row in rows.drain(..) {
            for (value, column) in row.iter().zip(self.0) {
                match value {
                    Value::Null => sink.null(),
                    // A column of reals may hold whole numbers as integers.
                    Value::Integer(value) if column.r#type == Type::Real => {
                        sink.real(*value as f64);
                    }
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
pub struct Typed<'c>(&'c [Column]);

impl<'c> Typed<'c> {
    pub fn new(columns: &'c [Column]) -> Self {
        Typed(columns)
    }
}

impl Shape for Typed<'_> {
    type Rows = ();

    #[inline(always)]
    fn push<S: Sink>(&self, row: &Row<'_>, _rows: &mut (), sink: &mut S) -> Result<()> {
        read_row::<false, S>(self.0, row, &mut Vec::new(), sink)
    }

    #[inline(always)]
    fn read<S: Sink>(&self, (): &mut (), _sink: &mut S) {}
}
