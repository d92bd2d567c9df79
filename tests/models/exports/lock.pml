/* The state; maps are arrays, row-major. */
byte place[2] = Place_resting;           /* Place by Process 0..1 */
bool taken = false;                      /* Bool false..true */

/* Not part of the state: values after a step, and what was found. */
hidden byte exclusion_holds = true;
#define found(flag, condition) flag && condition -> flag = false; assert(flag)

/* ask: Ask for the lock. */
#define ask_enabled(p) (place[p] == Place_resting)
inline ask(p) {
  place[p] = Place_waiting
}

/* enter: Take the lock. */
#define enter_enabled(p) ((place[p] == Place_waiting) && !taken)
inline enter(p) {
  place[p] = Place_critical;
  taken = true
}

/* work: Do what the lock is for. */
#define work_enabled(p) (place[p] == Place_critical)
inline work(p) {
  place[p] = Place_leaving
}

/* leave: Give the lock back. */
#define leave_enabled(p) (place[p] == Place_leaving)
inline leave(p) {
  place[p] = Place_resting;
  taken = false
}


/* exclusion: No two processes are inside. */
#define exclusion_1(p, q) \
  ((p == q) || (place[p] != Place_critical) || (place[q] != Place_critical))
#define exclusion \
  (exclusion_1(0, 0) && exclusion_1(0, 1) && exclusion_1(1, 0) && exclusion_1(1, 1))


active proctype run_Lock() {
  end:
  do
  :: d_step { ask_enabled(0) -> ask(0) }
  :: d_step { ask_enabled(1) -> ask(1) }
  :: d_step { enter_enabled(0) -> enter(0) }
  :: d_step { enter_enabled(1) -> enter(1) }
  :: d_step { work_enabled(0) -> work(0) }
  :: d_step { work_enabled(1) -> work(1) }
  :: d_step { leave_enabled(0) -> leave(0) }
  :: d_step { leave_enabled(1) -> leave(1) }
  :: d_step { found(exclusion_holds, !exclusion) }
  od
}
