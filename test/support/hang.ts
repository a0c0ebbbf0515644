// The limit beyond which a test counts work as hanging. Benchmarks measure speed.

/** Work that takes longer, on any machine under any load, grows faster than its input, ms. */
export const hangMs = 30_000
