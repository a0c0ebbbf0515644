// More histories of honest-histories.test.ts; SVC_HONEST_HISTORIES=300 plays 300.
import './honest-histories.test.js'
