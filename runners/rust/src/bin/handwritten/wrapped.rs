//! The loops in rusqlite.

use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Row, Statement, Transaction, TransactionBehavior,
    named_params,
};
use sqlitmus_rust::access::Access;
use sqlitmus_rust::failure::Failure;
use sqlitmus_rust::result::Counts;

use super::{Loop, Sink, Workload};

struct User {
    id: i64,
    created: i64,
    email: String,
    score: f64,
    active: i64,
}

impl User {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<User> {
        Ok(User {
            id: row.get(0)?,
            created: row.get(1)?,
            email: row.get(2)?,
            score: row.get(3)?,
            active: row.get(4)?,
        })
    }

    fn checksum(&self, h: u32) -> u32 {
        let email = self.email.as_bytes();
        let ends = match (email.first(), email.last()) {
            (Some(first), Some(last)) => *first as u32 * 31 + *last as u32,
            _ => 0,
        };
        let mut h = h.wrapping_mul(31).wrapping_add(self.id as u32);
        h = h.wrapping_mul(31).wrapping_add(self.created as u32);
        h = h.wrapping_mul(31).wrapping_add(ends);
        h = h.wrapping_mul(31).wrapping_add(self.score as i64 as u32);
        h.wrapping_mul(31).wrapping_add(self.active as u32)
    }
}

pub fn open(access: &Access) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&access.name, flags)?;
    for pragma in &access.pragmas {
        connection.execute_batch(pragma)?;
    }
    Ok(connection)
}

pub fn prepare(
    connection: &Connection,
    workload: Workload,
    operations: u64,
) -> Result<Box<dyn Loop + '_>, Failure> {
    let operations = operations as usize;
    Ok(match workload {
        Workload::GetPk(keys) => {
            let sql = "SELECT id, created, email, score, active FROM users WHERE id = ?";
            let statement = connection.prepare(sql)?;
            Box::new(GetPk { connection, statement, keys, operations })
        }
        Workload::All(keys) => {
            let sql = "SELECT id, created, email, score, active FROM users WHERE id >= ? \
                       ORDER BY id LIMIT 100";
            let statement = connection.prepare(sql)?;
            Box::new(All { connection, statement, keys, operations })
        }
        Workload::InsertTransaction(rows, named) => {
            let places = if named { "@a, @b, @c, @d" } else { "?, ?, ?, ?" };
            let sql = format!("INSERT INTO sink(a, b, c, d) VALUES ({places})");
            let statement = connection.prepare(&sql)?;
            Box::new(InsertTransaction { connection, statement, rows, named, operations })
        }
    })
}

struct GetPk<'c> {
    connection: &'c Connection,
    statement: Statement<'c>,
    keys: Vec<i64>,
    operations: usize,
}

impl Loop for GetPk<'_> {
    fn execute(&self, sql: &str) -> Result<(), Failure> {
        Ok(self.connection.execute_batch(sql)?)
    }

    fn iteration(&mut self, first: usize) -> Result<Counts, Failure> {
        let mask = self.keys.len() - 1;
        let (mut rows, mut checksum) = (0, 0u32);
        for operation in first..first + self.operations {
            let key = self.keys[operation & mask];
            if let Some(user) = self.statement.query_row((key,), User::from_row).optional()? {
                checksum = checksum.wrapping_add(user.checksum(0));
                rows += 1;
            }
        }
        Ok(Counts { rows, affected: 0, checksum })
    }
}

struct All<'c> {
    connection: &'c Connection,
    statement: Statement<'c>,
    keys: Vec<i64>,
    operations: usize,
}

impl Loop for All<'_> {
    fn execute(&self, sql: &str) -> Result<(), Failure> {
        Ok(self.connection.execute_batch(sql)?)
    }

    fn iteration(&mut self, first: usize) -> Result<Counts, Failure> {
        let mask = self.keys.len() - 1;
        let (mut rows, mut checksum) = (0, 0u32);
        for operation in first..first + self.operations {
            let key = self.keys[operation & mask];
            let found = self.statement.query_map((key,), User::from_row)?;
            let users = found.collect::<rusqlite::Result<Vec<User>>>()?;
            let mut h = 0;
            for user in &users {
                h = user.checksum(h);
            }
            checksum = checksum.wrapping_add(h);
            rows += users.len() as u64;
        }
        Ok(Counts { rows, affected: 0, checksum })
    }
}

struct InsertTransaction<'c> {
    connection: &'c Connection,
    statement: Statement<'c>,
    rows: Vec<Sink>,
    named: bool,
    operations: usize,
}

impl Loop for InsertTransaction<'_> {
    fn execute(&self, sql: &str) -> Result<(), Failure> {
        Ok(self.connection.execute_batch(sql)?)
    }

    fn iteration(&mut self, first: usize) -> Result<Counts, Failure> {
        let mask = self.rows.len() - 1;
        let (mut affected, mut checksum) = (0, 0u32);
        for operation in first..first + self.operations {
            let behaviour = TransactionBehavior::Immediate;
            let transaction = Transaction::new_unchecked(self.connection, behaviour)?;
            let mut h = 0u32;
            for execution in operation * 100..operation * 100 + 100 {
                let Sink { a, b, c, d } = &self.rows[execution & mask];
                let changed = if self.named {
                    let row = named_params! {"@a": a, "@b": b, "@c": c, "@d": d};
                    self.statement.execute(row)?
                } else {
                    self.statement.execute((a, b.as_str(), c, d.as_slice()))?
                };
                h = h.wrapping_mul(31).wrapping_add(changed as u32);
                affected += changed as u64;
            }
            transaction.commit()?;
            checksum = checksum.wrapping_add(h);
        }
        Ok(Counts { rows: 0, affected, checksum })
    }
}
