-- 0005_forget: when ended jobs are removed. Those that end together and are kept equally long share a
-- row: `job` is the first of them, `others` says how far each other id is above it (the encoding is
-- docs/formats/schema.md). A note may be outdated: `outcome.forget_at` is what counts.

CREATE TABLE forget (
  forget_at INTEGER NOT NULL,
  job       INTEGER NOT NULL,
  others    BLOB NOT NULL,
  PRIMARY KEY (forget_at, job)
) STRICT, WITHOUT ROWID;

INSERT INTO forget (forget_at, job, others) SELECT forget_at, job, x'' FROM outcome;
DROP INDEX outcome_forget;
