// What a user of a JavaScript driver would write: the `work` of a task, which README.md beside it describes.

import { Buffer } from "node:buffer";

/** Opens the task's database; `end` closes it and says what all work came to. */
export async function open(driver, task) {
  const { DatabaseSync, Database, default: BetterSqlite3 } = await import(driver);

  const db = new (DatabaseSync ?? Database ?? BetterSqlite3)(task.database);
  for (const pragma of task.pragmas) db.exec(pragma);
  const statement = task.work === "service" ? undefined : db.prepare(task.sql);

  // What the driver itself gives for a blob: better-sqlite3 a Buffer, the others a Uint8Array.
  const blob = (hex) =>
    driver === "better-sqlite3" ? Buffer.from(hex, "hex") : Uint8Array.fromHex(hex);
  const pool = task.work.startsWith("insert")
    ? task.pool.map(([a, b, c, d]) => [a, b, c, blob(d)])
    : task.pool;
  /** Gives the next of the rows, which begin again at their end. */
  function cycle(rows) {
    let place = 0;
    return () => {
      const row = rows[place];
      place = (place + 1) % rows.length;
      return row;
    };
  }
  const next = cycle(pool);

  let rows = 0;
  let sum = 0;
  let seen = 0;

  function user() {
    const [key] = next();
    const { id, created, email, score, active } = statement.get(key);
    rows += 1;
    sum += id;
    seen += created + email.length + score + active;
  }

  function users() {
    const [from] = next();
    let ids = 0;
    let others = 0;
    const list = statement.all(from);
    for (const { id, created, email, score, active } of list) {
      ids += id;
      others += created + email.length + score + active;
    }
    rows += list.length;
    sum += ids;
    seen += others;
  }

  function range() {
    const [from, to] = next();
    let ids = 0;
    let others = 0;
    const list = statement.all(from, to);
    for (const { id, created, email } of list) {
      ids += id;
      others += created + email.length;
    }
    rows += list.length;
    sum += ids;
    seen += others;
  }

  function insert() {
    const [a, b, c, d] = next();
    rows += Number(statement.run(a, b, c, d).changes);
  }

  function update() {
    const [balance, updated, id] = next();
    rows += Number(statement.run(balance, updated, id).changes);
  }

  /** A round of the example's service: 16 documents, 2 lists of recent ones, words, and a visit. */
  function service() {
    const query = ([name, sql]) => ({ asked: db.prepare(sql), next: cycle(task.pool[name]) });
    const [document, recent, words, visit] = Object.entries(task.sql).map(query);
    return () => {
      for (let i = 0; i < 16; i++) {
        const { id, owner, title, body, changed } = document.asked.get(...document.next());
        rows += 1;
        sum += id;
        seen += owner.length + title.length + body.length + changed;
      }
      for (let i = 0; i < 2; i++) {
        for (const { id, title, changed } of recent.asked.all(...recent.next())) {
          rows += 1;
          sum += id;
          seen += title.length + changed;
        }
      }
      for (const { word, hits } of words.asked.all(...words.next())) {
        rows += 1;
        seen += word.length + hits;
      }
      rows += Number(visit.asked.run(...visit.next()).changes);
    };
  }

  /** A hundred times the same in a transaction, as the driver's users begin one. */
  function hundred(once) {
    const all = () => {
      for (let i = 0; i < 100; i++) once();
    };
    if (db.transaction) return db.transaction(all).immediate;
    const begin = db.prepare("BEGIN IMMEDIATE");
    const commit = db.prepare("COMMIT");
    return () => {
      begin.run();
      all();
      commit.run();
    };
  }

  const work = {
    user: () => user,
    users: () => users,
    range: () => range,
    insert: () => insert,
    service,
    "insert-100": () => hundred(insert),
    "update-100": () => hundred(update),
  }[task.work]();

  function end() {
    const { sqlite } = db.prepare("SELECT sqlite_version() AS sqlite").get();
    db.close();
    return { sqlite, rows, sum, seen };
  }

  return { work, end };
}
