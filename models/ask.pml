/*
 * ask.pml: how a `once` job starts. RULES O4, O5, O7, O8, E1, E2; promises [P4] [P9].
 *
 * One job, two attempts, one worker with up to LIVES lives on one state directory, a shim per attempt; worker and shim may be
 * killed or pause at every step. A server that dies between commit and answer is a lost answer. Network as in lease.pml.
 * Time: "the 3 s of all asks so far are over" and "the lease is over on the host" may happen at any moment; a lease is over on the
 * host before it is for the server (O7). Abstracted: opening and heartbeats (one step, lease.pml has them), results, `hold` (any
 * length, also 0). Two rules of the base model are not in the text of O4: `go_outlived`, a server gives an attempt up (quarantine,
 * key and limit free) only when every go that it answered is over; and the shim looks again after `started` is durable.
 */

/* check: finite -DLIVES=1 */
/* check: deep finite */
/* check: deep -DLIVES=3 */
#include "common.h"

#define MAX_EPOCH 2
#ifndef LIVES
#define LIVES 2
#endif
#define ASKS 2          /* per attempt: the first and a repeated one */
#define SHIM_KILLS 1
#define LAPSES 2        /* how often the lease runs out on the host */

mtype:point = { NOWHERE, REACH_EXEC, REACH_EXEC_AFTER_RELEASE, REACH_SECOND_ASK_SAME_ANSWER, REACH_FENCED_ASK, REACH_OLD_GO_REFUSED,
	REACH_OLD_GO_REFUSED_AFTER_RELEASE, REACH_REFUSED_AFTER_STARTED, REACH_QUARANTINED_AFTER_HOLD, REACH_QUARANTINED_BY_LOCK_HOLDER,
	REACH_QUARANTINED_BUT_NEVER_RAN, REACH_DID_NOT_RUN_BY_LOCK_HOLDER, REACH_DID_NOT_RUN_OF_ENDED_SESSION_REFUSED,
	REACH_REINSTATED_IN_HOLD, REACH_SHIM_ADOPTED_THEN_EXEC, REACH_LATE_RESULT_FILED, REACH_CANCELLED_BEFORE_START,
	REACH_UNLISTED_DID_NOT_RUN, REACH_SILENT_DID_NOT_RUN, REACH_EXEC_AFTER_DID_NOT_RUN, REACH_ENDED };

mtype:job_state = { ready, starting, running, quarantined, over };
mtype:shim_state = { no_shim, waiting, has_go, wrote_started, about_to_exec, process_runs };
mtype:lock_holder = { free, shim, worker };

/* The store. */
mtype:job_state state = ready;
byte epoch;
byte owner;                           /* session of the attempt */
byte session = 1;                     /* the session that has opened last: all others have ended */
bool lease_ended;                     /* by a commit: attempts in `running` are owner lost */
bool committed_running[MAX_EPOCH + 1];

/* The host: lease as the shims know it; directories and locks, which outlive the worker. */
bool lease_good = true;
bool directory[MAX_EPOCH + 1];
bool started[MAX_EPOCH + 1];          /* durable */
bool refused[MAX_EPOCH + 1];          /* durable: written by a shim that found its go too old after `started` */
bool result[MAX_EPOCH + 1];           /* durable */
mtype:lock_holder lock[MAX_EPOCH + 1] = free;
mtype:shim_state phase[MAX_EPOCH + 1] = no_shim;
byte go_number[MAX_EPOCH + 1];        /* the ask that the shim's go answers */
byte go_refused[MAX_EPOCH + 1];       /* a go that was refused once is not looked at again */

/* The worker's memory. */
byte life = 1;
bool opened = true;
byte n;                               /* highest assignment seen */

/* The network. */
byte assigned_to[MAX_EPOCH + 1];
byte asks_sent[MAX_EPOCH + 1];
byte asks_over[MAX_EPOCH + 1];        /* asks up to this one were sent more than 3 s ago */
byte ask_session[(MAX_EPOCH + 1) * (ASKS + 1)];
bool go[(MAX_EPOCH + 1) * (ASKS + 1)];
byte said_did_not_run[MAX_EPOCH + 1]; /* session that said so, holding the lock */
bool said_may_have_run[MAX_EPOCH + 1];

byte lapses, shim_kills;

/* What is true, for the assertions only. */
bool executed[MAX_EPOCH + 1];
bool did_not_run[MAX_EPOCH + 1];      /* what the store believes */
bool released[MAX_EPOCH + 1];
byte executions, releases;

#define ask_of(e, k)     ((e) * (ASKS + 1) + (k))
#define in_run           (state == starting || state == running)
#define answered_go(e)   ((go[ask_of(e, 1)] && asks_over[e] < 1) || (go[ask_of(e, 2)] && asks_over[e] < 2))

#if defined(MUTANT_GIVE_UP_BEFORE_GO_IS_OVER) || defined(HOLDS_LEASE_CONFIRMED_PER_ATTEMPT)
#define go_outlived      true
#elif defined(MUTANT_GIVE_UP_COUNTS_FIRST_GO_ONLY)
#define go_outlived      (go[ask_of(epoch, 1)] -> asks_over[epoch] >= 1 : !answered_go(epoch))
#else
#define go_outlived      (!answered_go(epoch))
#endif

inline again()                        /* the attempt did not run: another one may */
{
	assert(!executed[epoch]);     /* never "did not run" of what ran */
	printf("store: attempt %d did not run\n", epoch);
	did_not_run[epoch] = true;
	state = (epoch < MAX_EPOCH -> ready : over)
}

inline claim()
{
	d_step { state == ready && epoch < MAX_EPOCH && !lease_ended ->
		epoch++;
		owner = session;
		assigned_to[epoch] = session;
		state = starting;
		printf("claim: epoch %d for session %d\n", epoch, session) }
}

#ifdef MUTANT_ASK_NOT_FENCED
#define ask_counts(e, k)  (in_run)
#else
#define ask_counts(e, k)  (in_run && epoch == (e) && owner == ask_session[ask_of(e, k)] && !lease_ended)
#endif

inline ask(e, k)
{
	d_step { k <= asks_sent[e] && !go[ask_of(e, k)] && ask_counts(e, k) ->
		if
		:: state == running -> reached(REACH_SECOND_ASK_SAME_ANSWER)
		:: else
		fi;
#ifndef MUTANT_GO_BEFORE_COMMIT
		state = running;
		committed_running[epoch] = true;
#endif
		go[ask_of(e, k)] = true;
		printf("server commits running, answers go to ask %d of attempt %d\n", k, e) }
}

/* What the worker says of attempt e. "Did not run" counts only from the current session: a later life may have started it. */
#ifdef MUTANT_DID_NOT_RUN_FROM_ENDED_SESSION
#define from_current(s)  true
#else
#define from_current(s)  ((s) == owner)
#endif

inline reports(e)
{
	if
	:: d_step { said_did_not_run[e] != 0 && in_run && epoch == e && from_current(said_did_not_run[e]) ->
		reached(REACH_DID_NOT_RUN_BY_LOCK_HOLDER);
		again() }
	:: POINT == REACH_DID_NOT_RUN_OF_ENDED_SESSION_REFUSED && said_did_not_run[e] != 0 && in_run && epoch == e && said_did_not_run[e] != owner ->
		reached(REACH_DID_NOT_RUN_OF_ENDED_SESSION_REFUSED)
	:: d_step { refused[e] && opened && in_run && epoch == e -> again() }
	:: d_step { said_may_have_run[e] && in_run && epoch == e ->
		assert(started[e] && !refused[e]);    /* not called so needlessly */
		reached(REACH_QUARANTINED_BY_LOCK_HOLDER);
		state = quarantined }
	:: d_step { result[e] && opened && in_run && epoch == e ->
		assert(executed[e] && committed_running[e]);
		printf("report of attempt %d ends the job\n", e);
		state = over }
	:: POINT == REACH_LATE_RESULT_FILED && result[e] && !(in_run && epoch == e) && state != over -> reached(REACH_LATE_RESULT_FILED)
	:: POINT == REACH_FENCED_ASK && asks_sent[e] > 0 && !go[ask_of(e, 1)] && !ask_counts(e, 1) -> reached(REACH_FENCED_ASK)
	fi
}

active proctype servers()
{
end:	do
	:: claim()
	:: ask(1, 1) :: ask(1, 2) :: ask(2, 1) :: ask(2, 2)
	:: reports(1) :: reports(2)
	/* No ask within the confirmation time: there was no commit, so it did not run. */
	:: d_step { state == starting -> reached(REACH_SILENT_DID_NOT_RUN); again() }
	:: d_step { !lease_good && !lease_ended ->
		lease_ended = true;
		printf("the lease ends by a commit\n");
		if
		:: state == starting -> again()
		:: else
		fi }
	/* The end of `hold`. */
	:: d_step { state == running && lease_ended && go_outlived ->
#ifdef MUTANT_SILENCE_MEANS_DID_NOT_RUN
		again()
#else
		reached(REACH_QUARANTINED_AFTER_HOLD);
		if
		:: !executed[epoch] -> reached(REACH_QUARANTINED_BUT_NEVER_RAN)
		:: else
		fi;
		printf("hold is over: attempt %d is quarantined, may have run\n", epoch);
		state = quarantined
#endif
		}
	od
}

active proctype person()
{
end:	do
	/* E2: a new generation; epochs go on. */
	:: d_step { state == quarantined && epoch < MAX_EPOCH ->
		released[epoch] = true;
		releases++;
		printf("a person releases the job\n");
		state = ready }
	/* E1: cancelled before the commit of `running`, so it never starts. */
	:: d_step { state == starting ->
		reached(REACH_CANCELLED_BEFORE_START);
		did_not_run[epoch] = true;
		state = over }
	od
}

/* Heartbeat and its answer. */
#ifdef HOLDS_LEASE_CONFIRMED_PER_ATTEMPT
/* The other way: a renewed lease reaches a shim only in the answer that says that its attempt is still in run. Here the single
   flag stands for the only attempt that may start: the others are stopped before any shim hears of the new lease. */
inline stop_fenced()
{
	stop_unless_in_run(1); stop_unless_in_run(2)
}
inline stop_unless_in_run(e)
{
	if
	:: directory[e] && !(in_run && epoch == e) ->
		directory[e] = false; phase[e] = no_shim; lock[e] = free; go_number[e] = 0
	:: else
	fi
}
#else
inline stop_fenced() { skip }
#endif

inline renew()
{
	d_step { opened && !lease_good ->
		if
		:: state == running && lease_ended -> reached(REACH_REINSTATED_IN_HOLD)
		:: else
		fi;
		stop_fenced();
		printf("heartbeat: the lease is renewed\n");
		lease_good = true;
		lease_ended = false }
}

/* A new life opens: the old session ends, listed attempts go over, the unlisted never started. */
inline open()
{
	d_step { !opened ->
		opened = true;
		session = life;
		printf("session %d opens\n", life);
		lease_good = true;
		lease_ended = false;
		if
		:: in_run && directory[epoch] -> owner = life
		:: in_run && !directory[epoch] ->
			assert(state == starting);
			reached(REACH_UNLISTED_DID_NOT_RUN);
			again()
		:: else
		fi;
		stop_fenced() }
}

#ifdef MUTANT_SECOND_EXEC_IN_SAME_DIRECTORY
#define never_started(e) true
#else
#define never_started(e) (!started[e])
#endif
#ifdef MUTANT_DID_NOT_RUN_WITHOUT_LOCK
#define lock_taken(e)    true
#else
#define lock_taken(e)    (lock[e] == free)
#endif

#ifdef MUTANT_MAY_HAVE_RUN_WITHOUT_LOOKING
#define has_started(e)   true
#else
#define has_started(e)   started[e]
#endif

#ifdef MUTANT_GO_OF_ANOTHER_ATTEMPT
#define go_for(e, k)     (go[ask_of(1, k)] || go[ask_of(2, k)])
#define ask_life(e, k)   (ask_session[ask_of(1, k)] == life || ask_session[ask_of(2, k)] == life)
#else
#define go_for(e, k)     (go[ask_of(e, k)])
#define ask_life(e, k)   (ask_session[ask_of(e, k)] == life)
#endif

inline give_go(e, k)
{
	d_step { opened && go_for(e, k) && ask_life(e, k) && phase[e] == waiting && k > go_refused[e] ->
		phase[e] = has_go;
		go_number[e] = k;
		printf("worker hands go %d to the shim of attempt %d\n", k, e);
#ifdef MUTANT_GO_TIMED_FROM_RECEIPT
		asks_over[e] = (asks_over[e] >= k -> k - 1 : asks_over[e])
#endif
		}
}

inline attempt_of_worker(e)
{
	if
	:: d_step { opened && assigned_to[e] == life && e > n -> n = e; directory[e] = true; printf("worker makes the directory of attempt %d\n", e) }
	/* Also again, after a crash of the shim or of the worker. */
	:: d_step { opened && directory[e] && lock[e] == free && never_started(e) && said_did_not_run[e] != life ->
		lock[e] = shim; phase[e] = waiting; go_number[e] = 0;
		printf("worker launches the shim of attempt %d\n", e) }
	:: d_step { opened && phase[e] == waiting && asks_sent[e] < ASKS ->
		asks_sent[e]++;
		ask_session[ask_of(e, asks_sent[e])] = life;
		printf("session %d asks for attempt %d, ask %d\n", life, e, asks_sent[e]) }
	:: give_go(e, 1)
	:: give_go(e, 2)
	/* The shim is dead, the lock is ours: the directory tells. */
	:: d_step { opened && directory[e] && lock_taken(e) && !started[e] && said_did_not_run[e] == 0 ->
		if
		:: lock[e] == free -> lock[e] = worker
		:: else
		fi;
		said_did_not_run[e] = life;
		printf("session %d holds the lock of attempt %d and says: did not run\n", life, e) }
	:: d_step { opened && directory[e] && lock[e] == free && has_started(e) && !refused[e] && !result[e] && !said_may_have_run[e] ->
		lock[e] = worker;
		said_may_have_run[e] = true;
		printf("session %d holds the lock of attempt %d and says: may have run\n", life, e) }
	fi
}

active proctype worker_process()
{
end:	do
	:: attempt_of_worker(1)
	:: attempt_of_worker(2)
	:: renew()
	:: open()
	:: d_step { life < LIVES ->           /* kill -9 and restart */
		life++; opened = false; n = 0;
		printf("worker is killed, life %d begins\n", life);
		if
		:: lock[1] == worker -> lock[1] = free
		:: else
		fi;
		if
		:: lock[2] == worker -> lock[2] = free
		:: else
		fi }
	od
}

#if defined(MUTANT_GO_NEVER_EXPIRES) || defined(HOLDS_LEASE_CONFIRMED_PER_ATTEMPT)
#define go_over(e)       false
#else
#define go_over(e)       (go_number[e] <= asks_over[e])
#endif
#ifdef HOLDS_WITHOUT_LEASE_CHECK
#define go_good(e)       (!go_over(e))
#else
#define go_good(e)       (!go_over(e) && lease_good)
#endif

inline exec(e)
{
	assert(committed_running[e]);         /* never without committed running */
#ifndef MUTANT_EXEC_BEFORE_STARTED
	assert(started[e]);                   /* nor without durable started */
#endif
	assert(!executed[e]);                 /* once per attempt directory */
	assert(!did_not_run[e]);              /* what was said not to have run never runs */
	assert(!released[e]);                 /* never by the old go */
	assert(state == running && epoch == e);       /* no exec after the store gave the attempt up: key and limit are free */
	executed[e] = true;
	printf("exec of attempt %d\n", e);
	executions++;
	assert(executions <= 1 + releases);
	phase[e] = process_runs;
	reached(REACH_EXEC);
	if
	:: releases > 0 -> reached(REACH_EXEC_AFTER_RELEASE)
	:: else
	fi;
	if
	:: ask_session[ask_of(e, 1)] == 1 && life == 2 -> reached(REACH_SHIM_ADOPTED_THEN_EXEC)
	:: else
	fi;
	if
	:: epoch > 1 && releases == 0 -> reached(REACH_EXEC_AFTER_DID_NOT_RUN)
	:: else
	fi
}

inline drop_go(e)                     /* too old: wait for the next one */
{
	if
	:: released[e] -> reached(REACH_OLD_GO_REFUSED_AFTER_RELEASE)
	:: else -> reached(REACH_OLD_GO_REFUSED)
	fi;
	phase[e] = waiting;
	go_refused[e] = go_number[e];
	go_number[e] = 0
}

proctype shim_process(byte e)
{
end:	do
#ifdef MUTANT_EXEC_BEFORE_COMMIT
	:: d_step { phase[e] == waiting -> phase[e] = wrote_started; started[e] = true }
	:: d_step { phase[e] == wrote_started -> exec(e) }
#elif defined(MUTANT_EXEC_BEFORE_STARTED)
	:: d_step { phase[e] == has_go && go_good(e) -> exec(e) }
	:: d_step { phase[e] == process_runs && !started[e] -> started[e] = true }
#else
	/* Durable, and slow if the disk is: the go may grow too old meanwhile. */
	:: d_step { phase[e] == has_go && go_good(e) -> phase[e] = wrote_started; started[e] = true; printf("shim %d checks its go and writes started\n", e) }
#if defined(MUTANT_CHECK_ONLY_BEFORE_STARTED)
	:: d_step { phase[e] == wrote_started -> exec(e) }
#elif defined(LIMIT_FROZEN_BETWEEN_CHECK_AND_EXEC)
	:: d_step { phase[e] == wrote_started && go_good(e) -> phase[e] = about_to_exec }
	:: d_step { phase[e] == about_to_exec -> exec(e) }
#else
	/* Looking again and exec are one step here: nothing can make them one in the world (LIMIT_...). */
	:: d_step { phase[e] == wrote_started && go_good(e) -> exec(e) }
#endif
	:: d_step { phase[e] == wrote_started && !go_good(e) ->
		reached(REACH_REFUSED_AFTER_STARTED);
		refused[e] = true; phase[e] = no_shim; lock[e] = free }
#endif
	:: d_step { phase[e] == has_go && go_over(e) -> drop_go(e) }
	:: d_step { phase[e] == process_runs && started[e] -> result[e] = true; phase[e] = no_shim; lock[e] = free }
	:: d_step { phase[e] != no_shim && shim_kills < SHIM_KILLS ->
		shim_kills++; phase[e] = no_shim; lock[e] = free; go_number[e] = 0;
		printf("shim %d is killed\n", e) }
	/* 3 s pass. */
	:: d_step { asks_over[e] < asks_sent[e] -> asks_over[e] = asks_sent[e]; printf("3 s pass for every ask of attempt %d\n", e) }
	od
}

active proctype lease_clock()
{
end:	do
	:: d_step { lease_good && lapses < LAPSES -> lapses++; lease_good = false; printf("the lease is over on the host\n") }
	od
}

init { atomic { run shim_process(1); run shim_process(2) } }

/* Nothing is stuck: at the end of every history the job is over, or with a person who may not release it any more. */
active proctype rest()
{
end:	timeout ->
	/* `running` only because the model has no third ask: the shim still waits for a go. */
	assert(state == over || state == quarantined || (state == running && asks_sent[epoch] == ASKS &&
		phase[epoch] == waiting));
	reached(REACH_ENDED)
}
