// A few random histories of branches against the model; model.full.test.ts plays a thousand.
import { describeHistories } from '../../support/history-suite.js'

await describeHistories({ memory: 20, git: 2, steps: 12 })
