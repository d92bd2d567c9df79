"""Names that a Promela model may not use: words of the language, of C, and of the verifier's own code."""

_PROMELA = """
active assert atomic bit bool break byte chan d_step do else empty enabled end eval false fi for full
get_priority goto hidden if in init inline int len local ltl mtype nempty never nfull nr_pr np_ od of pc_value
pid print printf printm priority proctype provided rcv run select set_priority short show skip snd timeout
trace true typedef unless unsigned xr xs notrace notify return c_code c_decl c_expr c_state c_track D_proctype
"""
_C = """
auto case char const continue default double enum extern float long register signed sizeof static struct
switch union void volatile while restrict main exit abort signal read write open close printf malloc free log
exp time clock index abs stdin stdout stderr NULL EOF
"""
_VERIFIER = """
now this state errors depth depthfound mreached upto nstates trans trpt t_id step warned Maxbody vsize hmax
State Trans Trail uchar uint ulong
"""

RESERVED = frozenset(f"{_PROMELA} {_C} {_VERIFIER}".split())
