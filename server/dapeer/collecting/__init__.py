"""What programs collect while they run. Pure.

The way of a row:

* A breakpoint that collects, or a function, is a `Point` of its program (`rows/collected`).
* The program writes a row each time it comes by, into a file that `rows/rows_file` reads; elsewhere a log point's output is
  made a row, which `rows/process_rows` takes.
* `rows/collected` keeps the rows of each point and process, in tables (`rows/rows`, `rows/row_blocks`).
* `text/summary` sums them up, `text/row_listing` lists them; calls are a tree (`text/calls`).
* `comparison/` aligns the rows of two runs.
"""
