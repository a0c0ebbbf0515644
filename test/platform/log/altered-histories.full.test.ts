// More histories of altered-histories.test.ts; SVC_ALTERED_HISTORIES=300 plays 300.
import './altered-histories.test.js'
