CREATE TABLE v(id INTEGER PRIMARY KEY, t TEXT NOT NULL);
INSERT INTO v VALUES (1, 'a' || char(0) || 'z'), (2, char(0)), (3, 'y' || char(0)), (4, '');
