-- 0002_owed: output of removed jobs that is still to be removed, because it was too much for one
-- transaction.

CREATE TABLE owed (
  job INTEGER PRIMARY KEY
) STRICT;
