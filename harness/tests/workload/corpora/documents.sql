-- JSON documents: generated columns, stored and virtual, expression indexes, json_each, big numbers.
CREATE TABLE document(
    key TEXT PRIMARY KEY,
    body TEXT NOT NULL CHECK(json_valid(body)),
    kind TEXT GENERATED ALWAYS AS (json_extract(body, '$.kind')) VIRTUAL,
    version INTEGER GENERATED ALWAYS AS (json_extract(body, '$.version')) STORED,
    price REAL GENERATED ALWAYS AS (CAST(json_extract(body, '$.price') AS REAL)) VIRTUAL,
    size INT AS (length(body)));
CREATE INDEX document_by_kind ON document(kind, version);
CREATE INDEX document_by_owner ON document(json_extract(body, '$.owner.name'));
CREATE INDEX document_expensive ON document(price) WHERE price > 100;
CREATE TABLE revision(
    id INTEGER PRIMARY KEY, key TEXT NOT NULL REFERENCES document(key), patch TEXT, hash INTEGER NOT NULL,
    at INTEGER NOT NULL);
CREATE INDEX revision_by_key ON revision(key, at);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO document(key, body) SELECT 'dökument/' || i || '/é', json_object(
    'kind', substr('notetaskfile', 1 + i % 3 * 4, 4), 'version', i % 9,
    'price', iif(i % 4, i * 7 % 300 + 0.5, NULL),
    'owner', json_object('name', 'Zoë ' || (i % 40), 'id', 9007199254740993 + i),
    'tags', json_array('a' || (i % 5), 'ß' || (i % 7)), 'draft', json(iif(i % 2, 'true', 'false'))) FROM n;
INSERT INTO revision(key, patch, hash, at) SELECT key, CASE WHEN version % 2 THEN '{"version":1}' END,
    -9223372036854775807 + version * 1000003, 1700000000 + version FROM document;
INSERT INTO revision(key, hash, at) SELECT key, 9223372036854775807, 1700001000 FROM document
    WHERE version > 4;
