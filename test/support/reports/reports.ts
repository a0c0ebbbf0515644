// Reports of a platform: requested, awaited, downloaded.
import { createHash } from 'node:crypto'
import type { Report, ReportList } from '@svc/schemas'
import { expect, vi } from 'vitest'
import type { CallOptions, TestPlatform } from '../server/platform.js'
import { soon } from '../server/soon.js'

export const day = (n: number) => `2026-03-${String(n).padStart(2, '0')}T00:00:00.000Z`

/** Requests a report, as soon as the entries of its period are signed. */
export async function requestedReport(platform: TestPlatform, body: object, options: CallOptions = {}) {
  return vi.waitFor(async () => {
    const answer = await platform.call<Report>('POST', '/api/v1/reports', { ...options, body })
    expect([200, 202]).toContain(answer.status)
    return answer
  }, soon)
}

/** The report once it has reached the state. */
export async function reportIn(platform: TestPlatform, id: string, status: Report['status']): Promise<Report> {
  return vi.waitFor(async () => {
    const { body } = await platform.call<Report>('GET', `/api/v1/reports/${id}`)
    expect([body.status, body.error]).toEqual([status, status === 'failed' ? expect.any(String) : null])
    return body
  }, soon)
}

export async function listedReports(platform: TestPlatform, query = ''): Promise<ReportList> {
  return (await platform.call<ReportList>('GET', `/api/v1/reports${query}`)).body
}

/** The response of the download, not read. */
export function downloadOf(platform: TestPlatform, id: string, headers: Readonly<Record<string, string>> = {}) {
  const authorization = `Bearer ${platform.operator_token}`
  return fetch(`${platform.url}/api/v1/reports/${id}/download`, { headers: { authorization, ...headers } })
}

/** Hex. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
