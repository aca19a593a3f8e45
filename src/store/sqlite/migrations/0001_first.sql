-- 0001_first: where jobs are, who runs them, and what became of them.
--
-- A job is one row of `job`, written once, and exactly one row in `ready`, `timer`, `blocked`,
-- `run` or `outcome` [P3]. Every one of those rows has a deadline or an owner, never NULL, and
-- carries `life`: what else changes about a job, its newest attempt included. Earlier attempts are
-- in `attempt`. The encoding of blobs is docs/formats/schema.md.
-- Instants are microseconds: `..._at`, `..._until`, `..._deadline`, `due` and `since` count in
-- service time, `..._on` and `date` in wall time. They are written by the server, never by SQL.

CREATE TABLE service (
  one             INTEGER PRIMARY KEY CHECK (one = 1),
  tick            INTEGER NOT NULL DEFAULT 0,
  now_at          INTEGER NOT NULL DEFAULT 0,
  grace_until     INTEGER NOT NULL DEFAULT 0,
  keeper          INTEGER NOT NULL DEFAULT 0,
  keeper_epoch    INTEGER NOT NULL DEFAULT 0,
  keeper_deadline INTEGER NOT NULL DEFAULT 0,
  wall_on         INTEGER NOT NULL DEFAULT 0,
  servers_used    INTEGER NOT NULL DEFAULT 0,
  id_high_water   INTEGER NOT NULL DEFAULT 0,
  repairs         INTEGER NOT NULL DEFAULT 0,
  fenced          INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO service (one) VALUES (1);

CREATE TABLE server (
  id            INTEGER PRIMARY KEY,
  number        INTEGER NOT NULL UNIQUE,
  id_high_water INTEGER NOT NULL,
  last_group    INTEGER NOT NULL,
  fence         INTEGER NOT NULL,
  used          INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
  id             INTEGER PRIMARY KEY,
  machine        TEXT NOT NULL,
  boot           TEXT NOT NULL,
  device         INTEGER NOT NULL,
  inode          INTEGER NOT NULL,
  life           INTEGER NOT NULL,
  worker         TEXT NOT NULL,
  is_open        INTEGER NOT NULL CHECK (is_open IN (0, 1)),
  stream         INTEGER NOT NULL,
  assignments    INTEGER NOT NULL,
  heartbeat      INTEGER NOT NULL,
  content_hash   INTEGER NOT NULL,
  seen           INTEGER NOT NULL,
  renewal        INTEGER NOT NULL,
  slots          INTEGER NOT NULL,
  tenant         TEXT NOT NULL,
  offer          BLOB NOT NULL,
  lease_deadline INTEGER NOT NULL,
  heard_at       INTEGER NOT NULL,
  given_up       INTEGER NOT NULL
) STRICT;

-- The newest session of each state directory (O5).
CREATE TABLE directory (
  machine TEXT NOT NULL,
  device  INTEGER NOT NULL,
  inode   INTEGER NOT NULL,
  session INTEGER NOT NULL,
  PRIMARY KEY (machine, device, inode)
) STRICT, WITHOUT ROWID;

-- What a worker must match, as a number: every table that says `shape` begins with its tenant.
CREATE TABLE shape (
  id     INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  queue  TEXT NOT NULL,
  kind   TEXT NOT NULL,
  UNIQUE (tenant, queue, kind)
) STRICT;

-- How many jobs are in which state, written with the moves that change it.
CREATE TABLE tally (
  shape INTEGER NOT NULL,
  state INTEGER NOT NULL,
  jobs  INTEGER NOT NULL CHECK (jobs >= 0),
  PRIMARY KEY (shape, state)
) STRICT, WITHOUT ROWID;

CREATE TABLE queue (
  tenant TEXT NOT NULL,
  queue  TEXT NOT NULL,
  paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  PRIMARY KEY (tenant, queue)
) STRICT, WITHOUT ROWID;

CREATE TABLE limit_max (
  tenant TEXT NOT NULL,
  name   TEXT NOT NULL,
  max    INTEGER NOT NULL CHECK (max > 0),
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- Who holds what (C4). There are no counters that somebody must decrement.
CREATE TABLE key_holder (
  tenant TEXT NOT NULL,
  key    TEXT NOT NULL,
  job    INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE limit_holder (
  tenant TEXT NOT NULL,
  name   TEXT NOT NULL,
  slot   INTEGER NOT NULL CHECK (slot > 0),
  job    INTEGER NOT NULL,
  PRIMARY KEY (tenant, name, slot)
) STRICT, WITHOUT ROWID;

-- The key outlives the job (C5): then `gone_as` says how that had ended.
CREATE TABLE idempotency (
  tenant     TEXT NOT NULL,
  key        TEXT NOT NULL,
  job        INTEGER NOT NULL,
  body_hash  INTEGER NOT NULL,
  gone_as    INTEGER,
  kept_until INTEGER,
  PRIMARY KEY (tenant, key),
  CHECK ((gone_as IS NULL) = (kept_until IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_end ON idempotency (kept_until) WHERE kept_until IS NOT NULL;

CREATE TABLE job (
  id           INTEGER PRIMARY KEY,
  shape        INTEGER NOT NULL,
  body_hash    INTEGER NOT NULL,
  submitted_at INTEGER NOT NULL,
  spec         BLOB NOT NULL
) STRICT;

-- `place` 1: claimed from the front of each shape's line. rank = 2 * priority + behind_the_first.
CREATE TABLE ready (
  shape          INTEGER NOT NULL,
  rank           INTEGER NOT NULL,
  since          INTEGER NOT NULL,
  job            INTEGER NOT NULL,
  queue_deadline INTEGER NOT NULL,
  kept_until     INTEGER,
  avoid          INTEGER,
  avoid_until    INTEGER,
  wake_at        INTEGER NOT NULL,
  life           BLOB NOT NULL,
  PRIMARY KEY (shape, rank, since, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX ready_kept ON ready (job) WHERE kept_until IS NOT NULL;

-- Where a job is in `ready`, unless it is where it first got in line: behind, at its submission.
CREATE TABLE line (
  job   INTEGER PRIMARY KEY,
  rank  INTEGER NOT NULL,
  since INTEGER NOT NULL
) STRICT;

-- Which part of a line has deadlines at which instant. A row may stand for many jobs, or for none
-- any more: then a tick removes it.
CREATE TABLE ready_wake (
  wake_at INTEGER NOT NULL,
  shape   INTEGER NOT NULL,
  rank    INTEGER NOT NULL,
  since   INTEGER NOT NULL,
  PRIMARY KEY (wake_at, shape, rank, since)
) STRICT, WITHOUT ROWID;

-- Which ready jobs have yet to take what (C4a). kind 0: key, 1: limit.
CREATE TABLE want (
  tenant TEXT NOT NULL,
  kind   INTEGER NOT NULL,
  name   TEXT NOT NULL,
  shape  INTEGER NOT NULL,
  job    INTEGER NOT NULL,
  PRIMARY KEY (tenant, kind, name, shape, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE timer (
  job     INTEGER PRIMARY KEY,
  due     INTEGER,
  date    INTEGER,
  avoid   INTEGER,
  wake_at INTEGER,
  life    BLOB NOT NULL,
  CHECK ((due IS NULL) <> (date IS NULL)),
  CHECK (due IS NULL OR wake_at IS NOT NULL)
) STRICT;
CREATE INDEX timer_wake ON timer (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX timer_date ON timer (date) WHERE date IS NOT NULL;

-- Waits for one named thing, or for the person who holds it: then kind and name are NULL.
CREATE TABLE blocked (
  job            INTEGER PRIMARY KEY,
  tenant         TEXT NOT NULL,
  kind           INTEGER,
  name           TEXT,
  shape          INTEGER NOT NULL,
  rank           INTEGER NOT NULL,
  since          INTEGER NOT NULL,
  queue_deadline INTEGER NOT NULL,
  avoid          INTEGER,
  avoid_until    INTEGER,
  wake_at        INTEGER NOT NULL,
  life           BLOB NOT NULL,
  CHECK ((kind IS NULL) = (name IS NULL))
) STRICT;
CREATE INDEX blocked_line ON blocked (tenant, kind, name, shape, rank, since)
  WHERE kind IS NOT NULL;
CREATE INDEX blocked_wake ON blocked (wake_at);

-- The row is the attempt's own until it ends: its session and the confirmation keep it (O3, O4).
CREATE TABLE run (
  job              INTEGER PRIMARY KEY,
  session          INTEGER NOT NULL,
  assignment       INTEGER NOT NULL,
  state            INTEGER NOT NULL,
  confirm_deadline INTEGER NOT NULL,
  kill_order       INTEGER,
  wake_at          INTEGER,
  life             BLOB NOT NULL
) STRICT;
CREATE INDEX run_wake ON run (wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE outcome (
  job          INTEGER PRIMARY KEY,
  state        INTEGER NOT NULL,
  cause        INTEGER NOT NULL,
  rule         TEXT NOT NULL,
  may_have_run INTEGER NOT NULL CHECK (may_have_run IN (0, 1)),
  discarded    INTEGER NOT NULL CHECK (discarded IN (0, 1)),
  ended_at     INTEGER NOT NULL,
  ended_on     INTEGER NOT NULL,
  forget_at    INTEGER NOT NULL CHECK (forget_at >= ended_at),
  life         BLOB NOT NULL
) STRICT;
CREATE INDEX outcome_forget ON outcome (forget_at);
-- Most jobs succeed: only what went otherwise is listed by its state.
CREATE INDEX outcome_state ON outcome (state) WHERE state <> 6;

-- History: all attempts of a job but its newest.
CREATE TABLE attempt (
  job   INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  body  BLOB NOT NULL,
  PRIMARY KEY (job, epoch)
) STRICT, WITHOUT ROWID;

-- Checkpoints (kind 0) and evidence (kind 1) that are too large for the attempt's own row.
CREATE TABLE large (
  job   INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  kind  INTEGER NOT NULL,
  body  BLOB NOT NULL,
  PRIMARY KEY (job, epoch, kind)
) STRICT;
