// The 300 histories of honest-histories.test.ts.
import './honest-histories.test.js'
