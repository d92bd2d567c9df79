"""Named mutants of sessions and their coordinator, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import each, require
from tidemark.spec.sessions import Sessions

SMALL = "sessions-small"


@mutant(killer="sessions.the_view_is_the_store_of_its_revision", source="facts 4", instance=SMALL)
class ListsWhatHasBegun(Sessions):
    """The list holds sessions that are over."""

    def list_sessions(s) -> None:
        super().list_sessions()
        s.view = each(s.Node, lambda n: s.began[n] > 0)


@mutant(killer="sessions.who_serves_is_known_or_refused", source="B46", instance=SMALL)
class ServesBeforeTheFence(Sessions):
    """The coordinator serves as soon as it has the list."""

    def serve(s) -> None:
        require(s.phase == "listed")
        s.phase = "serving"


@mutant(killer="sessions.no_live_session_is_refused", source="facts 4; hazard 11", instance=SMALL)
class FencesWhatItDoesNotKnow(Sessions):
    """The coordinator fences every session that is not in its list."""

    def fence(s, n: Sessions.Node) -> None:
        require((s.phase == "listed") & ~s.fenced[n] & (s.began[n] > 0) & ~s.was_live(n, s.seen))
        s.fenced[n] = True


@mutant(killer="sessions.the_view_is_the_store_of_its_revision", source="seed 004", instance=SMALL)
class WatchesOneTooLate(Sessions):
    """The watch begins one change behind the list: off by one."""

    def serve(s) -> None:
        require(s.seen < s.revision)
        super().serve()
        s.seen = s.seen + 1


@mutant(killer="sessions.a_session_that_is_over_is_refused", source="hazard 11", instance=SMALL)
class ForgetsFromTheListOnly(Sessions):
    """The coordinator fences what it finds when it starts, and nothing later."""

    def fence(s, n: Sessions.Node) -> None:
        require(s.phase == "listed")
        super().fence(n)


@mutant(killer="sessions.a_session_becomes_known", source="seed 004: service discovery", instance=SMALL)
class IsSilentWithoutAWatch(Sessions):
    """A watch that is refused ends, and nothing begins it again."""

    def lose_watch(s) -> None:
        require(s.compacted == 0)
        super().lose_watch()


@mutant(killer="sessions.who_serves_is_known_or_refused", source="hazard 10", instance=SMALL)
class AdmitsWhomItDoesNotKnow(Sessions):
    """A report of a session that the watch has not told of yet is taken."""

    def accept(s, n: Sessions.Node) -> None:
        require((s.phase == "serving") & (s.began[n] > 0) & ~s.admitted[n])
        s.admitted[n] = True
