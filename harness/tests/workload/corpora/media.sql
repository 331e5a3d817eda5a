-- A media library: artists, albums, tracks with genres, full-text search with prefixes and columns
-- of its own, play counts, covers, a collation, a unique index with several columns.
CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, sort_name TEXT);
CREATE UNIQUE INDEX artist_name ON artist(name);
CREATE TABLE album(
    id INTEGER PRIMARY KEY, artist_id INTEGER NOT NULL REFERENCES artist(id), title TEXT NOT NULL,
    year INTEGER, cover BLOB, rating REAL, added_at TIMESTAMP NOT NULL);
CREATE INDEX album_by_artist ON album(artist_id, year);
CREATE INDEX album_recent ON album(added_at);
CREATE TABLE track(
    id INTEGER PRIMARY KEY, album_id INTEGER NOT NULL REFERENCES album(id) ON DELETE CASCADE,
    disc INTEGER NOT NULL DEFAULT 1, number INTEGER NOT NULL, title TEXT NOT NULL,
    duration_ms INTEGER NOT NULL, path TEXT NOT NULL UNIQUE, gain REAL, lyrics TEXT,
    UNIQUE(album_id, disc, number));
CREATE TABLE genre(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE track_genre(
    track_id INTEGER NOT NULL, genre_id INTEGER NOT NULL, PRIMARY KEY(genre_id, track_id)
) WITHOUT ROWID;
CREATE TABLE play(id INTEGER PRIMARY KEY, track_id INTEGER NOT NULL REFERENCES track(id), at REAL);
CREATE INDEX play_by_track ON play(track_id);
CREATE VIRTUAL TABLE track_search USING fts5(title, artist, album, lyrics, prefix='2 3');
CREATE VIRTUAL TABLE lyrics_words USING fts5vocab('track_search', 'row');
CREATE VIRTUAL TABLE old_search USING fts4(title, tokenize=porter);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
INSERT INTO artist SELECT i, CASE i % 3 WHEN 0 THEN 'Sigur Rós ' || i WHEN 1 THEN 'Björk ' || i
    ELSE 'The ' || i || 'th Ñ' END, NULL FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
INSERT INTO album SELECT i, i % 40 + 1, 'Ágætis ' || i, CASE WHEN i % 7 THEN 1960 + i % 60 END,
    CASE WHEN i % 2 THEN zeroblob(900 + i) END, CASE WHEN i % 4 THEN i % 10 / 2.0 END,
    datetime(1700000000 + i * 997, 'unixepoch') FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
INSERT INTO track SELECT a.id * 10 + n.i, a.id, 1, n.i,
    substr('love night rain river sólstafir hoppípolla 東京 ', 1 + (a.id + n.i) % 30) || n.i,
    120000 + (a.id * n.i * 997) % 300000, '/music/' || a.id || '/' || n.i || '.flac',
    -(a.id + n.i) % 13 - 0.5, CASE WHEN n.i % 3 = 0 THEN 'rain on the river ' || a.id END
    FROM album a, n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 15)
INSERT INTO genre SELECT i, 'genre ' || i FROM n;
INSERT INTO track_genre SELECT t.id, g.id FROM track t, genre g WHERE (t.id + g.id * 3) % 8 = 0;
INSERT INTO track_search(rowid, title, artist, album, lyrics)
    SELECT t.id, t.title, r.name, a.title, t.lyrics
    FROM track t JOIN album a ON a.id = t.album_id JOIN artist r ON r.id = a.artist_id;
INSERT INTO old_search(docid, title) SELECT id, title FROM track;
INSERT INTO play(track_id, at) SELECT id, 2460000.5 + id / 24.0 FROM track WHERE id % 2;
