-- 0001_first: where jobs are, who runs them, and what became of them; who may write it.
--
-- The tables of jobs are those of the SQLite store (docs/formats/schema.md): a job is one row of
-- `job` and one in exactly one place [P3]. One server at a time writes them, the keeper of this
-- cell (C1, C7): whatever it writes begins with a row of `grp`, which names its epoch and follows the
-- row before it. Instants are microseconds, written by the server, never by SQL: `..._on` and `date`
-- count in wall time, all others in service time. Text is compared byte by byte.

-- The keeper. `epoch` changes at a takeover and at nothing else.
CREATE TABLE cell (
  id             bigint PRIMARY KEY CHECK (id = 1),
  epoch          bigint NOT NULL CHECK (epoch >= 0),
  holder         text COLLATE "C" NOT NULL,
  backend        bigint NOT NULL,
  backend_start  text COLLATE "C" NOT NULL,
  system         text COLLATE "C" NOT NULL,
  timeline       bigint NOT NULL
);
INSERT INTO cell VALUES (1, 0, '', 0, '', '', 0);

-- Where each epoch began (C6).
CREATE TABLE epoch (
  epoch       bigint PRIMARY KEY,
  first_group bigint NOT NULL,
  holder      text COLLATE "C" NOT NULL
);

-- One row for each group, never changed: what would be changed by every group is in its newest row.
-- `ok` is drawn from the cell and the row before: a group of an older epoch, one whose predecessor
-- is missing, or one that is there already, fails.
CREATE TABLE grp (
  number             bigint PRIMARY KEY,
  epoch              bigint NOT NULL,
  ok                 boolean NOT NULL CHECK (ok),
  tick               bigint NOT NULL,
  now_at             bigint NOT NULL,
  grace_until        bigint NOT NULL,
  keeper             bigint NOT NULL,
  keeper_epoch       bigint NOT NULL,
  keeper_deadline    bigint NOT NULL,
  wall_on            bigint NOT NULL,
  servers_used       bigint NOT NULL,
  id_high_water      bigint NOT NULL,
  repairs            bigint NOT NULL,
  fenced             bigint NOT NULL,
  last_recovery      bigint NOT NULL,
  made_id_high_water bigint NOT NULL,
  server_ids         bigint[] NOT NULL,
  server_numbers     bigint[] NOT NULL,
  server_marks       bigint[] NOT NULL,
  server_groups      bigint[] NOT NULL,
  server_fences      bigint[] NOT NULL,
  server_uses        bigint[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
INSERT INTO grp VALUES (0, 0, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        '{}', '{}', '{}', '{}', '{}', '{}');

CREATE VIEW service AS
  SELECT tick, now_at, grace_until, keeper, keeper_epoch, keeper_deadline, wall_on, servers_used,
    id_high_water, repairs, fenced, last_recovery, made_id_high_water
  FROM grp ORDER BY number DESC LIMIT 1;
CREATE VIEW server AS
  SELECT s.* FROM (SELECT * FROM grp ORDER BY number DESC LIMIT 1) g,
    unnest(server_ids, server_numbers, server_marks, server_groups, server_fences, server_uses)
      AS s (id, number, id_high_water, last_group, fence, used);

CREATE TABLE session (
  id             bigint PRIMARY KEY,
  machine        text COLLATE "C" NOT NULL,
  boot           text COLLATE "C" NOT NULL,
  device         bigint NOT NULL,
  inode          bigint NOT NULL,
  life           bigint NOT NULL,
  worker         text COLLATE "C" NOT NULL,
  is_open        bigint NOT NULL CHECK (is_open IN (0, 1)),
  stream         bigint NOT NULL,
  assignments    bigint NOT NULL,
  heartbeat      bigint NOT NULL,
  content_hash   bigint NOT NULL,
  seen           bigint NOT NULL,
  renewal        bigint NOT NULL,
  slots          bigint NOT NULL,
  tenant         text COLLATE "C" NOT NULL,
  offer          bytea NOT NULL,
  lease_deadline bigint NOT NULL,
  heard_at       bigint NOT NULL,
  given_up       bigint NOT NULL,
  policy         bytea
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The newest session of each state directory (O5).
CREATE TABLE directory (
  machine text COLLATE "C" NOT NULL,
  device  bigint NOT NULL,
  inode   bigint NOT NULL,
  session bigint NOT NULL,
  PRIMARY KEY (machine, device, inode)
);

-- What a worker must match, as a number.
CREATE TABLE shape (
  id     bigint PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  queue  text COLLATE "C" NOT NULL,
  kind   text COLLATE "C" NOT NULL,
  share  text COLLATE "C" NOT NULL,
  submitter bigint NOT NULL CHECK (submitter BETWEEN 0 AND 2),
  UNIQUE (tenant, queue, kind, share, submitter)
);

-- How many jobs of a shape are in which state, written with the moves that change it.
CREATE TABLE tally (
  shape       bigint PRIMARY KEY,
  scheduled   bigint NOT NULL CHECK (scheduled >= 0),
  ready       bigint NOT NULL CHECK (ready >= 0),
  blocked     bigint NOT NULL CHECK (blocked >= 0),
  starting    bigint NOT NULL CHECK (starting >= 0),
  running     bigint NOT NULL CHECK (running >= 0),
  waiting     bigint NOT NULL CHECK (waiting >= 0),
  succeeded   bigint NOT NULL CHECK (succeeded >= 0),
  failed      bigint NOT NULL CHECK (failed >= 0),
  cancelled   bigint NOT NULL CHECK (cancelled >= 0),
  expired     bigint NOT NULL CHECK (expired >= 0),
  quarantined bigint NOT NULL CHECK (quarantined >= 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE VIEW jobs_in_state (shape, state, jobs) AS
  SELECT shape, s.state, s.jobs FROM tally, LATERAL (VALUES
    (0, scheduled), (1, ready), (2, blocked), (3, starting), (4, running), (5, waiting),
    (6, succeeded), (7, failed), (8, cancelled), (9, expired), (10, quarantined)) AS s (state, jobs);

CREATE TABLE queue (
  tenant text COLLATE "C" NOT NULL,
  queue  text COLLATE "C" NOT NULL,
  paused bigint NOT NULL CHECK (paused IN (0, 1)),
  PRIMARY KEY (tenant, queue)
);
CREATE TABLE limit_max (
  tenant text COLLATE "C" NOT NULL,
  name   text COLLATE "C" NOT NULL,
  max    bigint NOT NULL CHECK (max > 0),
  PRIMARY KEY (tenant, name)
);

-- Who holds what (C4). There are no counters that somebody must decrement.
CREATE TABLE key_holder (
  tenant text COLLATE "C" NOT NULL,
  key    text COLLATE "C" NOT NULL,
  job    bigint NOT NULL,
  PRIMARY KEY (tenant, key)
);
CREATE TABLE limit_holder (
  tenant text COLLATE "C" NOT NULL,
  name   text COLLATE "C" NOT NULL,
  slot   bigint NOT NULL CHECK (slot > 0),
  job    bigint NOT NULL,
  PRIMARY KEY (tenant, name, slot)
);

-- The key outlives the job (C5): then `gone_as` says how that had ended.
CREATE TABLE idempotency (
  tenant         text COLLATE "C" NOT NULL,
  key            text COLLATE "C" NOT NULL,
  job            bigint NOT NULL,
  body_hash      bigint NOT NULL,
  body_hash_high bigint,
  gone_as        bigint,
  kept_until     bigint,
  PRIMARY KEY (tenant, key),
  CHECK ((gone_as IS NULL) = (kept_until IS NULL))
);
CREATE INDEX idempotency_end ON idempotency (kept_until) WHERE kept_until IS NOT NULL;

-- `priority` is what was asked: with it the job is found in its line.
CREATE TABLE job (
  id             bigint PRIMARY KEY,
  shape          bigint NOT NULL,
  priority       bigint NOT NULL,
  body_hash      bigint NOT NULL,
  body_hash_high bigint,
  submitted_at   bigint NOT NULL,
  spec           bytea NOT NULL
);
ALTER TABLE job ALTER spec SET STORAGE EXTERNAL;

-- `place` 1: claimed from the front of each shape's line. rank = 2 * priority + behind_the_first.
CREATE TABLE ready (
  shape          bigint NOT NULL,
  rank           bigint NOT NULL,
  since          bigint NOT NULL,
  job            bigint NOT NULL,
  queue_deadline bigint NOT NULL,
  kept_until     bigint,
  avoid          bigint,
  avoid_until    bigint,
  wake_at        bigint NOT NULL,
  life           bytea NOT NULL,
  PRIMARY KEY (shape, rank, since, job)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
CREATE INDEX ready_kept ON ready (job) WHERE kept_until IS NOT NULL;

-- Where a job is in `ready`, unless it is where it first got in line: behind, at its submission.
CREATE TABLE line (
  job   bigint PRIMARY KEY,
  rank  bigint NOT NULL,
  since bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- Which part of a line has deadlines at which instant. A row may stand for many jobs, or for none
-- any more: then a tick removes it.
CREATE TABLE ready_wake (
  wake_at bigint NOT NULL,
  shape   bigint NOT NULL,
  rank    bigint NOT NULL,
  since   bigint NOT NULL,
  PRIMARY KEY (wake_at, shape, rank, since)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- Which ready jobs have yet to take what (C4a). kind 0: key, 1: limit.
CREATE TABLE want (
  tenant text COLLATE "C" NOT NULL,
  kind   bigint NOT NULL,
  name   text COLLATE "C" NOT NULL,
  shape  bigint NOT NULL,
  job    bigint NOT NULL,
  PRIMARY KEY (tenant, kind, name, shape, job)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

CREATE TABLE timer (
  job     bigint PRIMARY KEY,
  due     bigint,
  date    bigint,
  avoid   bigint,
  wake_at bigint,
  life    bytea NOT NULL,
  CHECK ((due IS NULL) <> (date IS NULL)),
  CHECK (due IS NULL OR wake_at IS NOT NULL)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
CREATE INDEX timer_wake ON timer (wake_at, job) WHERE wake_at IS NOT NULL;
CREATE INDEX timer_date ON timer (date, job) WHERE date IS NOT NULL;

-- Waits for one named thing, or for the person who holds it: then kind and name are NULL.
CREATE TABLE blocked (
  job            bigint PRIMARY KEY,
  tenant         text COLLATE "C" NOT NULL,
  kind           bigint,
  name           text COLLATE "C",
  shape          bigint NOT NULL,
  rank           bigint NOT NULL,
  since          bigint NOT NULL,
  queue_deadline bigint NOT NULL,
  avoid          bigint,
  avoid_until    bigint,
  wake_at        bigint NOT NULL,
  life           bytea NOT NULL,
  CHECK ((kind IS NULL) = (name IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
CREATE INDEX blocked_line ON blocked (tenant, kind, name, shape, rank, since, job)
  WHERE kind IS NOT NULL;
CREATE INDEX blocked_wake ON blocked (wake_at, job);

-- Waits for others to end.
CREATE TABLE wait (
  job            bigint PRIMARY KEY,
  queue_deadline bigint NOT NULL,
  wake_at        bigint NOT NULL,
  life           bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
CREATE INDEX wait_wake ON wait (wake_at, job);

-- The row is the attempt's own until it ends: its session and the confirmation keep it (O3, O4).
CREATE TABLE run (
  job              bigint PRIMARY KEY,
  epoch            bigint NOT NULL,
  session          bigint NOT NULL,
  assignment       bigint NOT NULL,
  state            bigint NOT NULL,
  confirm_deadline bigint NOT NULL,
  kill_order       bigint,
  wake_at          bigint,
  life             bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
CREATE INDEX run_wake ON run (wake_at, job) WHERE wake_at IS NOT NULL;

CREATE TABLE outcome (
  job          bigint PRIMARY KEY,
  epoch        bigint NOT NULL,
  state        bigint NOT NULL,
  cause        bigint NOT NULL,
  rule         text COLLATE "C" NOT NULL,
  may_have_run bigint NOT NULL CHECK (may_have_run IN (0, 1)),
  discarded    bigint NOT NULL CHECK (discarded IN (0, 1)),
  ended_at     bigint NOT NULL,
  ended_on     bigint NOT NULL,
  forget_at    bigint NOT NULL CHECK (forget_at >= ended_at),
  life         bytea NOT NULL
);
-- Most jobs succeed: only what went otherwise is listed by its state.
CREATE INDEX outcome_state ON outcome (state, job) WHERE state <> 6;

-- Notes of jobs whose retention may be over: `job` is the first of them, `others` says how far each
-- other id is above it.
CREATE TABLE forget (
  forget_at bigint NOT NULL,
  job       bigint NOT NULL,
  others    bytea NOT NULL,
  PRIMARY KEY (forget_at, job)
);

-- History: all attempts of a job but its newest.
CREATE TABLE attempt (
  job   bigint NOT NULL,
  epoch bigint NOT NULL,
  body  bytea NOT NULL,
  PRIMARY KEY (job, epoch)
);
-- Checkpoints (kind 0) and evidence (kind 1) that are too large for the attempt's own row.
CREATE TABLE large (
  job   bigint NOT NULL,
  epoch bigint NOT NULL,
  kind  bigint NOT NULL,
  body  bytea NOT NULL,
  PRIMARY KEY (job, epoch, kind)
);
ALTER TABLE large ALTER body SET STORAGE EXTERNAL;

-- One row for each automatic repair [P5], written by the transaction that makes it.
CREATE TABLE recovery (
  id          bigint PRIMARY KEY,
  job         bigint NOT NULL,
  epoch       bigint NOT NULL,
  detector    bigint NOT NULL,
  incident    bigint NOT NULL,
  cause       bigint,
  happened_on bigint NOT NULL,
  body        bytea NOT NULL
);
CREATE INDEX recovery_job ON recovery (job, id);

-- What the end of one job means to others [P7].
CREATE TABLE awaited (
  job    bigint NOT NULL,
  number bigint NOT NULL,
  other  bigint NOT NULL,
  on_end bigint NOT NULL,
  state  bigint,
  ended  bytea,
  PRIMARY KEY (job, number),
  CHECK ((state IS NULL) = (ended IS NULL))
);
CREATE INDEX awaited_open ON awaited (other, job) WHERE state IS NULL;
CREATE TABLE callback (
  parent           bigint NOT NULL,
  number           bigint NOT NULL,
  id               bigint NOT NULL UNIQUE,
  since_generation bigint NOT NULL CHECK (since_generation > 0),
  on_end           bigint NOT NULL,
  spec             bytea NOT NULL,
  PRIMARY KEY (parent, number)
);
CREATE TABLE made (
  parent     bigint NOT NULL,
  generation bigint NOT NULL CHECK (generation > 0),
  number     bigint NOT NULL,
  job        bigint NOT NULL UNIQUE,
  PRIMARY KEY (parent, generation, number)
);

-- What a transaction could not finish, because it would have touched too many rows (C8).
CREATE TABLE owed_end (job bigint PRIMARY KEY);
CREATE TABLE owed_thing (
  tenant text COLLATE "C" NOT NULL,
  kind   bigint NOT NULL CHECK (kind IN (0, 1)),
  name   text COLLATE "C" NOT NULL,
  behind bigint NOT NULL CHECK (behind >= 0),
  PRIMARY KEY (tenant, kind, name)
);
CREATE TABLE owed_removal (job bigint PRIMARY KEY);

-- What attempts have printed, in pieces without gaps. A piece begins where the one before it ends.
CREATE TABLE piece (
  job   bigint NOT NULL,
  epoch bigint NOT NULL,
  start bigint NOT NULL CHECK (start >= 0),
  bytes bytea NOT NULL CHECK (length(bytes) > 0),
  PRIMARY KEY (job, epoch, start)
);
ALTER TABLE piece ALTER bytes SET STORAGE EXTERNAL;
-- Output of removed jobs that is still to be removed, because it was too much for one transaction.
CREATE TABLE owed (job bigint PRIMARY KEY);

-- For people: plain columns, the words of the command line. Nothing of Perdure reads them.
CREATE FUNCTION id_text(id bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
                           ((id >> (5 * (12 - i))) & 31)::int + 1, 1), '' ORDER BY i)
  FROM generate_series(0, 12) AS i
$$;
CREATE FUNCTION state_name(state bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT ('{scheduled,ready,blocked,starting,running,waiting,succeeded,failed,cancelled,expired,'
          'quarantined}'::text[])[state + 1]
$$;
CREATE FUNCTION cause_name(cause bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT ('{exit,verdict(retry),verdict(permanent),verdict(at),conflict,disconnected,'
          'crash(signal),crash(worker),oom,timeout(queue),timeout(run),timeout(idle),'
          'timeout(total),command_unusable,no_resources,shim_failed,shim_lost,lock_busy,'
          'worker_lost,host_lost,cut_off,evicted,cancelled,corrupt,suspect}'::text[])[cause + 1]
$$;
CREATE FUNCTION incident_name(incident bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT ('{job_failed,process_died,did_not_start,timed_out,cut_off,worker_stopped,'
          'worker_restarted,worker_lost,host_restarted,worker_returned,wakeup_missed,'
          'worker_crashes,worker_deaf}'::text[])[incident + 1]
$$;

CREATE VIEW jobs AS
  SELECT id_text(j.id) AS id, s.tenant, s.queue, s.kind, s.share, j.priority,
    CASE WHEN r.job IS NOT NULL THEN state_name(r.state)
         WHEN o.job IS NOT NULL THEN state_name(o.state)
         WHEN t.job IS NOT NULL THEN 'scheduled'
         WHEN b.job IS NOT NULL THEN 'blocked'
         WHEN w.job IS NOT NULL THEN 'waiting'
         ELSE 'ready' END AS state,
    cause_name(o.cause) AS cause, coalesce(r.epoch, o.epoch) AS attempts,
    to_timestamp((j.id >> 21) / 1e3) AS submitted_on, to_timestamp(o.ended_on / 1e6) AS ended_on
  FROM job j LEFT JOIN shape s ON s.id = j.shape LEFT JOIN run r ON r.job = j.id
    LEFT JOIN outcome o ON o.job = j.id LEFT JOIN timer t ON t.job = j.id
    LEFT JOIN blocked b ON b.job = j.id LEFT JOIN wait w ON w.job = j.id;
CREATE VIEW attempts AS
  SELECT id_text(a.job) AS job, a.epoch, a.ends, id_text(a.session) AS session
  FROM (SELECT job, epoch, 'running' AS ends, session FROM run
        UNION ALL SELECT job, epoch, cause_name(cause), NULL FROM outcome WHERE epoch > 0
        UNION ALL SELECT job, epoch, 'earlier', NULL FROM attempt) AS a;
CREATE VIEW ledger AS
  SELECT id, id_text(job) AS job, epoch, incident_name(incident) AS incident,
    cause_name(cause) AS cause, to_timestamp(happened_on / 1e6) AS happened_on
  FROM recovery;
CREATE VIEW queues AS
  SELECT s.tenant, s.queue, coalesce(max(q.paused), 0) = 1 AS paused, sum(t.scheduled) AS scheduled,
    sum(t.ready) AS ready, sum(t.blocked) AS blocked, sum(t.starting) AS starting,
    sum(t.running) AS running, sum(t.waiting) AS waiting, sum(t.succeeded) AS succeeded,
    sum(t.failed) AS failed, sum(t.cancelled) AS cancelled, sum(t.expired) AS expired,
    sum(t.quarantined) AS quarantined
  FROM tally t JOIN shape s ON s.id = t.shape
    LEFT JOIN queue q ON q.tenant = s.tenant AND q.queue = s.queue
  GROUP BY s.tenant, s.queue;
