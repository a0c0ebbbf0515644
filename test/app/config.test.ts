// The variables of the GitHub App.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readAppConfig } from '../../app/config.js'

interface Case {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  readonly is_on?: boolean
  readonly value?: object
  readonly secret?: string
  readonly problems?: readonly string[]
}

const cases: readonly Case[] = parse(readFileSync(new URL('../cases/app-config.yaml', import.meta.url), 'utf8'))
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const pem = rsa.export({ type: 'pkcs1', format: 'pem' }).toString()
const keys: Readonly<Record<string, string>> = {
  PEM: pem,
  PKCS8: rsa.export({ type: 'pkcs8', format: 'pem' }).toString(),
  ESCAPED: pem.replaceAll('\n', '\\n'),
  BASE64: Buffer.from(pem).toString('base64'),
  EC: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
}

describe('the variables of the App', () => {
  it.each(cases)('$name', ({ env, is_on = true, value, secret, problems = [] }) => {
    const given = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, keys[text] ?? text]))
    const read = readAppConfig(given)
    expect(read.errors).toEqual(problems.map((part) => expect.stringContaining(part)))
    if (secret !== undefined) expect(read.errors.join()).not.toContain(secret)
    expect(read.value !== null).toBe(is_on && problems.length === 0)
    if (value !== undefined) expect(read.value).toMatchObject(value)
    if (read.value !== null) expect(createPrivateKey(read.value.private_key).equals(rsa)).toBe(true)
  })
})
