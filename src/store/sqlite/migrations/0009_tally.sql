-- 0009_tally: how many jobs of a shape are in which state is one row, not one for each state: a
-- group that moves jobs of a thousand shapes writes a thousand rows, not three thousand.

CREATE TABLE tally_of_shape (
  shape       INTEGER PRIMARY KEY,
  scheduled   INTEGER NOT NULL CHECK (scheduled >= 0),
  ready       INTEGER NOT NULL CHECK (ready >= 0),
  blocked     INTEGER NOT NULL CHECK (blocked >= 0),
  starting    INTEGER NOT NULL CHECK (starting >= 0),
  running     INTEGER NOT NULL CHECK (running >= 0),
  waiting     INTEGER NOT NULL CHECK (waiting >= 0),
  succeeded   INTEGER NOT NULL CHECK (succeeded >= 0),
  failed      INTEGER NOT NULL CHECK (failed >= 0),
  cancelled   INTEGER NOT NULL CHECK (cancelled >= 0),
  expired     INTEGER NOT NULL CHECK (expired >= 0),
  quarantined INTEGER NOT NULL CHECK (quarantined >= 0)
) STRICT;
INSERT INTO tally_of_shape
  SELECT shape, max(iif(state = 0, jobs, 0)), max(iif(state = 1, jobs, 0)),
    max(iif(state = 2, jobs, 0)), max(iif(state = 3, jobs, 0)), max(iif(state = 4, jobs, 0)),
    max(iif(state = 5, jobs, 0)), max(iif(state = 6, jobs, 0)), max(iif(state = 7, jobs, 0)),
    max(iif(state = 8, jobs, 0)), max(iif(state = 9, jobs, 0)), max(iif(state = 10, jobs, 0))
  FROM tally GROUP BY shape;
DROP TABLE tally;
ALTER TABLE tally_of_shape RENAME TO tally;

-- For lists and checks.
CREATE VIEW jobs_in_state (shape, state, jobs) AS
  SELECT shape, 0, scheduled FROM tally
  UNION ALL SELECT shape, 1, ready FROM tally
  UNION ALL SELECT shape, 2, blocked FROM tally
  UNION ALL SELECT shape, 3, starting FROM tally
  UNION ALL SELECT shape, 4, running FROM tally
  UNION ALL SELECT shape, 5, waiting FROM tally
  UNION ALL SELECT shape, 6, succeeded FROM tally
  UNION ALL SELECT shape, 7, failed FROM tally
  UNION ALL SELECT shape, 8, cancelled FROM tally
  UNION ALL SELECT shape, 9, expired FROM tally
  UNION ALL SELECT shape, 10, quarantined FROM tally;
