-- 0008_debts: what a transaction could not finish, because it would have touched too many rows. It
-- is written by that transaction and paid in pieces by later ones.

-- The job has ended, and not all who wait for it were told.
CREATE TABLE owed_end (
  job INTEGER PRIMARY KEY
) STRICT;

-- Something of the thing was free, and of the shapes blocked on it those up to `behind` were looked
-- at. kind 0: key, 1: limit.
CREATE TABLE owed_thing (
  tenant TEXT NOT NULL,
  kind   INTEGER NOT NULL CHECK (kind IN (0, 1)),
  name   TEXT NOT NULL,
  behind INTEGER NOT NULL CHECK (behind >= 0),
  PRIMARY KEY (tenant, kind, name)
) STRICT, WITHOUT ROWID;
