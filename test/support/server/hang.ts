// The time after which a test considers work to hang. Benchmarks measure speed.

/** Work that takes longer on a loaded machine does not grow in proportion to its input. */
export const hangMs = 30_000
