-- 0011_owed_removals: a job with very many attempts is removed at once, its history in pieces (C8).

-- The job is gone, and rows of `attempt`, `large`, `recovery` and `made` may be left.
CREATE TABLE owed_removal (
  job INTEGER PRIMARY KEY
) STRICT;
