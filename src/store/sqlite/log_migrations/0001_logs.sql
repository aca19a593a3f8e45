-- 0001_logs: what attempts have printed, in pieces without gaps, apart from the hot database.
--
-- `start` is the offset of a piece's first byte in the attempt's output. A piece begins where the
-- one before it ends.

CREATE TABLE piece (
  job   INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  start INTEGER NOT NULL CHECK (start >= 0),
  bytes BLOB NOT NULL CHECK (length(bytes) > 0),
  PRIMARY KEY (job, epoch, start)
) STRICT, WITHOUT ROWID;
