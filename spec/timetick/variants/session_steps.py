"""Steps of sessions that variants with different bases share.

They are functions: a class adopts one by its name, ``learn = session_steps.learn``, and the pins compare it
there.
"""

from typing import Any

from tidemark.spec.language import action, implies, require
from tidemark.spec.timetick import TimeTick


@action(
    fairness="weak",
    source="facts 4: addSession; hazard 10",
    relies_on=("sessions.each_change_has_its_revision",),
)
def learn(s: Any, p: TimeTick.Source) -> None:
    """The watch reports a session that has begun; its lease may have ended already."""
    require(s.up & ~s.known[p])
    require(s.session[p] != "none")
    require(~s.fenced[p])
    s.known[p] = True


@action(
    fairness="weak",
    source="facts 4: delSession; hazard 11",
    relies_on=("sessions.who_serves_is_known_or_refused",),
)
def forget(s: Any, p: TimeTick.Source) -> None:
    """The watch has reported the end: if the source has served, the logs refuse it."""
    require(implies(s.serves[p], s.refused(p)))
    TimeTick.forget(s, p)
