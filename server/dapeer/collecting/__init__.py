"""What programs collect while they run.

The way of a row:

* `points` has the breakpoints that collect, each client's apart. In a program each is a `Point` (`rows/collection`).
* The program writes a row each time it comes by, into a file of the folder that `row_files` reads, in the form of
  `rows/rows_file`. Where an adapter can only log, its output is made a row (`adapters/process/log_points`), which
  `rows/collected.CollectedOutputReader` takes.
* `rows/collected` keeps the rows of each point and process in tables (`rows/table`).
* `text/summary` sums them up, and has what is new for a stop's answer; `text/row_listing` lists them; calls are a tree
  (`text/calls`). `divergence` aligns the rows of two runs.
* `dapeer.tools` has the tools that show more, a person's page a picture (`text/live_rows`, served by `mcp/server/live`).

What a program is run until (`rows/watch`) collects as well: its rows are the lines that did it (`text/watched`).
"""
