-- 0012_submitter: a worker that runs each job as whoever submitted it takes those of accounts alone,
-- so each kind of submitter has lines of its own: `submitter` is a part of the shape. Jobs that were
-- submitted before have none (0: no account).

CREATE TABLE shape_with_submitter (
  id        INTEGER PRIMARY KEY,
  tenant    TEXT NOT NULL,
  queue     TEXT NOT NULL,
  kind      TEXT NOT NULL,
  share     TEXT NOT NULL,
  submitter INTEGER NOT NULL CHECK (submitter BETWEEN 0 AND 2),
  UNIQUE (tenant, queue, kind, share, submitter)
) STRICT;
INSERT INTO shape_with_submitter SELECT id, tenant, queue, kind, share, 0 FROM shape;
DROP TABLE shape;
ALTER TABLE shape_with_submitter RENAME TO shape;
