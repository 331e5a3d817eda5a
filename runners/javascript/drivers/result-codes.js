/** SQLite's result codes by name, for a driver whose errors carry only the name. */

/** Name after SQLITE_ → primary code and, in the order of their numbers from 1, extended names. */
const CODES = {
  ERROR: [1, "MISSING_COLLSEQ RETRY SNAPSHOT RESERVESIZE KEY UNABLE"],
  INTERNAL: [2],
  PERM: [3],
  ABORT: [4, "- ROLLBACK"],
  BUSY: [5, "RECOVERY SNAPSHOT TIMEOUT"],
  LOCKED: [6, "SHAREDCACHE VTAB"],
  NOMEM: [7],
  READONLY: [8, "RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY"],
  INTERRUPT: [9],
  IOERR: [
    10,
    "READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS " +
      "CHECKRESERVEDLOCK LOCK CLOSE DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP " +
      "GETTEMPPATH CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE",
  ],
  CORRUPT: [11, "VTAB SEQUENCE INDEX"],
  NOTFOUND: [12],
  FULL: [13],
  CANTOPEN: [14, "NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK"],
  PROTOCOL: [15],
  EMPTY: [16],
  SCHEMA: [17],
  TOOBIG: [18],
  CONSTRAINT: [
    19,
    "CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE",
  ],
  MISMATCH: [20],
  MISUSE: [21],
  NOLFS: [22],
  AUTH: [23, "USER"],
  FORMAT: [24],
  RANGE: [25],
  NOTADB: [26],
};

/** @returns {string | null} the name that those of all its extended codes begin with, such as `SQLITE_CONSTRAINT` */
export function primaryName(code) {
  const found = Object.keys(CODES).find((name) => CODES[name][0] === code);
  return found === undefined ? null : `SQLITE_${found}`;
}

/** @param {unknown} name such as `SQLITE_CONSTRAINT_UNIQUE` @returns {number | null} */
export function resultCode(name) {
  const [, primary, extension] = /^SQLITE_([A-Z]+)(?:_(\w+))?$/.exec(String(name)) ?? [];
  if (!Object.hasOwn(CODES, primary ?? "")) return null;
  const [code, extended = ""] = CODES[primary];
  if (extension === undefined) return code;
  const index = extended.split(" ").indexOf(extension);
  return index < 0 ? code : code | ((index + 1) << 8);
}
