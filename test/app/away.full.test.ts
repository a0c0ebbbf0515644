// A start while GitHub does not answer: the platform serves, says so once with the remedy, and works when GitHub is back.
import { afterAll, expect, it } from 'vitest'
import { type AppProcess, eventually, openAppProcess, payments, runsOf } from '../support/server/app-process.js'

const opened: { readonly close: () => Promise<unknown> }[] = []
afterAll(async () => {
  for (const one of opened) await one.close()
})

it('starts without GitHub, and works once it answers', async () => {
  const app: AppProcess = await openAppProcess([], { SVC_LOG_LEVEL: 'info' })
  opened.push(app)
  await app.platform.terminate()
  app.github.faults.answer = () => ({ kind: 'cut' })
  const asked = app.github.requests.length
  const platform = await app.start()
  expect((await fetch(`${platform.url}/readyz`)).status).toBe(200)
  await eventually('GitHub was asked three times', () => app.github.requests.length >= asked + 3)
  const lines = () => platform.printed.split('\n').filter((line) => line.includes('githubstatus'))
  expect(lines().length).toBe(1)
  expect(lines()[0]).toMatch(/SVC_GITHUB_API_URL/)
  expect(platform.printed).not.toMatch(/"level":50/)
  app.github.faults.answer = () => null
  const { repository } = await app.connect('acme', { 'a.yaml': payments(500) })
  const { head_sha } = app.github.openPull(repository, { branch: 'change', files: { 'a.yaml': payments(200) } })
  await eventually('the check is completed', () =>
    runsOf(app.github, head_sha).some(({ conclusion }) => conclusion === 'success'),
  )
  await eventually('the log says that GitHub is back', () => platform.printed.includes('GitHub answers again'))
})
