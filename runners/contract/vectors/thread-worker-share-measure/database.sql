CREATE TABLE users(id INTEGER PRIMARY KEY, created INTEGER, email TEXT, name TEXT, score REAL, active INTEGER, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
INSERT INTO users SELECT i, 1700000000000 + i * 7919, printf('user%07d@example.com', i), 'A' || char(233, 0x1F600) || i || 'z', i * 1.25 - 20, i % 2, CASE WHEN i % 2 THEN NULL ELSE 'note ' || i END FROM n;
CREATE TABLE sink(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL, d BLOB);
