-------------------------------- MODULE Lock ---------------------------------
\* Processes and one lock, with a step before the critical part and one after it.
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Process_count

Process == 0 .. Process_count - 1
Place == {"resting", "waiting", "critical", "leaving"}

VARIABLES
  place,                   \* \in [Process -> Place]
  taken                    \* \in BOOLEAN

vars == <<place, taken>>

Init ==
  /\ place = [k1 \in Process |-> "resting"]
  /\ taken = FALSE

\* Ask for the lock.
ask(p) ==
  /\ place[p] = "resting"
  /\ place' = [place EXCEPT ![p] = "waiting"]
  /\ UNCHANGED <<taken>>

\* Take the lock.
enter(p) ==
  /\ place[p] = "waiting"
  /\ ~taken
  /\ place' = [place EXCEPT ![p] = "critical"]
  /\ taken' = TRUE

\* Do what the lock is for.
work(p) ==
  /\ place[p] = "critical"
  /\ place' = [place EXCEPT ![p] = "leaving"]
  /\ UNCHANGED <<taken>>

\* Give the lock back.
leave(p) ==
  /\ place[p] = "leaving"
  /\ place' = [place EXCEPT ![p] = "resting"]
  /\ taken' = FALSE

Next ==
  \/ \E p \in Process : ask(p)
  \/ \E p \in Process : enter(p)
  \/ \E p \in Process : work(p)
  \/ \E p \in Process : leave(p)

Spec == Init /\ [][Next]_vars

\* Fairness is meant for each action with each value of its parameters.
Fairness ==
  /\ \A p \in Process : WF_vars(ask(p))
  /\ \A p \in Process : SF_vars(enter(p))
  /\ \A p \in Process : WF_vars(work(p))
  /\ \A p \in Process : WF_vars(leave(p))

\* No two processes are inside.
exclusion ==
  \A p \in Process, q \in Process :
    (p = q) \/ (place[p] # "critical") \/ (place[q] # "critical")

\* Whoever asks gets the lock.
served == Fairness => (\A p \in Process : (place[p] = "waiting") ~> (place[p] = "critical"))

\* Everybody asks now and then.
asked == Fairness => (\A p \in Process : (place[p] = "resting") ~> (place[p] = "waiting"))

==============================================================================
