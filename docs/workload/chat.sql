-- A chat: full-text search kept in step by triggers, JSON, foreign keys, partial and expression
-- indexes, tables without rowid, blobs, texts beyond ASCII. Its size is in temp.scale: 600 messages
-- of 60 users for 1, and so many times more for others. Nothing in it is random.
CREATE TEMP TABLE IF NOT EXISTS scale AS SELECT 1 AS size;
PRAGMA user_version = 12;
CREATE TABLE user(
    id INTEGER PRIMARY KEY,
    handle TEXT NOT NULL UNIQUE COLLATE NOCASE,
    name TEXT NOT NULL,
    settings TEXT NOT NULL DEFAULT '{}' CHECK(json_valid(settings)),
    avatar BLOB,
    seen_at REAL);
CREATE TABLE channel(
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    kind TEXT NOT NULL CHECK(kind IN ('public', 'private', 'direct')),
    last_message INTEGER);
CREATE TABLE member(
    channel INTEGER NOT NULL REFERENCES channel(id) ON DELETE CASCADE,
    user INTEGER NOT NULL REFERENCES user(id) ON DELETE CASCADE,
    last_read INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(channel, user)) WITHOUT ROWID;
CREATE INDEX member_by_user ON member(user);
CREATE TABLE message(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    channel INTEGER NOT NULL REFERENCES channel(id),
    author INTEGER NOT NULL REFERENCES user(id),
    reply_to INTEGER REFERENCES message(id),
    body TEXT NOT NULL,
    meta TEXT,
    sent_at INTEGER NOT NULL,
    deleted_at INTEGER);
CREATE INDEX message_recent ON message(channel, sent_at DESC) WHERE deleted_at IS NULL;
CREATE INDEX message_replies ON message(reply_to) WHERE reply_to IS NOT NULL;
CREATE INDEX message_mention ON message(json_extract(meta, '$.mention'));
CREATE TABLE reaction(
    message INTEGER NOT NULL REFERENCES message(id),
    user INTEGER NOT NULL REFERENCES user(id),
    emoji TEXT NOT NULL,
    PRIMARY KEY(message, user, emoji)) WITHOUT ROWID;
CREATE TABLE attachment(
    id INTEGER PRIMARY KEY,
    message INTEGER NOT NULL REFERENCES message(id),
    name TEXT NOT NULL,
    content BLOB NOT NULL);
CREATE VIRTUAL TABLE message_text USING fts5(
    body, content='message', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
CREATE TRIGGER message_added AFTER INSERT ON message BEGIN
    INSERT INTO message_text(rowid, body) VALUES (new.id, new.body);
    UPDATE channel SET last_message = new.id WHERE id = new.channel;
END;
CREATE TRIGGER message_gone AFTER DELETE ON message BEGIN
    INSERT INTO message_text(message_text, rowid, body) VALUES ('delete', old.id, old.body);
END;
CREATE TRIGGER message_changed AFTER UPDATE OF body ON message BEGIN
    INSERT INTO message_text(message_text, rowid, body) VALUES ('delete', old.id, old.body);
    INSERT INTO message_text(rowid, body) VALUES (new.id, new.body);
END;
CREATE TEMP TABLE number(i INTEGER PRIMARY KEY);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600 * (SELECT size FROM scale))
INSERT INTO number SELECT i FROM n;
CREATE TEMP TABLE word(i INTEGER PRIMARY KEY, text TEXT);
WITH part(i, text) AS (
    SELECT key, value FROM json_each('["ka","fé","nö","ri","stra","ße","mu","lo","ña","ti","wé","su","go","pa","lin","dér"]'))
INSERT INTO word SELECT a.i * 256 + b.i * 16 + c.i, a.text || b.text || c.text FROM part a, part b, part c;
INSERT INTO user SELECT i, 'user' || i,
    CASE i % 4 WHEN 0 THEN 'Åsa ' || i WHEN 1 THEN '李 ' || i || ' 明' WHEN 2 THEN 'Zoë' ELSE '' END,
    json_object('theme', iif(i % 2, 'dark', 'light'), 'volume', i / 7.0),
    CASE WHEN i % 3 THEN zeroblob(i * 5 % 700) END, CASE WHEN i % 5 THEN 1.7e9 + i / 3.0 END
    FROM number WHERE i <= 60 * (SELECT size FROM scale);
INSERT INTO channel SELECT i, 'été ' || i || 'é', iif(i % 3, 'public', 'direct'), NULL
    FROM number WHERE i <= 10 + 2 * (SELECT size FROM scale);
INSERT INTO member SELECT (u.id * 5 + n.i * 7) % (SELECT count(*) FROM channel) + 1, u.id, u.id * n.i * 7 % (600 * size)
    FROM user u, number n, scale WHERE n.i <= 8 ORDER BY 1, 2;
INSERT INTO message SELECT n.i, n.i * 7 % channels + 1, n.i * 11 % users + 1,
    CASE WHEN n.i % 4 = 0 THEN n.i / 2 END,
    (SELECT group_concat(text, ' ') FROM number k CROSS JOIN word w
        ON w.i = ((n.i + 17) * (k.i + 3) * 48271 / 64) % 4096 WHERE k.i <= 3 + n.i % 12) || substr(' 🎉', 1, n.i % 3),
    CASE WHEN n.i % 3 = 0 THEN json_object('mention', 'user' || (n.i % users + 1), 'links', json_array(n.i)) END,
    1700000000 + n.i * 37, CASE WHEN n.i % 50 = 0 THEN 1800000000 END
    FROM number n, (SELECT (SELECT count(*) FROM channel) AS channels, (SELECT count(*) FROM user) AS users) ORDER BY n.i;
INSERT INTO reaction SELECT id, id * 13 % (SELECT count(*) FROM user) + 1, substr('👍🎉❤😀', 1 + id % 4, 1) FROM message
    WHERE id % 2;
INSERT INTO attachment SELECT id, id, 'plan-' || id || '.pdf', CAST(body || printf('%.*c', id * 7 % 900, 'x') AS BLOB)
    FROM message WHERE id % 9 = 0;
ANALYZE;
