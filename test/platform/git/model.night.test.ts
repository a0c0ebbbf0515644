// Random histories of branches against the model: pushes, deliveries, outages and operators, from two processes.
import { describeHistories } from '../../support/log/history-suite.js'

/** SVC_HISTORIES=1000 plays more of them. */
const memory = Number(process.env.SVC_HISTORIES ?? 160)

await describeHistories({ memory, git: 10, steps: 14 })
