/*
 * lease.pml: claim, renew, tick, sweep, takeover, report. RULES O1, O2, O3, O5, O6; promises [P2] [P3] [P9].
 *
 * One job. Worker A has two lives (sessions 1 and 2, one state directory; killed at any moment, its shims go on), worker B is the
 * healthy other one (session 3). A transaction is one step; any process may pause between two of its own. Servers keep nothing
 * between transactions except in a sweep, which reads and later applies: one server pauses there, `servers` is all the others.
 * Network: what was sent can be received late, never, again and in any order, without bound; what a dead life is sent is lost.
 * Abstracted: clocks (a tick may end any lease of A), streams within a session, credits, other jobs but for their assignment
 * numbers, results other than well and badly, two attempts of the job on one host (the older is killed first, O8).
 */

/* check: more -DMAX_EPOCH=3 -DHEARTBEATS=1 */
/* check: finite -DHEARTBEATS=1 */
/* check: deep finite */
/* check: deep -DMAX_EPOCH=3 -DHEARTBEATS=2 */
#include "common.h"

#ifndef MAX_EPOCH
#define MAX_EPOCH 2     /* the policy's answer after so many attempts is no */
#endif
#ifndef HEARTBEATS
#define HEARTBEATS 2    /* per session; one that has sent them all is taken to be renewed for ever, unless it is killed */
#endif

#define A 0
#define B 1
#define worker_of(s)     ((s) == 3 -> B : A)
#define heartbeat_of(s, k) ((s) * HEARTBEATS + (k) - 1)

/* Points that the model must be able to come to (see common.h). */
mtype:point = { NOWHERE,
	REACH_ASSIGNMENT_DISCARDED, REACH_FAILED, REACH_FENCED_ENDED_SESSION,
	REACH_FENCED_HEARTBEAT, REACH_FENCED_IN_OPENING, REACH_LATE_OPENING_REFUSED,
	REACH_LATE_RESULT_FILED, REACH_LEASE_ENDED, REACH_RECLAIM_OF_PRESUMED_LOST,
	REACH_REINSTATED_BY_HEARTBEAT, REACH_REINSTATED_BY_OPENING, REACH_REINSTATED_BY_RESULT,
	REACH_SILENT_START, REACH_START_AND_END_TOGETHER, REACH_STOPPED_AS_FENCED,
	REACH_SUCCEEDED, REACH_SWEEP_REFUSED_AFTER_RENEWAL, REACH_SWEEP_REFUSED_AFTER_TAKEOVER,
	REACH_TAKEOVER, REACH_UNLISTED_IN_HEARTBEAT, REACH_UNLISTED_IN_OPENING };

mtype:job_state = { ready, starting, running, succeeded, failed };
mtype:session_state = { unknown, live, ended };
mtype:process_state = { no_process, process_runs, ended_well, ended_badly };
mtype:sweep_kind = { nothing, lease_end, silent_start };

/* The store. */
mtype:job_state state = ready;
unsigned epoch : 2;
unsigned owner : 2;                   /* session of the attempt now in run, or of the last one */
bool presumed_lost;                   /* ready again only because its lease ended: may come back until the next claim */
mtype:session_state session[4] = { unknown, unknown, unknown, live };
bool lease_ran_out[4];                /* what a tick makes true and a renewal false */
byte renewal[4];                      /* renewal number: that of the last heartbeat that counted */

#define in_run (state == starting || state == running)
#define final  (state == succeeded || state == failed)

/* The network: everything ever sent. Epochs and heartbeats count from 1. */
byte opening_lists[4];                /* session -> attempt on disk when that life began, 0 if none */
byte heartbeats_sent[4];
byte heartbeat_lists[4 * HEARTBEATS];
byte heartbeat_n[4 * HEARTBEATS];
byte assigned_to[MAX_EPOCH + 1];      /* attempt -> session that the assignment was sent to; its number is the epoch */
mtype:process_state report[MAX_EPOCH + 1] = no_process;
bool answered_over[MAX_EPOCH + 1];    /* "this attempt is over: acknowledged, filed or fenced; stop it, remove it" */

/* The workers: memory of the present life, and the state directory. */
byte life[2] = { 1, 3 };                         /* its session */
bool opened[2] = { false, true };
byte n[2];                            /* highest assignment number seen, also of other jobs */
byte named_n[2];                      /* the n of the last heartbeat: what is unlisted up to it is discarded from then on */
byte seen_assignment[2];              /* of this job */
byte disk_epoch[2];
mtype:process_state disk[2] = no_process;

/* What is true, kept for the assertions only; the protocol never reads it. */
bool started[MAX_EPOCH + 1];          /* a process of this attempt existed */
bool did_not_start[MAX_EPOCH + 1];    /* the store says so */
bool result_counted[MAX_EPOCH + 1];

inline one_owner()
{
	assert(!in_run || worker_of(owner) == worker_of(assigned_to[epoch]));   /* owned by the worker that it was claimed for */
	assert(state != running || started[epoch]);                             /* running, but that attempt never started */
	assert(!in_run || !result_counted[epoch]);                              /* what was reported ended never comes back */
	assert(!in_run || !did_not_start[epoch])                                /* nor what did not start */
}

inline enter(new_state)
{
	assert(!final);               /* an end state is never left */
	state = new_state;
}

inline again()                        /* policy after an attempt that ended without success */
{
	presumed_lost = false;
	if
	:: epoch < MAX_EPOCH -> enter(ready)
	:: else -> enter(failed)
	fi
}

inline reinstate(s)
{
	assert(state == ready && presumed_lost);        /* only what is presumed lost comes back */
	presumed_lost = false;
	owner = s;
	enter(running)
}

inline say_did_not_start()
{
	assert(state == starting);    /* a confirmed start is never forgotten by its own state directory */
	assert(!started[epoch]);      /* "did not start" is true */
	did_not_start[epoch] = true;
	again()
}

/* Claim: the epoch is raised in the same transaction. Sessions that are not renewed get none. */
inline claim(s)
{
	d_step {
		state == ready && session[s] == live && !lease_ran_out[s] && epoch < MAX_EPOCH ->
		if
		:: presumed_lost -> reached(REACH_RECLAIM_OF_PRESUMED_LOST)
		:: else
		fi;
#ifdef MUTANT_NO_EPOCH_IN_CLAIM
		epoch = (epoch == 0 -> 1 : epoch);
#else
		epoch++;
#endif
		assert(assigned_to[epoch] == 0);      /* every claim has an epoch of its own */
		owner = s;
		presumed_lost = false;
		assigned_to[epoch] = s;
		printf("claim: epoch %d for session %d\n", epoch, s);
		enter(starting);
		one_owner()
	}
}

/* Opening message of session s. It counts once; not if a younger session of the directory has opened; only for older assignments. */
#define younger_opened(s)  ((s) == 1 && session[2] != unknown)
#if defined(MUTANT_DUPLICATE_OPENING)
#define opening_counts(s)  (session[s] != ended && !younger_opened(s))
#define older(s)           (worker_of(owner) == worker_of(s))
#elif defined(MUTANT_LATE_OPENING)
#define opening_counts(s)  (session[s] == unknown)
#define older(s)           (worker_of(owner) == worker_of(s) && owner != (s))
#else
#define opening_counts(s)  (session[s] == unknown && !younger_opened(s))
#define older(s)           (worker_of(owner) == worker_of(s) && owner != (s))
#endif
#ifdef MUTANT_TAKEOVER_AFTER_RECLAIM
#define goes_over(s)       (in_run && opening_lists[s] != 0)
#else
#define goes_over(s)       (in_run && older(s) && opening_lists[s] == epoch)
#endif

inline opening(s)
{
	d_step {
		s <= life[A] && opening_counts(s) ->
		session[s] = live;
		lease_ran_out[s] = false;
		printf("opening message of session %d counts; it lists attempt %d\n", s, opening_lists[s]);
		if
		:: session[3 - s] == live ->
			session[3 - s] = ended;
			lease_ran_out[3 - s] = false;
			forget_heartbeats(3 - s, HEARTBEATS)
		:: else
		fi;
		if
		:: goes_over(s) ->
			owner = s;                    /* takeover: the epoch stays */
			enter(running);
			reached(REACH_TAKEOVER)
		:: in_run && older(s) && !goes_over(s) ->
			reached(REACH_UNLISTED_IN_OPENING);
			say_did_not_start()
		:: state == ready && presumed_lost && opening_lists[s] == epoch ->
			reached(REACH_REINSTATED_BY_OPENING);
			reinstate(s)
		:: else ->
			if
			:: opening_lists[s] != 0 ->
				reached(REACH_FENCED_IN_OPENING);
				answered_over[opening_lists[s]] = true
			:: else
			fi
		fi;
		one_owner()
	}
}

/* Heartbeat number k of session s: renews, then reconciles the attempt that it lists. */
#if defined(MUTANT_NO_EPOCH_ON_RENEW)
#define counts_for_run(s, e)  (in_run && owner == (s))
#define comes_back(s, e)      (state == ready && presumed_lost && owner == (s))
#elif defined(MUTANT_OWNER_BY_NAME)
#define counts_for_run(s, e)  (in_run && worker_of(owner) == worker_of(s))
#define comes_back(s, e)      (state == ready && presumed_lost && worker_of(owner) == worker_of(s))
#elif defined(MUTANT_REINSTATE_REPORTED_ENDED)
#define counts_for_run(s, e)  (in_run && owner == (s) && epoch == (e))
#define comes_back(s, e)      (state == ready && (presumed_lost || result_counted[e]) && epoch == (e))
#else
#define counts_for_run(s, e)  (in_run && owner == (s) && epoch == (e))
#define comes_back(s, e)      (state == ready && presumed_lost && epoch == (e))
#endif
#ifdef MUTANT_RECONCILE_WITHOUT_NUMBER
#define was_seen(number)      true
#else
#define was_seen(number)      (epoch <= (number))
#endif

/* What can never count again is not remembered: fewer states, same histories. */
inline forget_heartbeats(s, k)
{
	heartbeat_lists[heartbeat_of(s, 1)] = 0;
	heartbeat_n[heartbeat_of(s, 1)] = 0;
	if
	:: k > 1 ->
		heartbeat_lists[heartbeat_of(s, k)] = 0;
		heartbeat_n[heartbeat_of(s, k)] = 0
	:: else
	fi
}

inline heartbeat(s, k)
{
	d_step {
		k <= heartbeats_sent[s] && session[s] == live && k > renewal[s] ->
		listed = heartbeat_lists[heartbeat_of(s, k)];
		listed_n = heartbeat_n[heartbeat_of(s, k)];
		forget_heartbeats(s, k);
		renewal[s] = k;
		printf("heartbeat %d of session %d counts; it lists attempt %d, n = %d\n", k, s, listed, listed_n);
		lease_ran_out[s] = false;
		if
		:: listed != 0 && counts_for_run(s, listed) ->
			enter(running)                /* a listed attempt has started */
		:: listed != 0 && comes_back(s, listed) ->
			reached(REACH_REINSTATED_BY_HEARTBEAT);
			presumed_lost = true;         /* only the mutant comes here without */
			reinstate(s)
		:: else ->
			if
			:: listed != 0 ->
				reached(REACH_FENCED_HEARTBEAT);
				answered_over[listed] = true
			:: else
			fi;
			if
			:: in_run && owner == s && was_seen(listed_n) ->
				reached(REACH_UNLISTED_IN_HEARTBEAT);
				say_did_not_start()
			:: else          /* above n: still under way */
			fi
		fi;
		listed = 0; listed_n = 0;
		one_owner()
	}
}

/* Result of attempt e, from whatever session. Late ones are filed; a repeated one gets the first answer again. */
#if defined(MUTANT_NO_EPOCH_ON_REPORT)
#define result_counts(e)  (in_run || (state == ready && presumed_lost))
#elif defined(MUTANT_RESULT_BY_NAME)
#define result_counts(e)  (in_run && worker_of(owner) == worker_of(assigned_to[e]))
#else
#define result_counts(e)  (epoch == (e) && (in_run || (state == ready && presumed_lost)))
#endif
#ifdef MUTANT_REPEATED_RESULT_COUNTS
#define to_be_answered(e) (!answered_over[e] || (!final && epoch == (e)))
#undef result_counts
#define result_counts(e)  (epoch == (e))
#else
#define to_be_answered(e) (!answered_over[e])
#endif

inline result(e)
{
	d_step {
		report[e] != no_process && to_be_answered(e) ->
		printf("report of attempt %d (%e) arrives; epoch %d is %e\n", e, report[e], epoch, state);
		if
		:: result_counts(e) ->
			assert(e == epoch);           /* no message of an old attempt changes state */
			assert(!result_counted[e]);   /* accepted at most once */
			assert(in_run || presumed_lost);      /* ended already */
			result_counted[e] = true;
			if
			:: presumed_lost -> reached(REACH_REINSTATED_BY_RESULT)
			:: else
			fi;
			if
			:: state == starting -> reached(REACH_START_AND_END_TOGETHER)
			:: else
			fi;
			presumed_lost = false;
			if
			:: report[e] == ended_well -> enter(succeeded)
			:: else -> again()
			fi
		:: else ->
			reached(REACH_LATE_RESULT_FILED)
		fi;
		answered_over[e] = true;
#ifndef MUTANT_REPEATED_RESULT_COUNTS
		report[e] = no_process;               /* a repeated one changes nothing: not remembered */
#endif
		one_owner()
	}
}

/* Sweep. A decision is applied only if what it rests on is unchanged. */
#ifdef MUTANT_SWEEP_AFTER_RENEWAL
#define same_renewal true
#else
#define same_renewal (renewal[seen_owner] == seen_renewal)
#endif
#ifdef MUTANT_SWEEP_AFTER_TAKEOVER       /* "job, epoch, state and renewal number", but not whose */
#define same_owner   true
#undef same_renewal
#define same_renewal (renewal[owner] == seen_renewal)
#else
#define same_owner   (owner == seen_owner)
#endif
#ifdef MUTANT_SILENCE_AFTER_START
#define still_starting in_run
#else
#define still_starting (state == starting)
#endif

inline read_expired()
{
	d_step {
		seen == nothing && in_run && lease_ran_out[owner] ->
		seen = lease_end; seen_epoch = epoch; seen_owner = owner; seen_renewal = renewal[owner];
		printf("sweep reads: lease of session %d expired, attempt %d\n", owner, epoch)
	}
}

inline read_silent()                  /* the start confirmation is overdue */
{
	d_step {
		seen == nothing && state == starting ->
		seen = silent_start; seen_epoch = epoch;
		printf("sweep reads: start of attempt %d not confirmed\n", epoch)
	}
}

inline apply_sweep()
{
	d_step {
		seen != nothing ->
		printf("sweep applies %e of attempt %d: epoch %d is %e, owner session %d\n", seen, seen_epoch, epoch, state, owner);
		if
		:: seen == lease_end && in_run && epoch == seen_epoch && same_owner && same_renewal ->
			assert(lease_ran_out[owner]); /* a live attempt with a renewed lease is never taken away */
			reached(REACH_LEASE_ENDED);
			again();
			presumed_lost = (state == ready)
		:: seen == silent_start && still_starting && epoch == seen_epoch ->
			assert(state == starting);    /* a confirmed start is not silent */
			reached(REACH_SILENT_START);
			again()
		:: seen == lease_end && in_run && epoch == seen_epoch && !same_owner ->
			reached(REACH_SWEEP_REFUSED_AFTER_TAKEOVER)
		:: seen == lease_end && in_run && epoch == seen_epoch && same_owner && !same_renewal ->
			reached(REACH_SWEEP_REFUSED_AFTER_RENEWAL)
		:: else
		fi;
		seen = nothing; seen_epoch = 0; seen_owner = 0; seen_renewal = 0;
		one_owner()
	}
}

/* Everything that the servers commit, but for the paused sweep. */
active proctype servers()
{
	byte listed, listed_n;
	byte seen_epoch, seen_owner, seen_renewal;
	mtype:sweep_kind seen = nothing;

end:	do
	:: claim(1) :: claim(2) :: claim(3)
	:: opening(1) :: opening(2)
	:: heartbeat(1, 1) :: heartbeat(2, 1)
#if HEARTBEATS > 1
	:: heartbeat(1, 2) :: heartbeat(2, 2)
#endif
	:: result(1)
#if MAX_EPOCH > 1
	:: result(2)
#endif
#if MAX_EPOCH > 2
	:: result(3)
#endif
	:: atomic { read_expired(); apply_sweep() }
	:: atomic { read_silent(); apply_sweep() }
	/* A tick: service time passes the end of a lease. Only of one that can be renewed again, or whose worker is dead; worker B is
	   the healthy one. (The end of a lease without attempts only keeps claims away.) */
	:: d_step { in_run && owner != 3 && !lease_ran_out[owner] && (heartbeats_sent[owner] < HEARTBEATS || life[A] != owner) ->
		lease_ran_out[owner] = true;
		printf("tick: the lease of session %d runs out\n", owner) }
	/* Messages of an ended session and late openings have no effect, so they are no steps; here we see that they exist. */
	:: POINT == REACH_FENCED_ENDED_SESSION && session[1] == ended && heartbeats_sent[1] > renewal[1] -> reached(REACH_FENCED_ENDED_SESSION)
	:: POINT == REACH_LATE_OPENING_REFUSED && session[1] == unknown && session[2] == live -> reached(REACH_LATE_OPENING_REFUSED)
	od
}

/* A server that reads "expired" or "silent" and then pauses for as long as it likes. */
active proctype paused_server()
{
	byte seen_epoch, seen_owner, seen_renewal;
	mtype:sweep_kind seen = nothing;

end:	do
	:: read_expired()
	:: read_silent()
	:: apply_sweep()
	od
}

#ifdef MUTANT_OLD_ASSIGNMENT_STARTS
#define is_new(w, e) ((e) > seen_assignment[w])
#else
#define is_new(w, e) ((e) > seen_assignment[w] && (e) > named_n[w])
#endif

inline assignment(w, e)
{
	d_step {
		opened[w] && assigned_to[e] == life[w] && is_new(w, e) ->
		assert(!did_not_start[e]);            /* what was declared not started never starts */
		n[w] = (e > n[w] -> e : n[w]);
		seen_assignment[w] = e;
		disk_epoch[w] = e;                    /* an older attempt of the job on this host is killed first */
		disk[w] = process_runs;
		started[e] = true;
		printf("worker %d starts attempt %d\n", w, e)
	}
}

inline worker_step(w)
{
	if
	:: d_step { !opened[w] && life[w] != 0 && session[life[w]] == live -> opened[w] = true }
	:: assignment(w, 1)
#if MAX_EPOCH > 1
	:: assignment(w, 2)
#endif
#if MAX_EPOCH > 2
	:: assignment(w, 3)
#endif
	/* The assignment of another job, drawn later, overtakes that of this job. */
	:: d_step { w == A && opened[w] && epoch != 0 && assigned_to[epoch] == life[w] && epoch > n[w] ->
		n[w] = epoch;
		printf("worker %d sees a later assignment, not attempt %d\n", w, epoch) }
	:: POINT == REACH_ASSIGNMENT_DISCARDED && epoch != 0 && opened[w] && assigned_to[epoch] == life[w] && epoch > seen_assignment[w] && !is_new(w, epoch) ->
		reached(REACH_ASSIGNMENT_DISCARDED)
	:: d_step { w == A && opened[w] && heartbeats_sent[life[w]] < HEARTBEATS ->
		heartbeats_sent[life[w]]++;
		heartbeat_lists[heartbeat_of(life[w], heartbeats_sent[life[w]])] = disk_epoch[w];
		heartbeat_n[heartbeat_of(life[w], heartbeats_sent[life[w]])] = n[w];
		named_n[w] = n[w];
		printf("session %d sends heartbeat %d: lists attempt %d, n = %d\n", life[w], heartbeats_sent[life[w]], disk_epoch[w], n[w]) }
	:: disk[w] == process_runs -> disk[w] = ended_well      /* the shim does this, with or without a worker */
	:: disk[w] == process_runs -> disk[w] = ended_badly
	:: d_step { opened[w] && (disk[w] == ended_well || disk[w] == ended_badly) && report[disk_epoch[w]] == no_process && !answered_over[disk_epoch[w]] ->
		report[disk_epoch[w]] = disk[w];
		printf("session %d reports attempt %d: %e\n", life[w], disk_epoch[w], disk[w]) }
	:: d_step { opened[w] && disk_epoch[w] != 0 && answered_over[disk_epoch[w]] ->
		if
		:: disk[w] == process_runs -> reached(REACH_STOPPED_AS_FENCED)
		:: else
		fi;
		disk_epoch[w] = 0;
		disk[w] = no_process }
	fi
}

active proctype worker_a()
{
end:	do
	:: worker_step(A)
	/* kill -9 and restart: the disk stays, the memory goes */
	:: d_step { life[A] == 1 -> life[A] = 2; opening_lists[2] = disk_epoch[A]; opened[A] = false;
		n[A] = 0; named_n[A] = 0; seen_assignment[A] = 0;
		printf("worker 0 is killed; session 2 begins with attempt %d on disk\n", disk_epoch[A]) }
	od
}

active proctype worker_b()
{
end:	do
	:: worker_step(B)
	od
}

/* Nothing is stuck: when nothing can happen any more, the job has ended and no attempt is left on a disk. `check` proves apart
   that every history is finite, so that each one comes here. */
active proctype rest()
{
end:	timeout ->
	assert(final);                /* nothing is stuck */
	assert(disk_epoch[A] == 0 && disk_epoch[B] == 0);
	if
	:: state == succeeded -> reached(REACH_SUCCEEDED)
	:: else -> reached(REACH_FAILED)
	fi
}
