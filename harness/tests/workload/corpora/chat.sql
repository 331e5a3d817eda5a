-- A chat: full-text search kept in step by triggers, JSON, foreign keys, partial and expression
-- indexes, tables without rowid, blobs, texts beyond ASCII.
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
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO user SELECT i, 'user' || i,
    CASE i % 4 WHEN 0 THEN 'Åsa ' || i WHEN 1 THEN '李 ' || i || ' 明' WHEN 2 THEN 'Zoë' ELSE '' END,
    json_object('theme', iif(i % 2, 'dark', 'light'), 'volume', i / 7.0),
    CASE WHEN i % 3 THEN zeroblob(i * 5) END, CASE WHEN i % 5 THEN 1.7e9 + i / 3.0 END FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
INSERT INTO channel SELECT i, 'été ' || i || 'é', iif(i % 3, 'public', 'direct'), NULL FROM n;
INSERT INTO member SELECT c.id, u.id, (c.id * u.id * 7) % 400 FROM channel c, user u
    WHERE (c.id + u.id) % 3;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
INSERT INTO message SELECT i, i * 7 % 12 + 1, i * 11 % 60 + 1,
    CASE WHEN i % 4 = 0 THEN i / 2 END,
    substr('café naïve señor fjord straße ', 1 + i % 5) || 'message ' || i ||
        substr(' 🎉', 1 + i % 2),
    CASE WHEN i % 3 = 0 THEN json_object('mention', 'user' || (i % 60 + 1), 'links', json_array(i)) END,
    1700000000 + i * 37, CASE WHEN i % 50 = 0 THEN 1800000000 END FROM n;
INSERT INTO reaction SELECT id, id * 13 % 60 + 1, substr('👍🎉❤😀', 1 + id % 4, 1) FROM message
    WHERE id % 2;
INSERT INTO attachment SELECT id, id, 'plan-' || id || '.pdf', CAST(body || id || substr(body, 1, id % 40) AS BLOB)
    FROM message WHERE id % 9 = 0;
ANALYZE;
