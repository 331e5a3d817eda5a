/** The three workloads as a user of better-sqlite3 would write them; see handwritten.js. */

import { Buffer } from "node:buffer";
import Database from "better-sqlite3";

export const open = (path) => new Database(path);

export const blob = (hex) => Buffer.from(hex, "hex");

export function getPk(db, ids) {
  const begin = db.prepare("BEGIN");
  const schema = db.prepare("SELECT count(*) FROM sqlite_schema");
  const commit = db.prepare("COMMIT");
  const select = db.prepare("SELECT id, created, email, score, active FROM users WHERE id = ?");
  const mask = ids.length - 1;
  return {
    before() {
      begin.run();
      schema.get();
    },
    after: () => commit.run(),
    iteration(from, to) {
      let checksum = 0;
      let rows = 0;
      for (let i = from; i < to; i++) {
        let h = 0;
        const user = select.get(ids[i & mask]);
        if (user === undefined) continue;
        rows++;
        const { email } = user;
        h = (Math.imul(h, 31) + (user.id | 0)) | 0;
        h = (Math.imul(h, 31) + (user.created | 0)) | 0;
        h = (Math.imul(h, 31) + 31 * email.charCodeAt(0) + email.charCodeAt(email.length - 1)) | 0;
        h = (Math.imul(h, 31) + (user.score | 0)) | 0;
        h = (Math.imul(h, 31) + (user.active | 0)) | 0;
        checksum = (checksum + h) | 0;
      }
      return [rows, 0, checksum >>> 0];
    },
  };
}

export function all(db, starts) {
  const select = db.prepare(
    "SELECT id, created, email, score, active FROM users WHERE id >= ? ORDER BY id LIMIT 100",
  );
  const mask = starts.length - 1;
  return {
    before() {},
    after() {},
    iteration(from, to) {
      let checksum = 0;
      let rows = 0;
      for (let i = from; i < to; i++) {
        let h = 0;
        const users = select.all(starts[i & mask]);
        rows += users.length;
        for (let n = 0; n < users.length; n++) {
          const user = users[n];
          const { email } = user;
          h = (Math.imul(h, 31) + (user.id | 0)) | 0;
          h = (Math.imul(h, 31) + (user.created | 0)) | 0;
          h =
            (Math.imul(h, 31) + 31 * email.charCodeAt(0) + email.charCodeAt(email.length - 1)) | 0;
          h = (Math.imul(h, 31) + (user.score | 0)) | 0;
          h = (Math.imul(h, 31) + (user.active | 0)) | 0;
        }
        checksum = (checksum + h) | 0;
      }
      return [rows, 0, checksum >>> 0];
    },
  };
}

export function insertTransaction(db, values, named) {
  const places = named ? "@a, @b, @c, @d" : "?, ?, ?, ?";
  const insert = db.prepare(`INSERT INTO sink(a, b, c, d) VALUES (${places})`);
  const add = named
    ? (row) => insert.run({ a: row[0], b: row[1], c: row[2], d: row[3] })
    : (row) => insert.run(row[0], row[1], row[2], row[3]);
  const mask = values.length - 1;
  let checksum;
  let affected;
  const hundred = db.transaction((first) => {
    let h = 0;
    for (let n = first; n < first + 100; n++) {
      const { changes } = add(values[n & mask]);
      affected += changes;
      h = (Math.imul(h, 31) + changes) | 0;
    }
    checksum = (checksum + h) | 0;
  });
  return {
    before() {},
    after() {},
    iteration(from, to) {
      checksum = 0;
      affected = 0;
      for (let i = from; i < to; i++) hundred.immediate(i * 100);
      return [0, affected, checksum >>> 0];
    },
  };
}
