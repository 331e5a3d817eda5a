-- Time series: samples keyed by series and time, rolled up to minutes and hours by triggers.
CREATE TABLE series(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, labels TEXT NOT NULL DEFAULT '{}', unit TEXT,
    UNIQUE(name, labels));
CREATE TABLE sample(
    series INTEGER NOT NULL REFERENCES series(id), at INTEGER NOT NULL, value REAL,
    PRIMARY KEY(series, at)) WITHOUT ROWID;
CREATE TABLE minute(
    series INTEGER NOT NULL, at INTEGER NOT NULL, n INTEGER NOT NULL, low REAL, high REAL, total REAL,
    PRIMARY KEY(series, at)) WITHOUT ROWID;
CREATE TABLE event(
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, severity TEXT NOT NULL, payload BLOB, value ANY);
CREATE INDEX event_recent ON event(at DESC);
CREATE INDEX event_errors ON event(at) WHERE severity = 'error';
CREATE TABLE tally(severity TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, last_at INTEGER);
CREATE TRIGGER sample_rolled_up AFTER INSERT ON sample WHEN new.value IS NOT NULL BEGIN
    INSERT INTO minute VALUES (new.series, new.at / 60 * 60, 1, new.value, new.value, new.value)
    ON CONFLICT(series, at) DO UPDATE SET n = n + 1, low = min(low, new.value),
        high = max(high, new.value), total = total + new.value;
END;
CREATE TRIGGER event_tallied AFTER INSERT ON event BEGIN
    INSERT INTO tally(severity, n, last_at) VALUES (new.severity, 1, new.at)
    ON CONFLICT(severity) DO UPDATE SET n = n + 1, last_at = new.at;
END;
CREATE VIEW latest AS
    SELECT s.id, s.name, (SELECT value FROM sample WHERE series = s.id ORDER BY at DESC LIMIT 1) AS value
    FROM series s;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
INSERT INTO series SELECT i, 'temperature', '{"röom":' || i || '}', iif(i % 3, '°C', NULL) FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO sample SELECT s.id, 1700000000 + n.i * 15, CASE WHEN (n.i + s.id) % 17
    THEN (s.id * 31 + n.i * 7) % 400 / 10.0 - 5 END FROM series s, n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO event SELECT i, 1700000000 + i * 3, CASE WHEN i % 10 THEN 'info' ELSE 'error' END,
    CASE WHEN i % 4 = 0 THEN zeroblob(i) END, CASE i % 3 WHEN 0 THEN i WHEN 1 THEN i + 0.5 ELSE 'n/a' END
    FROM n;
