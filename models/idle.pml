/*
 * idle.pml: what may stay in memory while nothing is to be done. RULES T4, O3, O7; promises [P2] [P8].
 *
 * One server with its store in its own process, one worker, one job under a key. Time is counted here, since leases are compared: it
 * passes in steps, for everybody at once; the server's service time stands still while it is dead, and goes back to what is on disk. A
 * heartbeat is one step (lease.pml has messages that are late, lost and repeated). The worker counts its lease from before it asks.
 * The shim kills MARGIN before that lease ends; the server gives the key away when its own one does.
 */

/* check: more -DUNWRITTEN_MAX=4 */
#include "common.h"

#define LEASE 5
#define MARGIN 1
#define END 16                  /* of time */
#ifndef UNWRITTEN_MAX
#define UNWRITTEN_MAX 3
#endif

mtype:point = { NOWHERE, REACH_UNWRITTEN_RENEWAL, REACH_CRASH_LOSES_A_RENEWAL, REACH_RUNS_AFTER_A_CRASH, REACH_KEY_GIVEN_AWAY,
	REACH_SUSPECT_UNTIL_HEARD };

byte real;                      /* time */

/* The server: in memory, and on disk. Service time and what it compares. */
byte now, now_on_disk;
byte lease = LEASE, lease_on_disk = LEASE;
byte unwritten_since;           /* service time; only if something is */
bool is_unwritten, is_dead, heard = true;
bool runs, key_given_away;      /* written whenever they change */

/* The worker and its shim. */
byte lease_of_worker = LEASE;
byte tick_seen;
bool is_cut;

#define shim_is_alive (runs && real + MARGIN < lease_of_worker)

inline write_all()
{
	now_on_disk = now; lease_on_disk = lease; is_unwritten = false
}

/* Nothing runs and nothing is new: it may stay in memory. */
inline leave_unwritten()
{
	if
	:: !is_unwritten -> is_unwritten = true; unwritten_since = now
	:: else
	fi
}

/* Only ticks make it older. */
inline leave_for_a_while()
{
	leave_unwritten();
#ifndef MUTANT_UNWRITTEN_FOR_EVER
	if
	:: now - unwritten_since >= UNWRITTEN_MAX -> write_all()
	:: else
	fi
#else
	skip
#endif
}

proctype server()
{
end:	do
	:: atomic { real < END && !is_dead ->                             /* a tick */
		printf("time %d: tick\n", real + 1);
		real++; now++;
#ifdef MUTANT_WORK_STAYS_UNWRITTEN
		leave_for_a_while();
#else
		if
		:: runs -> write_all()
		:: else -> leave_for_a_while()
		fi;
#endif
		assert(now - now_on_disk <= UNWRITTEN_MAX)                   /* a crash sets time back by no more: waits end */
	}
	:: atomic { real < END && is_dead -> real++ }
	:: atomic { !is_dead ->
		printf("the server is killed\n");
		if
		:: lease != lease_on_disk -> reached(REACH_CRASH_LOSES_A_RENEWAL)
		:: else
		fi;
		is_dead = true; is_unwritten = false; heard = false;
		now = now_on_disk; lease = lease_on_disk }
	:: atomic { is_dead -> printf("the server starts\n"); is_dead = false }
	:: atomic { !is_dead && !runs && !key_given_away && !is_cut && now < lease ->
		if                                                           /* claim and go */
#ifndef MUTANT_CLAIM_BEFORE_IT_IS_HEARD
		:: !heard -> reached(REACH_SUSPECT_UNTIL_HEARD)
#endif
		:: else ->
			printf("go\n");
			runs = true; write_all();
			if
			:: now < real -> reached(REACH_RUNS_AFTER_A_CRASH)
			:: else
			fi
		fi }
	:: atomic { !is_dead && runs && now >= lease ->                   /* a sweep */
		printf("the key is given away\n");
		reached(REACH_KEY_GIVEN_AWAY);
		assert(!shim_is_alive);                                      /* [P8] */
		runs = false; key_given_away = true; write_all() }
	od
}

proctype worker()
{
end:	do
	:: atomic { !is_dead && !is_cut ->                                /* a heartbeat, and its answer */
		assert(tick_seen <= now);                                    /* else the server believes that commits were lost */
		lease_of_worker = real + LEASE;
		lease = now + LEASE;
		if
		:: heard && !runs -> reached(REACH_UNWRITTEN_RENEWAL); leave_unwritten()
#ifdef MUTANT_WORK_STAYS_UNWRITTEN
		:: heard && runs -> leave_unwritten()
		:: !heard -> write_all()
#else
		:: else -> write_all()
#endif
		fi;
		heard = true;
#ifdef MUTANT_UNWRITTEN_TICK_IS_TOLD
		tick_seen = now
#else
		tick_seen = now_on_disk
#endif
	}
	:: atomic { !is_cut -> printf("the link is cut\n"); is_cut = true }
	:: atomic { is_cut -> printf("the link is mended\n"); is_cut = false }
	od
}

init { atomic { run server(); run worker() } }
