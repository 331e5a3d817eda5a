// What a user of a JavaScript driver would write: the `work` of a task, which README.md beside it describes.

import { Buffer } from "node:buffer";

/** Opens the task's database; `end` closes it and says what all work came to. */
export async function open(driver, task) {
  const { DatabaseSync, Database, default: BetterSqlite3 } = await import(driver);

  const db = new (DatabaseSync ?? Database ?? BetterSqlite3)(task.database);
  for (const pragma of task.pragmas) db.exec(pragma);
  const statement = task.work === "mix" ? undefined : db.prepare(task.sql);

  // What the driver itself gives for a blob: better-sqlite3 a Buffer, the others a Uint8Array.
  const blob = (hex) =>
    driver === "better-sqlite3" ? Buffer.from(hex, "hex") : Uint8Array.fromHex(hex);
  const inserts = task.work.startsWith("insert");
  const pool = inserts ? task.pool.map(([a, b, c, d]) => [a, b, c, blob(d)]) : task.pool;
  /** Gives the next of the rows, which begin again at their end. */
  function cycle(rows) {
    let place = 0;
    return () => {
      const row = rows[place];
      place = (place + 1) % rows.length;
      return row;
    };
  }
  const next = cycle(pool ?? []);

  let rows = 0;
  let sum = 0;
  let seen = 0;
  const here = { rows: 0, values: 0, seen: 0 }; // of a mix

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

  /** A round of a workload's mix: its queries one after the other. */
  function mix() {
    const queries = task.queries.map(query);
    const round = task.round.map((number) => queries[number]);
    return () => {
      for (const once of round) once();
    };
  }

  function query({ transaction, statements }) {
    const [first, ...others] = statements.map(asked);
    const once = () => {
      first();
      for (const other of others) other();
    };
    if (transaction === "none") return others.length ? once : first;
    return within(once, transaction);
  }

  /** Executes a statement of a mix, with the next row of parameters each time, and uses all that it gives. */
  function asked({ sql, operation, repeat, columns, rows: given }) {
    const statement = db.prepare(sql);
    const wide = Object.values(columns).some((kind) => kind.startsWith("wide"));
    if (wide && statement.safeIntegers) statement.safeIntegers(true);
    else if (wide) statement.setReadBigInts(true);
    const values = given[0].map((_, place) => `row[${place}]`).join(", ");
    const use = `rows++; ${used(columns, wide)}`;
    const body = {
      get: `const found = statement.get(${values}); if (found) { ${use} }`,
      all: `for (const found of statement.all(${values})) { ${use} }`,
      iterate: `for (const found of statement.iterate(${values})) { ${use} }`,
      run: `rows += Number(statement.run(${values}).changes);`,
    }[operation];
    // Source text, so that columns are read by their names, as in a function that is written for its query.
    const source = `let rows = 0, values = 0, seen = 0; ${body} here.rows += rows; here.values += values; here.seen += seen;`;
    const execute = new Function("statement", "row", "here", source);
    const next = cycle(given.map((row) => row.map(value)));
    if (repeat === 1) return () => execute(statement, next(), here);
    return () => {
      for (let i = 0; i < repeat; i++) execute(statement, next(), here);
    };
  }

  /** What driver and JavaScript have in place of a value in JSON. */
  function value(told) {
    if (told?.blob !== undefined) return blob(told.blob);
    return told?.wide === undefined ? told : BigInt(told.wide);
  }

  /** A hundred times the same in a transaction. */
  function hundred(once) {
    return within(() => {
      for (let i = 0; i < 100; i++) once();
    }, "immediate");
  }

  /** All of it in a transaction, as the driver's users begin one. */
  function within(all, kind) {
    if (db.transaction) return db.transaction(all)[kind];
    const begin = db.prepare(`BEGIN ${kind}`);
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
    mix,
    "insert-100": () => hundred(insert),
    "update-100": () => hundred(update),
  }[task.work]();

  function end() {
    const { sqlite } = db.prepare("SELECT sqlite_version() AS sqlite").get();
    db.close();
    return { sqlite, rows: rows + here.rows, sum: sum + here.values, seen: seen + here.seen };
  }

  function undo() {
    for (const sql of task.undo) db.exec(sql);
  }

  return { work, undo, end };
}

/** Source that uses the columns of the row `found`, and counts what is not NULL. */
function used(columns, wide) {
  const uses = Object.entries(columns).map(([name, kind]) => {
    const column = `found[${JSON.stringify(name)}]`;
    const number = wide && !kind.startsWith("real") ? `Number(${column})` : column;
    const use = /text|blob/.test(kind) ? `seen += ${column}.length;` : `seen += ${number};`;
    return kind.endsWith("?") ? `if (${column} !== null) { values++; ${use} }` : use;
  });
  const filled = Object.values(columns).filter((kind) => !kind.endsWith("?"));
  return `values += ${filled.length}; ${uses.join(" ")}`;
}
