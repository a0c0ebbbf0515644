// bundle.test.ts on the embedded database; the fast suite runs it on a server where the machine has one.
import './bundle.test.js'
