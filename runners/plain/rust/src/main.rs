//! What a user of rusqlite would write: `sqlitmus-plain TASK`. ../README.md has the task.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;
use std::{env, fs, io};

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, Row, Statement, Transaction, TransactionBehavior, params_from_iter};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;
type Sink = (i64, String, f64, Vec<u8>);

#[derive(Deserialize)]
struct Task {
    database: String,
    pragmas: Vec<String>,
    work: String,
    #[serde(default)]
    sql: String,
    #[serde(default)]
    pool: Value,
    #[serde(default)]
    queries: Vec<Query>,
    #[serde(default)]
    round: Vec<usize>,
    #[serde(default)]
    undo: Vec<String>,
}

#[derive(Deserialize)]
struct Query {
    transaction: String,
    statements: Vec<Asked>,
}

#[derive(Deserialize)]
struct Asked {
    sql: String,
    operation: String,
    repeat: usize,
    rows: Vec<Vec<Value>>,
}

#[derive(Deserialize)]
struct Phase {
    operations: u64,
    seconds: f64,
    #[serde(default)]
    afresh: bool,
}

/// How many rows were read or changed, and the sum of the `id` of those that were read; of a mix
/// the number of values that are not NULL.
#[derive(Default)]
struct Seen {
    rows: usize,
    sum: i64,
}

struct User {
    id: i64,
    created: i64,
    email: String,
    score: f64,
    active: i64,
}

impl User {
    fn of(row: &Row<'_>) -> rusqlite::Result<User> {
        Ok(User {
            id: row.get(0)?,
            created: row.get(1)?,
            email: row.get(2)?,
            score: row.get(3)?,
            active: row.get(4)?,
        })
    }

    fn read(&self) -> i64 {
        black_box((self.created, self.email.as_str(), self.score, self.active));
        self.id
    }
}

struct Entry {
    id: i64,
    created: i64,
    email: String,
}

impl Entry {
    fn of(row: &Row<'_>) -> rusqlite::Result<Entry> {
        Ok(Entry { id: row.get(0)?, created: row.get(1)?, email: row.get(2)? })
    }

    fn read(&self) -> i64 {
        black_box((self.created, self.email.as_str()));
        self.id
    }
}

fn main() -> Outcome<()> {
    let file = env::args().nth(1).ok_or("usage: sqlitmus-plain TASK")?;
    let task: Task = serde_json::from_slice(&fs::read(file)?)?;
    let db = Connection::open(&task.database)?;
    for pragma in &task.pragmas {
        db.execute_batch(pragma)?;
    }
    if task.work == "mix" {
        return mix(&task, &db);
    }
    let mut statement = db.prepare(&task.sql)?;
    match task.work.as_str() {
        "user" if task.pool[0][0].is_string() => {
            let pool: Vec<(String,)> = pool(&task)?;
            let mut keys = pool.iter().cycle();
            walk(|seen| {
                let (key,) = keys.next().unwrap();
                let user = statement.query_row((key,), User::of)?;
                seen.rows += 1;
                seen.sum += user.read();
                Ok(())
            })
        }
        "user" => {
            let pool: Vec<(i64,)> = pool(&task)?;
            let mut keys = pool.iter().cycle();
            walk(|seen| {
                let (key,) = keys.next().unwrap();
                let user = statement.query_row((key,), User::of)?;
                seen.rows += 1;
                seen.sum += user.read();
                Ok(())
            })
        }
        "users" => {
            let pool: Vec<(i64,)> = pool(&task)?;
            let mut keys = pool.iter().cycle();
            walk(|seen| {
                let (from,) = keys.next().unwrap();
                let list = statement.query_map((from,), User::of)?;
                let list = list.collect::<rusqlite::Result<Vec<User>>>()?;
                seen.rows += list.len();
                seen.sum += list.iter().map(User::read).sum::<i64>();
                Ok(())
            })
        }
        "range" => {
            let pool: Vec<(i64, i64)> = pool(&task)?;
            let mut keys = pool.iter().cycle();
            walk(|seen| {
                let (from, to) = keys.next().unwrap();
                let list = statement.query_map((from, to), Entry::of)?;
                let list = list.collect::<rusqlite::Result<Vec<Entry>>>()?;
                seen.rows += list.len();
                seen.sum += list.iter().map(Entry::read).sum::<i64>();
                Ok(())
            })
        }
        "insert" => {
            let pool = inserts(&task)?;
            let mut values = pool.iter().cycle();
            walk(|seen| {
                let (a, b, c, d) = values.next().unwrap();
                seen.rows += statement.execute((a, b, c, d))?;
                Ok(())
            })
        }
        "insert-100" => {
            let pool = inserts(&task)?;
            let mut values = pool.iter().cycle();
            walk(|seen| {
                let transaction = Transaction::new_unchecked(&db, TransactionBehavior::Immediate)?;
                for _ in 0..100 {
                    let (a, b, c, d) = values.next().unwrap();
                    seen.rows += statement.execute((a, b, c, d))?;
                }
                transaction.commit()
            })
        }
        "update-100" => {
            let pool: Vec<(f64, i64, i64)> = pool(&task)?;
            let mut values = pool.iter().cycle();
            walk(|seen| {
                let transaction = Transaction::new_unchecked(&db, TransactionBehavior::Immediate)?;
                for _ in 0..100 {
                    let (balance, updated, id) = values.next().unwrap();
                    seen.rows += statement.execute((balance, updated, id))?;
                }
                transaction.commit()
            })
        }
        other => Err(format!("no work is called {other}").into()),
    }
}

/// A statement of a mix, with its rows of parameters, of which the next one is at `place`.
struct Prepared<'c> {
    statement: Statement<'c>,
    reading: Option<Reading>,
    repeat: usize,
    rows: Vec<Vec<Cell>>,
    place: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Reading {
    Get,
    All,
    Iterate,
}

impl<'c> Prepared<'c> {
    fn of(db: &'c Connection, asked: &Asked) -> Outcome<Prepared<'c>> {
        let reading = match asked.operation.as_str() {
            "get" => Some(Reading::Get),
            "all" => Some(Reading::All),
            "iterate" => Some(Reading::Iterate),
            _ => None,
        };
        let rows = asked.rows.iter().map(|row| row.iter().map(cell).collect());
        Ok(Prepared {
            statement: db.prepare(&asked.sql)?,
            reading,
            repeat: asked.repeat,
            rows: rows.collect::<Outcome<_>>()?,
            place: 0,
        })
    }

    fn execute(&mut self, cells: &mut Vec<Cell>, seen: &mut Seen) -> rusqlite::Result<()> {
        for _ in 0..self.repeat {
            let parameters = params_from_iter(&self.rows[self.place]);
            self.place = (self.place + 1) % self.rows.len();
            let Some(reading) = self.reading else {
                seen.rows += self.statement.execute(parameters)?;
                continue;
            };
            let columns = self.statement.column_count();
            let mut list = Vec::new(); // the values of all rows
            let mut rows = self.statement.query(parameters)?;
            while let Some(row) = rows.next()? {
                seen.rows += 1;
                if reading == Reading::All {
                    read(row, columns, &mut list)?;
                    continue;
                }
                cells.clear();
                read(row, columns, cells)?;
                seen.sum += filled(cells);
                if reading == Reading::Get {
                    break;
                }
            }
            seen.sum += filled(&list);
        }
        Ok(())
    }
}

fn read(row: &Row<'_>, columns: usize, cells: &mut Vec<Cell>) -> rusqlite::Result<()> {
    for column in 0..columns {
        cells.push(row.get(column)?);
    }
    Ok(())
}

fn filled(cells: &[Cell]) -> i64 {
    black_box(cells).iter().filter(|cell| **cell != Cell::Null).count() as i64
}

/// What SQLite has in place of a value in JSON.
fn cell(value: &Value) -> Outcome<Cell> {
    Ok(match value {
        Value::Null => Cell::Null,
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Cell::Integer(integer),
            None => Cell::Real(number.as_f64().ok_or("a number")?),
        },
        Value::String(text) => Cell::Text(text.clone()),
        Value::Object(object) => match (object.get("blob"), object.get("wide")) {
            (Some(Value::String(hex)), _) => Cell::Blob(bytes(hex)),
            (_, Some(Value::String(digits))) => Cell::Integer(digits.parse()?),
            _ => return Err("neither blob nor wide".into()),
        },
        other => return Err(format!("no value: {other}").into()),
    })
}

/// A round of a workload's mix: its queries one after the other.
fn mix(task: &Task, db: &Connection) -> Outcome<()> {
    let statements = |query: &Query| {
        let prepared = query.statements.iter().map(|asked| Prepared::of(db, asked));
        Ok((behaviour(&query.transaction), prepared.collect::<Outcome<Vec<_>>>()?))
    };
    let mut queries = task.queries.iter().map(statements).collect::<Outcome<Vec<_>>>()?;
    let mut cells = Vec::new();
    let round = |seen: &mut Seen| {
        for number in &task.round {
            let (behaviour, statements) = &mut queries[*number];
            let begin = |kind| Transaction::new_unchecked(db, kind);
            let transaction = behaviour.map(begin).transpose()?;
            for statement in statements {
                statement.execute(&mut cells, seen)?;
            }
            transaction.map_or(Ok(()), Transaction::commit)?;
        }
        Ok(())
    };
    let undo = || task.undo.iter().try_for_each(|sql| db.execute_batch(sql));
    walk_afresh(round, undo)
}

fn behaviour(transaction: &str) -> Option<TransactionBehavior> {
    match transaction {
        "deferred" => Some(TransactionBehavior::Deferred),
        "immediate" => Some(TransactionBehavior::Immediate),
        _ => None,
    }
}

fn pool<T: DeserializeOwned>(task: &Task) -> Outcome<Vec<T>> {
    Ok(serde_json::from_value(task.pool.clone())?)
}

fn inserts(task: &Task) -> Outcome<Vec<Sink>> {
    let rows: Vec<(i64, String, f64, String)> = pool(task)?;
    Ok(rows.into_iter().map(|(a, b, c, d)| (a, b, c, bytes(&d))).collect())
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// Does what each line of standard input asks, and prints what was done.
fn walk(work: impl FnMut(&mut Seen) -> rusqlite::Result<()>) -> Outcome<()> {
    walk_afresh(work, || Ok(()))
}

/// The same, with what is done off the clock before a phase that begins afresh.
fn walk_afresh(
    mut work: impl FnMut(&mut Seen) -> rusqlite::Result<()>,
    undo: impl Fn() -> rusqlite::Result<()>,
) -> Outcome<()> {
    let mut seen = Seen::default();
    for line in io::stdin().lines() {
        let asked: Phase = serde_json::from_str(&line?)?;
        if asked.afresh {
            undo()?;
        }
        println!("{}", phase(&asked, || work(&mut seen))?);
    }
    let Seen { rows, sum } = seen;
    println!("{}", json!({"sqlite": rusqlite::version(), "rows": rows, "sum": sum}));
    Ok(())
}

/// Nanoseconds for which this thread has waited for a processor, where Linux tells.
fn waited() -> u64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Works for so many operations, and then until so many seconds have passed: it looks at the clock
/// after every 16th.
fn phase(asked: &Phase, mut work: impl FnMut() -> rusqlite::Result<()>) -> Outcome<Value> {
    let before = waited();
    let start = Instant::now();
    for _ in 0..asked.operations {
        work()?;
    }
    let (mut done, mut elapsed) = (asked.operations, start.elapsed());
    while elapsed.as_secs_f64() < asked.seconds {
        for _ in 0..16 {
            work()?;
        }
        done += 16;
        elapsed = start.elapsed();
    }
    let waited = waited() - before;
    Ok(json!({"operations": done, "ns": elapsed.as_nanos() as u64, "waited": waited}))
}
