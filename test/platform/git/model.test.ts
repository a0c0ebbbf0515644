// Random histories of branches against the model: pushes, deliveries, outages and operators, from two processes; a few here, and
// hundreds at night. SVC_HISTORIES=1000 plays more of them.
import { describeHistories } from '../../support/log/history-suite.js'
import { runs } from '../../support/random.js'

const memory = Number(process.env.SVC_HISTORIES ?? runs(160, 5))

await describeHistories({ memory, git: runs(10), steps: runs(14, 10) })
