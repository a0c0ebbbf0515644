// The 300 histories of altered-histories.test.ts.
import './altered-histories.test.js'
