"""The proxy's half of the time tick: the DML task queue, its statistics, the ticker and its reports."""
