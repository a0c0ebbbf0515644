// reports.test.ts on the embedded database; the fast suite runs it on a server where the machine has one.
import './reports.test.js'
