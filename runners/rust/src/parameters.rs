//! Parameter pools: JSON encodings turned into the driver's own values before any clock starts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::job::Type;

const LARGEST: usize = 16_384;

/// A pool as JSON gives it.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    types: Vec<Type>,
    rows: Vec<Vec<Scalar>>,
}

impl Parameters {
    pub fn types(&self) -> &[Type] {
        &self.types
    }
}

/// A value to bind.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    Null,
    Integer(i64),
    Real(f64),
    Text(Box<str>),
    Blob(Box<[u8]>),
}

/// One JSON scalar, its meaning still open: text may be a text, a blob or a large integer.
#[derive(Debug)]
enum Scalar {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, a string or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Scalar, E> {
        Ok(Scalar::Null)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Scalar, E> {
        let signed = i64::try_from(value);
        signed.map(Scalar::Integer).map_err(|_| E::custom("expected an integer of 64 bits"))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Real(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }
}

/// Decoded parameter rows, stored end to end; the number of rows is a power of two.
#[derive(Debug)]
pub struct Pool {
    values: Vec<Parameter>,
    width: usize,
    mask: usize,
}

/// The pool of a step without parameters: one empty row.
impl Default for Pool {
    fn default() -> Self {
        Pool { values: Vec::new(), width: 0, mask: 0 }
    }
}

impl Pool {
    /// The row that execution number `execution` binds.
    #[inline(always)]
    pub fn row(&self, execution: u64) -> &[Parameter] {
        let start = (execution as usize & self.mask) * self.width;
        // SAFETY: `decode` puts `mask + 1` rows of `width` values into the pool.
        unsafe { self.values.get_unchecked(start..start + self.width) }
    }

    /// How many rows there are.
    pub fn length(&self) -> usize {
        self.mask + 1
    }

    /// How many parameters a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Decodes a pool. The error begins with the JSON path below `parameters`.
    pub fn decode(parameters: Parameters) -> Result<Pool, String> {
        let (length, width) = (parameters.rows.len(), parameters.types.len());
        if !length.is_power_of_two() || length > LARGEST {
            return Err(format!(
                "rows: expected a power of two of rows, at most {LARGEST}, found {length}"
            ));
        }
        let mut values = Vec::with_capacity(length * width);
        for (number, row) in parameters.rows.into_iter().enumerate() {
            if row.len() != width {
                return Err(format!(
                    "rows[{number}]: expected {width} values, found {}",
                    row.len()
                ));
            }
            for (place, (scalar, declared)) in row.into_iter().zip(&parameters.types).enumerate() {
                let value = convert(scalar, *declared)
                    .map_err(|problem| format!("rows[{number}][{place}]: {problem}"))?;
                values.push(value);
            }
        }
        // Copies made in order of use lie close to each other, as a hand-written pool's would.
        Ok(Pool { values: values.clone(), width, mask: length - 1 })
    }
}

/// Gives a JSON scalar the declared type; the error says what was expected.
fn convert(scalar: Scalar, declared: Type) -> Result<Parameter, String> {
    match (declared, scalar) {
        (_, Scalar::Null) => Ok(Parameter::Null),
        (Type::Integer, Scalar::Integer(number)) => Ok(Parameter::Integer(number)),
        (Type::Integer, Scalar::Text(digits)) => {
            digits.parse().map(Parameter::Integer).map_err(|_| {
                format!("expected an integer or a decimal string of 64 bits, found {digits:?}")
            })
        }
        (Type::Real, Scalar::Real(number)) => Ok(Parameter::Real(number)),
        (Type::Real, Scalar::Integer(number)) => Ok(Parameter::Real(number as f64)),
        (Type::Text, Scalar::Text(text)) => Ok(Parameter::Text(text.into())),
        (Type::Blob, Scalar::Text(digits)) => match unhex(&digits) {
            Some(bytes) => Ok(Parameter::Blob(bytes.into())),
            None => Err(format!("expected lower-case hexadecimal, found {digits:?}")),
        },
        (declared, scalar) => {
            let declared = format!("{declared:?}").to_lowercase();
            Err(format!("expected a value of type {declared}, found {scalar:?}"))
        }
    }
}

/// Bytes of a lower-case hexadecimal string.
fn unhex(digits: &str) -> Option<Vec<u8>> {
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            &[high, low] => Some(nibble(high)? << 4 | nibble(low)?),
            _ => None,
        })
        .collect()
}
