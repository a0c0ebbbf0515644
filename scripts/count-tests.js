// Sums the reports of several test runs and prints one line; fails when no test ran.
import { readFileSync } from 'node:fs'

const count = { passed: 0, failed: 0, skipped: 0 }
for (const path of process.argv.slice(2)) {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numFailedTestSuites } = JSON.parse(
    readFileSync(path, 'utf8'),
  )
  count.passed += numPassedTests
  // A file that could not be loaded has no tests, and counts as failed.
  count.failed += Math.max(numFailedTests, numFailedTestSuites > 0 ? 1 : 0)
  count.skipped += numPendingTests + numTodoTests
}
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
if (count.passed === 0 || count.failed > 0) process.exitCode = 1
