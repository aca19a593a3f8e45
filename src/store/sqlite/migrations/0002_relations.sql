-- 0002_relations: what the end of one job means to others [P7].
--
-- A job that waits for others is in `wait`, which has a deadline like every place [P3]. What it
-- waits for, or whose callback it is, are its rows in `awaited`; the transaction that ends the other
-- one writes `state` and `ended` there, so that nobody's retention takes it away. `callback` has the
-- callbacks that were added to a job later, `made` which jobs its ends have made of all of them: the
-- key says that the same end makes none of them twice.
-- Ids of made jobs are drawn inside the transaction, under a number that no server has.

CREATE TABLE wait (
  job            INTEGER PRIMARY KEY,
  queue_deadline INTEGER NOT NULL,
  wake_at        INTEGER NOT NULL,
  life           BLOB NOT NULL
) STRICT;
CREATE INDEX wait_wake ON wait (wake_at);

CREATE TABLE awaited (
  job    INTEGER NOT NULL,
  number INTEGER NOT NULL,
  other  INTEGER NOT NULL,
  on_end INTEGER NOT NULL,
  state  INTEGER,
  ended  BLOB,
  PRIMARY KEY (job, number),
  CHECK ((state IS NULL) = (ended IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX awaited_open ON awaited (other, job) WHERE state IS NULL;

CREATE TABLE callback (
  parent           INTEGER NOT NULL,
  number           INTEGER NOT NULL,
  id               INTEGER NOT NULL UNIQUE,
  since_generation INTEGER NOT NULL CHECK (since_generation > 0),
  on_end           INTEGER NOT NULL,
  spec             BLOB NOT NULL,
  PRIMARY KEY (parent, number)
) STRICT;

CREATE TABLE made (
  parent     INTEGER NOT NULL,
  generation INTEGER NOT NULL CHECK (generation > 0),
  number     INTEGER NOT NULL,
  job        INTEGER NOT NULL UNIQUE,
  PRIMARY KEY (parent, generation, number)
) STRICT, WITHOUT ROWID;

-- The last number was any server's until now: ids go on above all that were ever drawn.
ALTER TABLE service ADD COLUMN made_id_high_water INTEGER NOT NULL DEFAULT 0;
UPDATE service SET made_id_high_water =
  max(id_high_water, coalesce((SELECT max(id_high_water) FROM server), 0));
DELETE FROM server WHERE number = 511;
