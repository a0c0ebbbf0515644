// Thousands of honest entries, in every spelling and depth that the API accepts: no verifier reports one as altered.
import { describeHonestEntries } from '../../support/log/honest-log.js'

await describeHonestEntries(Number(process.env.SVC_HONEST_ENTRIES ?? 10_000))
