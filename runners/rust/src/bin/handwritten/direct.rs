//! The loops in SQLite's C API.
//!
//! SAFETY of all calls below: the handles are opened in `prepare` and closed in `drop`; bound
//! texts and blobs lie in `Direct::workload`, which lives as long; columns are read by the types
//! that the schema gives them, right after a step that returned a row.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::ffi::{CStr, CString};
use std::{ptr, slice};

use libsqlite3_sys::*;
use sqlitmus_rust::access::Access;
use sqlitmus_rust::failure::Failure;
use sqlitmus_rust::result::Counts;

use super::{Loop, Sink, Workload};

struct Direct {
    database: *mut sqlite3,
    statement: *mut sqlite3_stmt,
    begin: *mut sqlite3_stmt,
    commit: *mut sqlite3_stmt,
    workload: Workload,
    operations: usize,
}

pub fn prepare(
    access: &Access,
    workload: Workload,
    operations: u64,
) -> Result<Box<dyn Loop>, Failure> {
    let sql = match &workload {
        Workload::GetPk(_) => c"SELECT id, created, email, score, active FROM users WHERE id = ?",
        Workload::All(_) => {
            c"SELECT id, created, email, score, active FROM users WHERE id >= ? ORDER BY id LIMIT 100"
        }
        Workload::InsertTransaction(_, false) => {
            c"INSERT INTO sink(a, b, c, d) VALUES (?, ?, ?, ?)"
        }
        // Names are numbered as they come, which their author knows.
        Workload::InsertTransaction(_, true) => {
            c"INSERT INTO sink(a, b, c, d) VALUES (@a, @b, @c, @d)"
        }
    };
    let null = ptr::null_mut();
    let mut direct = Direct {
        database: ptr::null_mut(),
        statement: null,
        begin: null,
        commit: null,
        workload,
        operations: operations as usize,
    };
    let name =
        CString::new(access.name.as_str()).map_err(|error| Failure::new(error.to_string()))?;
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    unsafe {
        let code = sqlite3_open_v2(name.as_ptr(), &mut direct.database, flags, ptr::null());
        direct.check(code)?;
    }
    for pragma in &access.pragmas {
        direct.execute(pragma)?;
    }
    direct.statement = direct.compile(sql)?;
    direct.begin = direct.compile(c"BEGIN IMMEDIATE")?;
    direct.commit = direct.compile(c"COMMIT")?;
    Ok(Box::new(direct))
}

impl Loop for Direct {
    fn execute(&self, sql: &str) -> Result<(), Failure> {
        let sql = CString::new(sql).map_err(|error| Failure::new(error.to_string()))?;
        let null = ptr::null_mut();
        self.check(unsafe {
            sqlite3_exec(self.database, sql.as_ptr(), None, null, ptr::null_mut())
        })
    }

    fn iteration(&mut self, first: usize) -> Result<Counts, Failure> {
        match &self.workload {
            Workload::GetPk(keys) => self.get_pk(keys, first),
            Workload::All(keys) => self.all(keys, first),
            Workload::InsertTransaction(rows, _) => self.insert_transaction(rows, first),
        }
    }
}

impl Direct {
    fn get_pk(&self, keys: &[i64], first: usize) -> Result<Counts, Failure> {
        let mask = keys.len() - 1;
        let (mut rows, mut checksum) = (0, 0u32);
        for operation in first..first + self.operations {
            unsafe {
                sqlite3_bind_int64(self.statement, 1, keys[operation & mask]);
                match sqlite3_step(self.statement) {
                    SQLITE_ROW => {
                        checksum = checksum.wrapping_add(fold_user(self.statement, 0));
                        rows += 1;
                    }
                    SQLITE_DONE => {}
                    code => self.check(code)?,
                }
                sqlite3_reset(self.statement);
            }
        }
        Ok(Counts { rows, affected: 0, checksum })
    }

    fn all(&self, keys: &[i64], first: usize) -> Result<Counts, Failure> {
        let mask = keys.len() - 1;
        let (mut rows, mut checksum) = (0, 0u32);
        for operation in first..first + self.operations {
            unsafe {
                sqlite3_bind_int64(self.statement, 1, keys[operation & mask]);
                let mut h = 0;
                loop {
                    match sqlite3_step(self.statement) {
                        SQLITE_ROW => {
                            h = fold_user(self.statement, h);
                            rows += 1;
                        }
                        SQLITE_DONE => break,
                        code => self.check(code)?,
                    }
                }
                checksum = checksum.wrapping_add(h);
                sqlite3_reset(self.statement);
            }
        }
        Ok(Counts { rows, affected: 0, checksum })
    }

    fn insert_transaction(&self, rows: &[Sink], first: usize) -> Result<Counts, Failure> {
        let mask = rows.len() - 1;
        let (mut affected, mut checksum) = (0, 0u32);
        for operation in first..first + self.operations {
            self.complete(self.begin)?;
            let mut h = 0u32;
            for execution in operation * 100..operation * 100 + 100 {
                let Sink { a, b, c, d } = &rows[execution & mask];
                let (text, blob) = (b.as_ptr().cast(), d.as_ptr().cast());
                unsafe {
                    sqlite3_bind_int64(self.statement, 1, *a);
                    sqlite3_bind_text(self.statement, 2, text, b.len() as i32, SQLITE_STATIC());
                    sqlite3_bind_double(self.statement, 3, *c);
                    sqlite3_bind_blob(self.statement, 4, blob, d.len() as i32, SQLITE_STATIC());
                    self.complete(self.statement)?;
                    let changed = sqlite3_changes64(self.database);
                    h = h.wrapping_mul(31).wrapping_add(changed as u32);
                    affected += changed as u64;
                }
            }
            self.complete(self.commit)?;
            checksum = checksum.wrapping_add(h);
        }
        Ok(Counts { rows: 0, affected, checksum })
    }

    fn complete(&self, statement: *mut sqlite3_stmt) -> Result<(), Failure> {
        unsafe {
            match sqlite3_step(statement) {
                SQLITE_DONE => {}
                code => self.check(code)?,
            }
            sqlite3_reset(statement);
        }
        Ok(())
    }

    fn compile(&self, sql: &CStr) -> Result<*mut sqlite3_stmt, Failure> {
        let mut statement = ptr::null_mut();
        let null = ptr::null_mut();
        let code =
            unsafe { sqlite3_prepare_v2(self.database, sql.as_ptr(), -1, &mut statement, null) };
        self.check(code).map(|()| statement)
    }

    fn check(&self, code: i32) -> Result<(), Failure> {
        if code == SQLITE_OK {
            return Ok(());
        }
        let message = unsafe { CStr::from_ptr(sqlite3_errmsg(self.database)) };
        Err(Failure::from_sqlite(message.to_string_lossy(), Some(code)))
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        unsafe {
            sqlite3_finalize(self.statement);
            sqlite3_finalize(self.begin);
            sqlite3_finalize(self.commit);
            sqlite3_close(self.database);
        }
    }
}

/// Folds id, created, email, score and active of the current row. Values are fetched once each;
/// that they are unprotected matters only where threads share a connection.
unsafe fn fold_user(statement: *mut sqlite3_stmt, h: u32) -> u32 {
    unsafe {
        let email = sqlite3_column_value(statement, 2);
        let text = sqlite3_value_text(email);
        let length = sqlite3_value_bytes(email) as usize;
        let ends = match slice::from_raw_parts(text, length) {
            [] => 0,
            text => text[0] as u32 * 31 + text[length - 1] as u32,
        };
        let mut h = h.wrapping_mul(31).wrapping_add(sqlite3_column_int64(statement, 0) as u32);
        h = h.wrapping_mul(31).wrapping_add(sqlite3_column_int64(statement, 1) as u32);
        h = h.wrapping_mul(31).wrapping_add(ends);
        h = h.wrapping_mul(31).wrapping_add(sqlite3_column_double(statement, 3) as i64 as u32);
        h.wrapping_mul(31).wrapping_add(sqlite3_column_int64(statement, 4) as u32)
    }
}
