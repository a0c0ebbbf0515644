// The handlers of events, as data: they only send jobs, and only for repositories of the workspace.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Members } from '../../app/github/members.js'
import type { HandlerParts } from '../../app/handlers/handler.js'
import { handlers, isHandled } from '../../app/handlers/handlers.js'

interface Case {
  readonly event: string
  readonly payload: Members
  readonly calls: readonly string[]
}

const sha = '0123456789abcdef0123456789abcdef01234567'
const text = readFileSync(new URL('../cases/app-handlers.yaml', import.meta.url), 'utf8')
const cases: readonly Case[] = parse(text.replaceAll(/\bsha\b(?=[ ,\]}])|\bSHA\b/g, sha))

function recording(): { readonly parts: HandlerParts; readonly calls: string[] } {
  const calls: string[] = []
  const record =
    (name: string) =>
    async (...given: readonly unknown[]) => {
      calls.push([name, ...given.map((one) => (typeof one === 'object' ? JSON.stringify(one) : one))].join(' '))
    }
  const parts = {
    app_id: 12,
    connections: async (installation_id: number, github_id: number) =>
      installation_id === 7 && github_id === 70
        ? [
            { repo_id: 2, branch: 'main' },
            { repo_id: 3, branch: 'next' },
          ]
        : [],
    followPush: record('followPush'),
    checkPullRequest: record('checkPullRequest'),
    checkMergeGroup: record('checkMergeGroup'),
    checkHead: record('checkHead'),
    followInstallation: record('followInstallation'),
  }
  return { parts, calls }
}

describe('a handler', () => {
  it.each(cases)('of $event', async ({ event, payload, calls: expected }) => {
    const { parts, calls } = recording()
    for (const { events, run } of handlers) if (events.includes(event)) await run(parts, payload)
    expect(calls).toEqual(expected)
  })

  it('exists once for an event', () => {
    const events = handlers.flatMap((one) => one.events)
    expect(new Set(events).size).toBe(events.length)
    const seen = new Set(cases.map(({ event }) => event.split('.')[0]))
    expect([...new Set(events.map((event) => event.split('.')[0]))].filter((name) => !seen.has(name))).toEqual([])
  })

  it.each([
    ['push', null, true],
    ['push', 'created', true],
    ['pull_request', 'opened', true],
    ['pull_request', 'labeled', false],
    ['pull_request', null, false],
    ['check_run', 'completed', false],
    ['github_app_authorization', 'revoked', false],
    ['toString', null, false],
  ])('of %s %s: %s', (event, action, expected) => {
    expect(isHandled(event, action)).toBe(expected)
  })
})
