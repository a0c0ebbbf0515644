// governance.test.ts on both databases.
import './governance.test.js'
