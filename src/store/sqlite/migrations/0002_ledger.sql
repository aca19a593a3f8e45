-- 0002_ledger: one row for each automatic repair [P5], written by the transaction that makes it.
-- It goes when its job is forgotten. The encoding of `body` is docs/formats/schema.md.

CREATE TABLE recovery (
  id          INTEGER PRIMARY KEY,
  job         INTEGER NOT NULL,
  epoch       INTEGER NOT NULL,
  detector    INTEGER NOT NULL,
  incident    INTEGER NOT NULL,
  cause       INTEGER,
  happened_on INTEGER NOT NULL,
  body        BLOB NOT NULL
) STRICT;
CREATE INDEX recovery_job ON recovery (job);

-- The number of the last entry: none is used again.
ALTER TABLE service ADD COLUMN last_recovery INTEGER NOT NULL DEFAULT 0;
