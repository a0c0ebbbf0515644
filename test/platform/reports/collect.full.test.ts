// All of collect.test.ts, with the recorded runs where they are available, on both databases.
import './collect.test.js'
