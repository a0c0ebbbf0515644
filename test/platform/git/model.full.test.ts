// Random histories of branches against the model: pushes, deliveries, outages and operators, from two processes.
import { describeHistories } from '../../support/history-suite.js'

await describeHistories({ memory: 1000, git: 10, steps: 14 })
