-- Values at the edges of their types, in a table whose columns have none of a kind that is usual.
CREATE TABLE t(id INTEGER PRIMARY KEY, r REAL, txt TEXT, b BLOB, n INT, empty);
INSERT INTO t VALUES
    (1, 9e999, 'a' || char(0) || 'b', x'00', 9007199254740993, NULL),
    (2, -9e999, 'é', x'', -9223372036854775808, NULL),
    (3, 1e300, '', zeroblob(3), 9223372036854775807, NULL),
    (4, -0.0, char(0), NULL, 0, NULL);
