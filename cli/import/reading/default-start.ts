/** The time of the first step without `--start`; transcripts have no times. */
export const defaultStart = '2026-01-01T00:00:00Z'
