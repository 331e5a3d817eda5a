//! Owners of SQLite's two handles.

use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::ptr;

use libsqlite3_sys as ffi;

use crate::access::Access;
use crate::failure::Failure;
use crate::job::Step;

/// A connection, of one thread.
pub struct Database(*mut ffi::sqlite3);

/// A prepared statement; it cannot outlive its connection.
pub struct Statement<'c> {
    raw: *mut ffi::sqlite3_stmt,
    /// Where the values of a row are bound; empty if in their order.
    places: Box<[c_int]>,
    connection: PhantomData<&'c Database>,
}

impl Database {
    /// Opens with rusqlite's flags, so that the floor differs from it by the binding alone.
    pub fn open(access: &Access) -> Result<Self, Failure> {
        Self::open_named(access, &access.name)
    }

    /// Opens another database in the same way.
    pub fn open_named(access: &Access, name: &str) -> Result<Self, Failure> {
        let flags = access.flags | ffi::SQLITE_OPEN_EXRESCODE;
        let name = terminated(name)?;
        let mut raw = ptr::null_mut();
        // SAFETY: `name` is terminated and lives through the call.
        let code = unsafe { ffi::sqlite3_open_v2(name.as_ptr(), &mut raw, flags, ptr::null()) };
        let database = Database(raw);
        if code != ffi::SQLITE_OK {
            return Err(database.failure(code));
        }
        for pragma in &access.pragmas {
            database.execute(pragma)?;
        }
        Ok(database)
    }

    /// The handle, valid as long as `self`.
    pub fn raw(&self) -> *mut ffi::sqlite3 {
        self.0
    }

    /// Executes SQL text and drops its rows.
    pub fn execute(&self, sql: &str) -> Result<(), Failure> {
        let text = terminated(sql)?;
        // SAFETY: the connection is open, the text is terminated, and there is no callback.
        let code = unsafe {
            ffi::sqlite3_exec(self.0, text.as_ptr(), None, ptr::null_mut(), ptr::null_mut())
        };
        self.check(code).map_err(|failure| failure.with_sql(sql))
    }

    /// Compiles exactly one statement.
    #[inline]
    pub fn prepare(&self, sql: &str) -> Result<Statement<'_>, Failure> {
        let (mut raw, mut tail) = (ptr::null_mut(), ptr::null::<c_char>());
        let length = c_int::try_from(sql.len()).unwrap_or(c_int::MAX);
        let start = sql.as_ptr().cast::<c_char>();
        // SAFETY: the text lives through the call, which reads `length` bytes at most.
        let code =
            unsafe { ffi::sqlite3_prepare_v3(self.0, start, length, 0, &mut raw, &mut tail) };
        let statement = Statement { raw, places: Box::default(), connection: PhantomData };
        self.check(code).map_err(|failure| failure.with_sql(sql))?;
        let rest = &sql[tail as usize - start as usize..];
        if raw.is_null() || !rest.trim_matches([' ', '\n', '\t', ';']).is_empty() {
            return Err(Failure::new("expected exactly one statement").with_sql(sql));
        }
        Ok(statement)
    }

    /// The same of a step, whose names are looked up once.
    #[inline]
    pub fn prepare_step(&self, step: &Step) -> Result<Statement<'_>, Failure> {
        let mut statement = self.prepare(&step.sql)?;
        if !step.names.is_empty() {
            statement.places =
                step.names.iter().map(|name| statement.place(name)).collect::<Result<_, _>>()?;
        }
        Ok(statement)
    }

    /// Rows changed by the last statement that changes rows.
    #[inline(always)]
    pub fn changes(&self) -> u64 {
        // SAFETY: the connection is open.
        unsafe { ffi::sqlite3_changes64(self.0) as u64 }
    }

    /// Whether a transaction is open.
    #[inline(always)]
    pub fn in_transaction(&self) -> bool {
        // SAFETY: the connection is open.
        unsafe { ffi::sqlite3_get_autocommit(self.0) == 0 }
    }

    pub fn close(self) -> Result<(), Failure> {
        // SAFETY: statements borrow the connection, so none is left.
        let code = unsafe { ffi::sqlite3_close(self.0) };
        let outcome = self.check(code);
        if code == ffi::SQLITE_OK {
            std::mem::forget(self);
        }
        outcome
    }

    #[inline(always)]
    fn check(&self, code: c_int) -> Result<(), Failure> {
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(self.failure(code)) }
    }

    #[cold]
    fn failure(&self, code: c_int) -> Failure {
        // SAFETY: the message is copied before the next call on this connection.
        let message = unsafe { CStr::from_ptr(ffi::sqlite3_errmsg(self.0)) };
        Failure::from_sqlite(message.to_string_lossy(), Some(code))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: statements borrow the connection, so none is left; closing null does nothing.
        unsafe { ffi::sqlite3_close(self.0) };
    }
}

impl Statement<'_> {
    /// The handle, valid as long as `self`.
    #[inline(always)]
    pub fn raw(&self) -> *mut ffi::sqlite3_stmt {
        self.raw
    }

    /// Where each value of a row is bound, if it is by name.
    #[inline(always)]
    pub fn places(&self) -> &[c_int] {
        &self.places
    }

    fn place(&self, name: &str) -> Result<c_int, Failure> {
        let text = terminated(name)?;
        // SAFETY: the statement is live, and the name is terminated.
        match unsafe { ffi::sqlite3_bind_parameter_index(self.raw, text.as_ptr()) } {
            0 => Err(Failure::new(format!("the statement has no parameter {name}"))),
            place => Ok(place),
        }
    }

    pub fn column_count(&self) -> usize {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_column_count(self.raw) as usize }
    }

    pub fn parameter_count(&self) -> usize {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_bind_parameter_count(self.raw) as usize }
    }

    /// Steps; the result code as it is.
    #[inline(always)]
    pub fn attempt(&self) -> c_int {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_step(self.raw) }
    }

    /// Whether there is a row.
    #[inline(always)]
    pub fn step(&self) -> Result<bool, Failure> {
        match self.attempt() {
            ffi::SQLITE_ROW => Ok(true),
            ffi::SQLITE_DONE => Ok(false),
            code => Err(self.failure(code)),
        }
    }

    /// Makes ready for the next execution; what it could report, `step` has reported.
    #[inline(always)]
    pub fn reset(&self) {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_reset(self.raw) };
    }

    /// Steps a statement that must return no rows.
    #[inline(always)]
    pub fn complete(&self) -> Result<(), Failure> {
        if self.step()? {
            return Err(Failure::new("a statement that is run must not return rows"));
        }
        Ok(())
    }

    #[cold]
    pub fn failure(&self, code: c_int) -> Failure {
        // SAFETY: the handles are live; both texts are copied at once.
        unsafe {
            let message = CStr::from_ptr(ffi::sqlite3_errmsg(ffi::sqlite3_db_handle(self.raw)));
            let sql = CStr::from_ptr(ffi::sqlite3_sql(self.raw)).to_string_lossy();
            Failure::from_sqlite(message.to_string_lossy(), Some(code)).with_sql(&sql)
        }
    }
}

impl Drop for Statement<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the statement is live or null, and not used after this.
        unsafe { ffi::sqlite3_finalize(self.raw) };
    }
}

fn terminated(text: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| Failure::new(format!("{text:?} holds a NUL character")))
}
