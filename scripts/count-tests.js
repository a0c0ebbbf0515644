// Sums the reports of several test runs: names the failed tests, then prints one line. Fails when a test failed or when none ran.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const count = { passed: 0, failed: 0, skipped: 0 }
for (const path of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(path, 'utf8'))
  count.passed += report.numPassedTests
  // A file that could not be loaded has no tests, and counts as failed.
  count.failed += Math.max(report.numFailedTests, report.numFailedTestSuites > 0 ? 1 : 0)
  count.skipped += report.numPendingTests + report.numTodoTests
  for (const { name, status, message, assertionResults } of report.testResults) {
    if (status !== 'failed') continue
    const failed = assertionResults.filter((result) => result.status === 'failed')
    for (const { fullName, failureMessages } of failed) printFailure(path, name, fullName, failureMessages.join('\n'))
    if (failed.length === 0) printFailure(path, name, 'the file', message)
  }
}
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
if (count.passed === 0 || count.failed > 0) process.exitCode = 1

/** Prints one failed test: the run, the file, the test, and the first lines of its message. */
function printFailure(report, file, test, message) {
  const lines = message.split('\n').slice(0, 12)
  console.log(
    `failed (${basename(report, '.json')}) ${file}\n  ${test}\n${lines.map((line) => `    ${line}`).join('\n')}`,
  )
}
