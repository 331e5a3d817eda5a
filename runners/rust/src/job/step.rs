//! A step of an operation.

use serde::{Deserialize, Serialize};

use super::measure::one;
use crate::parameters::{Parameters, Pool};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub operation: Operation,
    #[serde(default)]
    pub sql: String,
    pub parameters: Option<Parameters>,
    /// What the parameters are bound by, each with its prefix; by their places if there are none.
    #[serde(default)]
    pub names: Vec<String>,
    #[serde(default)]
    pub columns: Vec<Column>,
    #[serde(default = "one")]
    pub repeat: u64,
    /// The primary result code that every execution must fail with.
    pub fails: Option<i32>,
    #[serde(default)]
    pub shape: Shape,
    #[serde(default)]
    pub integers: Integers,
    #[serde(default)]
    pub statement: StatementKind,
    /// How many texts the executions use in turn; they differ in a comment.
    #[serde(default = "one")]
    pub texts: u64,
    #[serde(default)]
    pub values: Values,
    /// `parameters`, decoded to the driver's own types by [`super::read`].
    #[serde(skip)]
    pub pool: Pool,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    Get,
    All,
    Iterate,
    Run,
    Prepare,
    Open,
    OpenFile,
    InTransaction,
    Execute,
    ReadFile,
}

impl Operation {
    /// Whether its values may be bound by name.
    pub fn takes_names(self) -> bool {
        use Operation::{All, Get, Iterate, Open, Run};
        matches!(self, Get | All | Iterate | Run | Open)
    }

    /// Whether it asks SQLite nothing that has a text.
    pub fn has_no_sql(self) -> bool {
        matches!(self, Operation::InTransaction | Operation::ReadFile)
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    #[default]
    Object,
    Array,
    Typed,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Integers {
    #[default]
    Number,
    Bigint,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum StatementKind {
    #[default]
    Prepared,
    Cached,
    Adhoc,
}

/// Whether the values of rows are looked at.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    #[default]
    Read,
    Unread,
}

/// A declared type: of a result column or of a parameter.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    Integer,
    Real,
    Text,
    Blob,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub name: String,
    pub r#type: Type,
    /// Whether a value can be NULL; where it cannot, nothing asks.
    #[serde(default)]
    pub nullable: bool,
}
