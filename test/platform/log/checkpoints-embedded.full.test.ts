// The same on the embedded database, where the fast suite has a server to run it on.
import './checkpoints.test.js'
