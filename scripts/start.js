// `npm start`: builds what is not built, then runs the platform in this process. npm passes a signal to the shell that it
// starts only, so that shell must become this process: `exec` does that; where it is unknown the second half runs.
import './build.js'

if (!process.exitCode) {
  process.argv.push('start')
  await import('../platform/bin/svc-platform.js')
}
