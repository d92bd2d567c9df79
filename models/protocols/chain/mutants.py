"""The mutants of the parts, in the whole chain: what they do to the logs."""

from dataclasses import replace

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.chain.ddl import ddl_chain
from tidemark.models.protocols.chain.program import chain
from tidemark.models.protocols.proxy.mutants import implementation as proxy_impl
from tidemark.models.protocols.timetick.mutants import implementation as timetick_impl

PROMISE = "watermark_promise"
ONE = Host("chain-one-write", chain)
LATE = Host("chain-late-append", chain)

_OF_PARTS = {one.name: one for one in (*proxy_impl.MUTANTS, *timetick_impl.MUTANTS)}

MUTANTS = patches(
    __name__,
    replace(_OF_PARTS["lock-is-lost"], on=ONE, killer=PROMISE, source="hazard 26, B7"),
    replace(_OF_PARTS["now-after-the-snapshot"], on=ONE, killer=PROMISE),
    replace(_OF_PARTS["no-minus-one"], on=ONE, killer=PROMISE),
    replace(_OF_PARTS["unknown-outcome-is-popped"], on=LATE, killer=PROMISE, tier="full"),
    replace(_OF_PARTS["ddl-key-collides"], on=ONE, killer=PROMISE),
    replace(_OF_PARTS["tick-is-the-greatest-report"], on=ONE, killer=PROMISE),
    Patch(
        "one-proxy-closes-the-round",
        at=timetick_impl.SYNC + "_close_if_complete",
        old="not self.entries or None in self.entries.values()",
        new="len([report for report in self.entries.values() if report]) < 2",
        killer=PROMISE,
        on=Host("chain-one-write-of-two", chain),
        source="facts 4",
        tier="full",
        says="A round is over when the DDL source and any one proxy have reported.",
    ),
    Patch(
        "writes-before-it-serves",
        at="proxy/proxy.py:Proxy.submit",
        old="await self.serving.wait()",
        new="pass",
        killer=PROMISE,
        on=Host("chain-early-write", chain),
        source="hazard 10",
        says="A proxy takes a write before the coordinator waits for it.",
    ),
    Patch(
        "default-minimum-ignores-the-scheduler",
        at="rootcoord/ddl_source.py:DdlSource.minimum",
        old="min(background, self.scheduler.min_ddl_ts)",
        new="background",
        killer=PROMISE,
        on=Host("chain-ddl-task-and-job", ddl_chain),
        source="seed 002, sendMinDdlTsAsTt",
        says="The coordinator's own DDL source leaves the tasks of clients out.",
    ),
    Patch(
        "one-silent-oracle-ends-the-dummies",
        at=timetick_impl.ROOT + "_run_dummies",
        old="continue",
        new="raise",
        killer="execution",
        on=Host("chain-ddl-silent-oracle", ddl_chain),
        source="B11",
        says="A call of the oracle fails, and with it the loop that moves the minimum: ticks stop for good.",
    ),
)
