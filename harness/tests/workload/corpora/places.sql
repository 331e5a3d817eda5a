-- Places on a map: two R-trees, one of them with columns of its own, beside their tables.
CREATE TABLE place(
    id INTEGER PRIMARY KEY, osm_id INTEGER NOT NULL UNIQUE, name TEXT, kind TEXT NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL, tags TEXT);
CREATE INDEX place_by_kind ON place(kind, name);
CREATE INDEX place_by_tile ON place(CAST((lat + 90) * 10 AS INTEGER), CAST((lon + 180) * 10 AS INTEGER));
CREATE VIRTUAL TABLE place_box USING rtree(id, min_lat, max_lat, min_lon, max_lon);
CREATE VIRTUAL TABLE road USING rtree(id, x0, x1, y0, y1, +name TEXT, +lanes INTEGER);
CREATE VIRTUAL TABLE grid USING rtree_i32(id, x0, x1, y0, y1);
CREATE TRIGGER place_added AFTER INSERT ON place BEGIN
    INSERT INTO place_box VALUES (new.id, new.lat, new.lat, new.lon, new.lon);
END;
CREATE TRIGGER place_gone AFTER DELETE ON place BEGIN
    DELETE FROM place_box WHERE id = old.id;
END;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
INSERT INTO place SELECT i, 9007199254740000 + i * 7919, CASE i % 5 WHEN 0 THEN NULL WHEN 1
    THEN 'Übersee ' || i ELSE 'Café №' || i || '№' END, substr('cafeshoppark', 1 + i % 3 * 4, 4),
    47.0 + i * 37 % 600 / 1000.0, 8.0 + i * 91 % 600 / 1000.0,
    CASE WHEN i % 2 THEN json_object('wheelchair', iif(i % 4 = 1, 'yes', 'no')) END FROM n;
INSERT INTO road SELECT id, lat, lat + 0.01, lon, lon + 0.02, 'Road ' || id, id % 4 + 1 FROM place
    WHERE id % 3 = 0;
INSERT INTO grid SELECT id, id % 100, id % 100 + 5, id / 100, id / 100 + 2 FROM place;
