-- Timelines: posts with text keys, followers and fan-out without rowid, partial indexes, a STRICT
-- free schema of an older age with declared types that SQLite does not know.
CREATE TABLE account(
    id CHAR(26) PRIMARY KEY NOT NULL, username VARCHAR(30) NOT NULL, domain VARCHAR,
    followers_count UNSIGNED BIG INT NOT NULL DEFAULT 0, locked BOOLEAN NOT NULL DEFAULT FALSE,
    created_at TIMESTAMPTZ NOT NULL) WITHOUT ROWID;
CREATE UNIQUE INDEX account_address ON account(username, coalesce(domain, ''));
CREATE TABLE status(
    id CHAR(26) PRIMARY KEY NOT NULL, account_id CHAR(26) NOT NULL REFERENCES account(id),
    in_reply_to CHAR(26), content TEXT NOT NULL, language TEXT, visibility INT2 NOT NULL,
    pinned_at TIMESTAMPTZ, score DOUBLE PRECISION) WITHOUT ROWID;
CREATE INDEX status_by_account ON status(account_id, id DESC) WHERE visibility < 2;
CREATE INDEX status_pinned ON status(account_id) WHERE pinned_at IS NOT NULL;
CREATE INDEX status_replies ON status(in_reply_to, id) WHERE in_reply_to IS NOT NULL;
CREATE TABLE follow(
    follower CHAR(26) NOT NULL, followed CHAR(26) NOT NULL, show_boosts BOOLEAN NOT NULL DEFAULT TRUE,
    PRIMARY KEY(follower, followed)) WITHOUT ROWID;
CREATE INDEX follow_back ON follow(followed, follower);
CREATE TABLE home(
    account_id CHAR(26) NOT NULL, status_id CHAR(26) NOT NULL, PRIMARY KEY(account_id, status_id DESC)
) WITHOUT ROWID;
CREATE TABLE favourite(
    id INTEGER PRIMARY KEY, account_id CHAR(26) NOT NULL, status_id CHAR(26) NOT NULL,
    UNIQUE(account_id, status_id) ON CONFLICT IGNORE);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
INSERT INTO account SELECT printf('01ACC%021d', i), 'user_' || i, CASE WHEN i % 2 THEN 'exämple.org' END,
    i * 3, i % 5 = 0, strftime('%Y-%m-%dT%H:%M:%fZ', 1600000000 + i, 'unixepoch') FROM n;
INSERT INTO follow SELECT a.id, b.id, 1 FROM account a, account b
    WHERE (substr(a.id, -3) * 7 + substr(b.id, -3) * 11) % 9 = 0 AND a.id <> b.id;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
INSERT INTO status SELECT printf('01STA%021d', i), printf('01ACC%021d', i * 37 % 80 + 1),
    CASE WHEN i % 3 = 0 THEN printf('01STA%021d', i / 3) END,
    substr('“Ça va?” こんにちは — добрый день…', 1 + i % 11), substr('enfrde', 1 + i % 3 * 2, 2), i % 4,
    CASE WHEN i % 60 = 0 THEN '2024-01-01T00:00:00Z' END, 1.0 / i FROM n;
INSERT INTO home SELECT f.follower, s.id FROM status s JOIN follow f ON f.followed = s.account_id
    WHERE s.visibility < 3;
INSERT INTO favourite(account_id, status_id) SELECT printf('01ACC%021d', substr(id, -4) % 80 + 1), id
    FROM status WHERE visibility = 0;
ANALYZE;
