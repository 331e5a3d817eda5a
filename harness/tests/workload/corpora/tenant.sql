-- One of many small files, a tenant each: settings, jobs, an audit log, UTF-16, auto_vacuum.
PRAGMA encoding = 'UTF-16le';
PRAGMA auto_vacuum = INCREMENTAL;
CREATE TABLE migrations(id VARCHAR(255) PRIMARY KEY, applied_at DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE setting(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE job(
    id TEXT PRIMARY KEY, queue TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'ready', run_at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, arguments TEXT NOT NULL, error TEXT);
CREATE INDEX job_ready ON job(queue, run_at) WHERE state = 'ready';
CREATE TABLE audit(
    id INTEGER PRIMARY KEY, actor TEXT, action TEXT NOT NULL, subject TEXT, at INTEGER NOT NULL,
    "select" TEXT, "user name" TEXT);
CREATE INDEX audit_by_actor ON audit(actor, at);
CREATE TABLE session(token BLOB PRIMARY KEY, user TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE empty(id INTEGER PRIMARY KEY, note TEXT);
INSERT INTO migrations VALUES ('001_initial', '2024-01-01 00:00:00'), ('002_jobs', '2024-02-01 00:00:00');
INSERT INTO setting VALUES ('title', 'Überblick'), ('limit', 100), ('ratio', 0.5), ('logo', x'89504e47'),
    ('none', NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
INSERT INTO job SELECT printf('%08x-%04x', i * 7919, i), iif(i % 3, 'default', 'mail'),
    substr('readydone ', 1 + i % 2 * 5, 5 - i % 2), 1700000000.25 + i, i % 4, '["ä",' || i || ']',
    CASE WHEN i % 9 = 0 THEN 'Fehler: Größe' END FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
INSERT INTO audit SELECT i, CASE WHEN i % 6 THEN 'jürgen' || i % 10 END, 'job.' || i % 5,
    'ж' || i || 'ж', 1700000000 + i, NULL, '' FROM n;
INSERT INTO session SELECT CAST(id AS BLOB), actor, at + 86400 FROM audit WHERE actor IS NOT NULL;
