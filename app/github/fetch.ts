// `fetch` for Octokit, through the one door to the network.
import type { Network } from './api.js'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Requests that are not below `api_url` are rejected. */
export function fetchThrough(network: Network, api_url: string): typeof fetch {
  return async (input, init = {}) => {
    const url = String(input)
    const method = methods.find((name) => name === (init.method ?? 'GET').toUpperCase())
    if (method === undefined || !url.startsWith(`${api_url}/`)) throw new TypeError('only the API of GitHub is called')
    const headers = Object.fromEntries(new Headers(init.headers).entries())
    const body = typeof init.body === 'string' ? { body: init.body } : {}
    const { status, text, headers: received } = await network.send(url, { method, headers, ...body })
    return new Response(text === '' ? null : text, { status, headers: received })
  }
}
