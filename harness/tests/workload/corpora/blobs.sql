-- A store of blobs by key: keys are blobs, too; pages of 1 KB; values from none to 3 KB.
PRAGMA page_size = 1024;
PRAGMA application_id = 1263948616;
CREATE TABLE kv(key BLOB PRIMARY KEY, value BLOB, expires_at INTEGER, flags INTEGER NOT NULL DEFAULT 0);
CREATE INDEX kv_expiring ON kv(expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE chunk(hash BLOB NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(hash, part))
    WITHOUT ROWID;
CREATE TABLE counter(name TEXT PRIMARY KEY, n INTEGER NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
INSERT INTO kv SELECT CAST(printf('key:%06d' || char(0, 255), i) AS BLOB),
    CASE i % 10 WHEN 0 THEN NULL WHEN 1 THEN x'' ELSE
        CAST(printf('%.*c', 1 + i * 131 % 3000, char(128)) || i AS BLOB) END,
    CASE WHEN i % 4 THEN 1700000000 + i END, i % 8 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3)
INSERT INTO chunk SELECT key, n.i, zeroblob(500 + n.i) FROM kv, n WHERE flags = 3;
INSERT INTO counter SELECT DISTINCT 'flag-' || flags, 0 FROM kv;
