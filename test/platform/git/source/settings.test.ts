// The variables about repositories.
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../../platform/config.js'

const configOf = (env: Record<string, string>) => readConfig(env).value

describe('SVC_GITHUB_API_URL', () => {
  it.each([
    ['https://ghe.example.org/api/v3/', 'https://ghe.example.org/api/v3'],
    ['HTTPS://GHE.example.org:443', 'https://ghe.example.org'],
    ['https://10.0.0.1:8443/api/v3', 'https://10.0.0.1:8443/api/v3'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['http://localhost', 'http://localhost'],
  ])('may be %s', (text, url) => {
    expect(readConfig({ SVC_GITHUB_API_URL: text }).errors).toEqual([])
    expect(configOf({ SVC_GITHUB_API_URL: text }).github_api_url).toBe(url)
  })

  it.each([
    'http://ghe.example.org',
    'http://127.0.0.1.example.org',
    'https://user:secret@ghe.example.org',
    'https://ghe.example.org/?a',
    'https://ghe.example.org/api#x',
    'ftp://x',
    'ghe.example.org',
    'https://',
  ])('must not be %s', (text) => {
    const { errors } = readConfig({ SVC_GITHUB_API_URL: text })
    expect(errors).toEqual([expect.stringContaining('SVC_GITHUB_API_URL must be an https:// URL')])
    expect(errors[0]).not.toContain('secret')
  })
})

describe('SVC_GIT_FILE_ROOTS and SVC_GITHUB_FALLBACK_TOKEN', () => {
  it('are empty without a value, and checked', () => {
    expect(configOf({})).toMatchObject({
      github_api_url: 'https://api.github.com',
      github_fallback_token: null,
      git_file_roots: [],
    })
    expect(configOf({ SVC_GIT_FILE_ROOTS: '/srv/a  /srv/b' }).git_file_roots).toEqual(['/srv/a', '/srv/b'])
    expect(readConfig({ SVC_GIT_FILE_ROOTS: '/srv/a b' }).errors).toEqual([expect.stringContaining('absolute')])
    const { errors } = readConfig({ SVC_GITHUB_FALLBACK_TOKEN: 'two words' })
    expect(errors).toEqual([expect.stringMatching(/^SVC_GITHUB_FALLBACK_TOKEN must be [^`]*$/)])
  })
})
