//! Rows of sqlx as owned values.

use sqlitmus_rust::checksum::Sink;
use sqlitmus_rust::job::{Column, Type};
use sqlitmus_rust::parameters::Parameter;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Error, Row, Sqlite, TypeInfo, ValueRef};

/// A value of a row as a record has it: a `String`, not a borrowed text.
pub enum Field {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Field {
    /// The value of a column as `row.try_get` gives it in the declared type.
    pub fn of(row: &SqliteRow, number: usize, column: &Column) -> Result<Self, Error> {
        match column.r#type {
            Type::Integer => read(row, number, column, Field::Integer),
            Type::Real => match read(row, number, column, Field::Real) {
                // A column of reals may hold whole numbers as integers.
                Err(Error::ColumnDecode { .. }) => {
                    read(row, number, column, |whole: i64| Field::Real(whole as f64))
                }
                field => field,
            },
            Type::Text => read(row, number, column, Field::Text),
            Type::Blob => read(row, number, column, Field::Blob),
        }
    }

    pub fn read<S: Sink>(self, sink: &mut S) {
        match self {
            Field::Null => sink.null(),
            Field::Integer(value) => sink.integer(value),
            Field::Real(value) => sink.real(value),
            Field::Text(value) => sink.text(value.as_bytes()),
            Field::Blob(value) => sink.blob(&value),
        }
    }
}

/// NULL where a column is not nullable is an error, as it is for `try_get::<i64, _>`.
#[inline(always)]
fn read<T>(
    row: &SqliteRow,
    number: usize,
    column: &Column,
    field: impl FnOnce(T) -> Field,
) -> Result<Field, Error>
where
    T: for<'r> Decode<'r, Sqlite> + sqlx::Type<Sqlite>,
{
    if column.nullable {
        return Ok(row.try_get::<Option<T>, _>(number)?.map_or(Field::Null, field));
    }
    row.try_get(number).map(field)
}

/// A row's values in their own types; off the clock.
pub fn owned(row: &SqliteRow) -> Result<Vec<Parameter>, Error> {
    let values = (0..row.len()).map(|number| {
        let value = row.try_get_raw(number)?;
        if value.is_null() {
            return Ok(Parameter::Null);
        }
        Ok(match value.type_info().name() {
            "INTEGER" => Parameter::Integer(row.try_get_unchecked(number)?),
            "REAL" => Parameter::Real(row.try_get_unchecked(number)?),
            "BLOB" => Parameter::Blob(row.try_get_unchecked::<Vec<u8>, _>(number)?.into()),
            _ => Parameter::Text(row.try_get_unchecked::<String, _>(number)?.into()),
        })
    });
    values.collect()
}
