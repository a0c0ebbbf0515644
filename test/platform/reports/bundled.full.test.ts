// bundled.test.ts with more histories.
import './bundled.test.js'
