/*
 * blocking.pml: keys and limits at READ COMMITTED. RULES C4; promises [P3] [P6] [P7].
 *
 * Two claimers, two finishers and a canceller; five jobs, one key, one limit. A step is one SQL statement: it sees what is
 * committed when it begins, and its own writes. Row locks last until commit; an insert into a unique index waits for an uncommitted
 * one of the same value. A blocked job waits for one named thing, and each thing has a row: lock, look again, insert. Order of
 * locks: job, key, limit. Abstracted: priorities, shapes (all jobs have one), epochs, the run itself. There is no repair sweep.
 * One rule is not in the text of C4: a promoted job that leaves `ready` without taking the thing it was promoted for (it blocks
 * on another, is cancelled or expires) hands the promotion on in the same transaction.
 */

/* check: more -DJOB_3_NEEDS_BOTH=1 */
/* check: more -DMAX_SLOTS=2 */
/* check: finite -DFAILURES=0 */
/* check: deep -DMAX_SLOTS=2 -DJOB_3_NEEDS_BOTH=1 -DJOB_4_NEEDS_BOTH=1 */
/* check: deep -DJOB_4_NEEDS_BOTH=1 */
/* check: deep finite */
#include "common.h"

#ifndef MAX_SLOTS
#define MAX_SLOTS 1
#endif
#ifndef JOB_3_NEEDS_BOTH
#define JOB_3_NEEDS_BOTH 0
#endif
#ifndef JOB_4_NEEDS_BOTH
#define JOB_4_NEEDS_BOTH 0
#endif
#ifndef FAILURES
#define FAILURES 1      /* transactions that end a job and fail */
#endif
#define JOBS 5
#define NONE JOBS
#define NOTHING 2
#define KEY 0                   /* the two things, and the slot of the key among the holders */
#define LIMIT 1                 /* slots 1 .. MAX_SLOTS are those of the limit */

mtype:point = { NOWHERE, REACH_BLOCKED_ON_KEY, REACH_BLOCKED_ON_LIMIT, REACH_PROMOTED, REACH_FREE_AT_SECOND_LOOK, REACH_BLOCKED_AGAIN_ON_ANOTHER,
	REACH_HANDED_ON_BY_CLAIM, REACH_HANDED_ON_BY_CANCEL, REACH_INSERT_WAITED, REACH_PROMOTED_FOR_BOTH, REACH_TRANSACTION_FAILED, REACH_ALL_ENDED };

mtype:place = { ready, blocked, running, ended };

/* Committed rows. */
mtype:place place[JOBS] = { running, running, ready, ready, ready };
byte waits_for[JOBS] = NOTHING;
byte promoted_for[JOBS] = NOTHING;     /* column of the ready row */
byte holder[MAX_SLOTS + 1] = { 0, 1 };                /* key_holder and limit_holder(slot): job, NONE if there is no row */
/* Locks, by transaction; `inserting` is an uncommitted insert in the unique index. */
byte row_lock[2];
byte job_lock[JOBS];
byte inserting[MAX_SLOTS + 1];
byte failures = FAILURES;

/* Job 0 has the key, job 1 a slot of the limit, job 2 wants both, job 3 the key (or both), job 4 the limit (or both). */
#define needs_key(j)    ((j) == 0 || (j) == 2 || (j) == 3 || ((j) == 4 && JOB_4_NEEDS_BOTH))
#define needs_limit(j)  ((j) == 1 || (j) == 2 || (j) == 4 || ((j) == 3 && JOB_3_NEEDS_BOTH))

#define waits(j, t)     (place[j] == blocked && waits_for[j] == (t))
#define first_waiter(t) (waits(2, t) -> 2 : (waits(3, t) -> 3 : (waits(4, t) -> 4 : NONE)))
#if MAX_SLOTS == 1
#define limit_free      (holder[1] == NONE)
#else
#define limit_free      (holder[1] == NONE || holder[2] == NONE)
#endif
#define is_free(t)      ((t) == KEY -> holder[KEY] == NONE : limit_free)

/* In every committed state: one holder, the limit kept, and nobody blocked on a free thing unless someone is on his way to it. */
#define coming(j, t)    (place[j] == ready && promoted_for[j] == (t))
#define on_the_way(t)   (coming(2, t) || coming(3, t) || coming(4, t))
#define with_key(j)     (place[j] == running && needs_key(j) -> 1 : 0)
#define with_limit(j)   (place[j] == running && needs_limit(j) -> 1 : 0)
#define running_with_key    (with_key(0) + with_key(1) + with_key(2) + with_key(3) + with_key(4))
#define running_with_limit  (with_limit(0) + with_limit(1) + with_limit(2) + with_limit(3) + with_limit(4))
inline consistent()
{
	assert(running_with_key <= 1);                                                  /* one holder of the key */
	assert(running_with_limit <= MAX_SLOTS);                                        /* limit kept */
	assert(first_waiter(KEY) == NONE || !is_free(KEY) || on_the_way(KEY));          /* lost wake-up: key */
	assert(first_waiter(LIMIT) == NONE || !is_free(LIMIT) || on_the_way(LIMIT))     /* lost wake-up: limit */
}

inline unlock_all(me)
{
	row_lock[KEY] = (row_lock[KEY] == me -> 0 : row_lock[KEY]);
	row_lock[LIMIT] = (row_lock[LIMIT] == me -> 0 : row_lock[LIMIT]);
	job_lock[0] = (job_lock[0] == me -> 0 : job_lock[0]);
	job_lock[1] = (job_lock[1] == me -> 0 : job_lock[1]);
	job_lock[2] = (job_lock[2] == me -> 0 : job_lock[2]);
	job_lock[3] = (job_lock[3] == me -> 0 : job_lock[3]);
	job_lock[4] = (job_lock[4] == me -> 0 : job_lock[4]);
	inserting[0] = (inserting[0] == me -> 0 : inserting[0]);
	inserting[1] = (inserting[1] == me -> 0 : inserting[1]);
#if MAX_SLOTS > 1
	inserting[2] = (inserting[2] == me -> 0 : inserting[2]);
#endif
}

inline lock_row(t, me)
{
	d_step { row_lock[t] == 0 || row_lock[t] == me -> row_lock[t] = me }
}

/* SELECT the first job that waits for the thing FOR UPDATE: waits for its lock, then looks again. */
inline find_next(t, next, me)
{
	d_step { first_waiter(t) == NONE || job_lock[first_waiter(t)] == 0 ->
		next = first_waiter(t);
		if
		:: next != NONE -> job_lock[next] = me
		:: else
		fi }
}

inline promote(next, t)
{
	if
	:: next != NONE ->
		printf("... and job %d is promoted\n", next);
		place[next] = ready; waits_for[next] = NOTHING; promoted_for[next] = t;
		reached(REACH_PROMOTED)
	:: else
	fi
}

inline leave_ready(j)
{
	promoted_for[j] = NOTHING
}

#define ready_unlocked(j) (place[j] == ready && job_lock[j] == 0)

proctype claimer(byte me)
{
	byte job = NONE, slot = 0, taken = NOTHING, other = NOTHING, next = NONE;

end:	do
	/* Begin: a ready row that nobody has locked. */
	:: atomic { ready_unlocked(2) -> job = 2; job_lock[2] = me; goto try_key }
	:: atomic { ready_unlocked(3) -> job = 3; job_lock[3] = me; goto try_key }
	:: atomic { ready_unlocked(4) -> job = 4; job_lock[4] = me; goto try_key }
	od;

try_key:
	if
	:: !needs_key(job) -> goto try_limit
	:: needs_key(job) && holder[KEY] != NONE -> taken = KEY; printf("claimer %d: job %d finds the key taken\n", me, job); goto is_taken
	:: POINT == REACH_INSERT_WAITED && holder[KEY] == NONE && inserting[KEY] != 0 -> reached(REACH_INSERT_WAITED)
#ifdef MUTANT_KEY_READ_THEN_INSERT
	:: needs_key(job) && holder[KEY] == NONE -> goto try_limit
#else
	:: atomic { needs_key(job) && holder[KEY] == NONE && inserting[KEY] == 0 -> inserting[KEY] = me; goto try_limit }
#endif
	fi;

try_limit:
	if
	:: !needs_limit(job) -> goto take
	:: needs_limit(job) && !limit_free -> taken = LIMIT; printf("claimer %d: job %d finds the limit taken\n", me, job); goto is_taken
#ifdef MUTANT_COUNT_INSTEAD_OF_UNIQUE_SLOT
	:: needs_limit(job) && limit_free -> goto take
#else
	:: atomic { needs_limit(job) && holder[1] == NONE && inserting[1] == 0 -> inserting[1] = me; slot = 1; goto take }
#if MAX_SLOTS > 1
	:: atomic { needs_limit(job) && holder[2] == NONE && inserting[2] == 0 -> inserting[2] = me; slot = 2; goto take }
#endif
#endif
	fi;

take:	atomic {                              /* DELETE FROM ready, INSERT INTO run, COMMIT */
		printf("claimer %d commits: job %d runs\n", me, job);
		place[job] = running; leave_ready(job);
		if
		:: needs_key(job) -> holder[KEY] = job
		:: else
		fi;
		if
		:: slot != 0 -> holder[slot] = job
#ifdef MUTANT_COUNT_INSTEAD_OF_UNIQUE_SLOT
		:: needs_limit(job) && holder[1] == NONE -> holder[1] = job
#endif
		:: else
		fi;
		unlock_all(me);
		job = NONE; slot = 0;
		consistent()
	};
	goto end;

is_taken:	skip;
	/* Back to the savepoint: an uncommitted insert must not be held while waiting for a row. */
	d_step {
		inserting[KEY] = (inserting[KEY] == me -> 0 : inserting[KEY]);
		other = (promoted_for[job] != taken -> promoted_for[job] : NOTHING);
#ifdef MUTANT_BLOCK_AGAIN_WITHOUT_HANDING_ON
		other = NOTHING
#endif
	};
#ifndef MUTANT_BLOCK_WITHOUT_LOCK
	if
	:: taken == KEY || other == KEY -> lock_row(KEY, me)
	:: else
	fi;
	if
	:: taken == LIMIT || other == LIMIT -> lock_row(LIMIT, me)
	:: else
	fi;
#endif
#ifndef MUTANT_BLOCK_WITHOUT_SECOND_LOOK
	if
	:: is_free(taken) ->                  /* freed meanwhile: from the beginning, in a new transaction */
		d_step { reached(REACH_FREE_AT_SECOND_LOOK); unlock_all(me); job = NONE; taken = NOTHING; other = NOTHING };
		goto end
	:: else
	fi;
#endif
	if
	:: other != NOTHING && is_free(other) -> find_next(other, next, me)
	:: else
	fi;
	d_step {                              /* DELETE FROM ready, INSERT INTO blocked, COMMIT */
		printf("claimer %d commits: job %d is blocked on %d (0 key, 1 limit)\n", me, job, taken);
		place[job] = blocked; waits_for[job] = taken;
		if
		:: promoted_for[job] != NOTHING && promoted_for[job] != taken -> reached(REACH_BLOCKED_AGAIN_ON_ANOTHER)
		:: else
		fi;
		leave_ready(job);
		if
		:: taken == KEY -> reached(REACH_BLOCKED_ON_KEY)
		:: else -> reached(REACH_BLOCKED_ON_LIMIT)
		fi;
		if
		:: next != NONE -> reached(REACH_HANDED_ON_BY_CLAIM)
		:: else
		fi;
		promote(next, other);
		unlock_all(me);
		job = NONE; taken = NOTHING; other = NOTHING; next = NONE;
		consistent()
	};
	goto end
}

#define holds_key(j)    (holder[KEY] == (j))
#if MAX_SLOTS == 1
#define slot_of(j)      (holder[1] == (j) -> 1 : 0)
#else
#define slot_of(j)      (holder[1] == (j) -> 1 : (holder[2] == (j) -> 2 : 0))
#endif
#define runs_unlocked(j) (place[j] == running && job_lock[j] == 0)

/* The transaction that ends a job, frees what it holds and promotes. */
proctype finisher(byte me)
{
	byte job = NONE, next_key = NONE, next_limit = NONE;

end:	do
	:: atomic { runs_unlocked(0) -> job = 0; job_lock[0] = me; goto free }
	:: atomic { runs_unlocked(1) -> job = 1; job_lock[1] = me; goto free }
	:: atomic { runs_unlocked(2) -> job = 2; job_lock[2] = me; goto free }
	:: atomic { runs_unlocked(3) -> job = 3; job_lock[3] = me; goto free }
	:: atomic { runs_unlocked(4) -> job = 4; job_lock[4] = me; goto free }
	od;

free:
#ifdef MUTANT_FREE_OUTSIDE_ENDING_TRANSACTION
	atomic { place[job] = ended };
	if
	:: atomic { failures > 0 -> failures--; unlock_all(me); job = NONE; goto end }
	:: skip
	fi;
#endif
#ifdef MUTANT_LOOK_IN_THE_STATEMENT_THAT_LOCKS
	/* The snapshot of a statement is taken before it waits for a lock. */
	atomic { next_key = (holds_key(job) -> first_waiter(KEY) : NONE); next_limit = (slot_of(job) != 0 -> first_waiter(LIMIT) : NONE) };
#endif
#ifndef MUTANT_PROMOTION_WITHOUT_LOCK
	if
	:: holds_key(job) -> lock_row(KEY, me)
	:: else
	fi;
	if
	:: slot_of(job) != 0 -> lock_row(LIMIT, me)
	:: else
	fi;
#endif
	/* DELETE of the holders: others still see the rows until commit. */
#ifndef MUTANT_LOOK_IN_THE_STATEMENT_THAT_LOCKS
#ifdef MUTANT_PROMOTE_ONLY_IF_ALL_FREE
#define key_waiter_can_run   (limit_free || slot_of(job) != 0)
#define limit_waiter_can_run (holder[KEY] == NONE || holds_key(job))
#else
#define key_waiter_can_run   true
#define limit_waiter_can_run true
#endif
	if
	:: holds_key(job) && key_waiter_can_run -> find_next(KEY, next_key, me)
	:: else
	fi;
	if
	:: slot_of(job) != 0 && limit_waiter_can_run -> find_next(LIMIT, next_limit, me)
	:: else
	fi;
#endif
	if
	:: d_step { failures > 0 -> reached(REACH_TRANSACTION_FAILED); failures--; unlock_all(me) }
	:: d_step {
		printf("finisher %d commits: job %d has ended\n", me, job);
		place[job] = ended;
		promote(next_key, KEY);
		promote(next_limit, LIMIT);
		if
		:: next_key != NONE && next_limit != NONE -> reached(REACH_PROMOTED_FOR_BOTH)
		:: else
		fi;
		holder[KEY] = (holds_key(job) -> NONE : holder[KEY]);
		holder[1] = (holder[1] == job -> NONE : holder[1]);
#if MAX_SLOTS > 1
		holder[2] = (holder[2] == job -> NONE : holder[2]);
#endif
		unlock_all(me);
		consistent() }
	fi;
	d_step { job = NONE; next_key = NONE; next_limit = NONE };
	goto end
}

/* Cancel, hold or expiry of one job that waits in ready or blocked. */
proctype canceller(byte me)
{
	byte job = NONE, thing = NOTHING, next = NONE;

	if
	:: d_step { (place[2] == ready || place[2] == blocked) && job_lock[2] == 0 -> job = 2; job_lock[2] = me }
	:: d_step { (place[3] == ready || place[3] == blocked) && job_lock[3] == 0 -> job = 3; job_lock[3] = me }
	:: d_step { (place[4] == ready || place[4] == blocked) && job_lock[4] == 0 -> job = 4; job_lock[4] = me }
	:: place[2] == ended && place[3] == ended && place[4] == ended -> goto done
	fi;
	thing = promoted_for[job];
#ifndef MUTANT_CANCEL_WITHOUT_HANDING_ON
	if
	:: thing != NOTHING ->
		lock_row(thing, me);
		if
		:: is_free(thing) -> find_next(thing, next, me)
		:: else
		fi
	:: else
	fi;
#endif
	d_step {
		printf("canceller commits: job %d is cancelled\n", job);
		place[job] = ended; waits_for[job] = NOTHING; leave_ready(job);
		if
		:: next != NONE -> reached(REACH_HANDED_ON_BY_CANCEL)
		:: else
		fi;
		promote(next, thing);
		unlock_all(me);
		consistent()
	};
done:	skip
}

init { atomic {
#if MAX_SLOTS > 1
	holder[2] = NONE;
#endif
	run claimer(1); run claimer(2); run finisher(3); run finisher(4); run canceller(5); run rest() } }

proctype rest()
{
end:	timeout ->
	assert(place[0] == ended && place[1] == ended && place[2] == ended && place[3] == ended && place[4] == ended);      /* nothing is stuck */
	reached(REACH_ALL_ENDED)
}
