// A few random histories of branches against the model; model.night.test.ts plays hundreds.
import { describeHistories } from '../../support/log/history-suite.js'

await describeHistories({ memory: 15, git: 1, steps: 10 })
