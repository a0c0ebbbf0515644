// oscal.test.ts with large reports and more hostile ones.
import './oscal.test.js'
