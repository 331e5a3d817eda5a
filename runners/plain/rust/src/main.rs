//! What a user of rusqlite would write: `sqlitmus-plain TASK`. ../README.md has the task.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;
use std::{env, fs, io};

use rusqlite::{Connection, Row, Transaction, TransactionBehavior};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;
type Sink = (i64, String, f64, Vec<u8>);

#[derive(Deserialize)]
struct Task {
    database: String,
    pragmas: Vec<String>,
    sql: Value,
    pool: Value,
    work: String,
}

#[derive(Deserialize)]
struct Phase {
    operations: u64,
    seconds: f64,
}

/// How many rows were read or changed, and the sum of the `id` of those that were read.
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
    if task.work == "service" {
        return service(&task, &db);
    }
    let mut statement = db.prepare(task.sql.as_str().ok_or("sql: a text")?)?;
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

struct Document {
    id: i64,
    owner: String,
    title: String,
    body: String,
    changed: i64,
}

/// A round of the example's service: 16 documents, 2 lists of recent ones, words, and a visit.
fn service(task: &Task, db: &Connection) -> Outcome<()> {
    let prepare = |name: &str| db.prepare(task.sql[name].as_str().unwrap_or_default());
    let (mut document, mut recent) = (prepare("document")?, prepare("recent")?);
    let (mut words, mut visit) = (prepare("words")?, prepare("visit")?);
    let keys: Vec<(i64,)> = pool_of(&task.pool["document"])?;
    let owners: Vec<(String,)> = pool_of(&task.pool["recent"])?;
    let ends: Vec<(String, String)> = pool_of(&task.pool["words"])?;
    let visits: Vec<(i64, i64)> = pool_of(&task.pool["visit"])?;
    let (mut keys, mut owners) = (keys.iter().cycle(), owners.iter().cycle());
    let (mut ends, mut visits) = (ends.iter().cycle(), visits.iter().cycle());
    walk(|seen| {
        for _ in 0..16 {
            let (key,) = keys.next().unwrap();
            let found = document.query_row((key,), |row| {
                Ok(Document {
                    id: row.get(0)?,
                    owner: row.get(1)?,
                    title: row.get(2)?,
                    body: row.get(3)?,
                    changed: row.get(4)?,
                })
            })?;
            black_box((&found.owner, &found.title, &found.body, found.changed));
            seen.rows += 1;
            seen.sum += found.id;
        }
        for _ in 0..2 {
            let (owner,) = owners.next().unwrap();
            let list = recent.query_map((owner,), |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
            })?;
            let list = list.collect::<rusqlite::Result<Vec<_>>>()?;
            black_box(&list);
            seen.rows += list.len();
            seen.sum += list.iter().map(|(id, _, _)| id).sum::<i64>();
        }
        let (from, to) = ends.next().unwrap();
        let list = words
            .query_map((from, to), |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
        let list = list.collect::<rusqlite::Result<Vec<_>>>()?;
        seen.rows += black_box(&list).len();
        let (document, at) = visits.next().unwrap();
        seen.rows += visit.execute((document, at))?;
        Ok(())
    })
}

fn pool<T: DeserializeOwned>(task: &Task) -> Outcome<Vec<T>> {
    pool_of(&task.pool)
}

fn pool_of<T: DeserializeOwned>(rows: &Value) -> Outcome<Vec<T>> {
    Ok(serde_json::from_value(rows.clone())?)
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
fn walk(mut work: impl FnMut(&mut Seen) -> rusqlite::Result<()>) -> Outcome<()> {
    let mut seen = Seen::default();
    for line in io::stdin().lines() {
        let asked: Phase = serde_json::from_str(&line?)?;
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
