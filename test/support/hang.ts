// Nothing here is a measure of speed: that is the benchmarks' work.

/** What takes this long, on the slowest machine and beside any load, grows faster than its input: ms. */
export const hangMs = 30_000
