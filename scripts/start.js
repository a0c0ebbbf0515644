// `npm start`: builds, then runs the platform in this process. npm passes signals only to the shell that it starts, so that
// shell must become this process: `exec` does that; where the shell does not know it, the second command runs.
import './build.js'

if (!process.exitCode) {
  process.argv.push('start')
  await import('../app/bin/svc-platform.js')
}
