/* Shared by all models. `reached(REACH_X)` marks a point that the base model must be able to come to: the checker compiles the
   model once for each with -DPOINT=REACH_X and requires a violation. */
#ifndef POINT
#define POINT NOWHERE
#endif
#define reached(point) assert(POINT != point)

/* `printf` does nothing in a verification and tells the story when a trail is replayed. */
