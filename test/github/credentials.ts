// Who calls: the JSON web token of an App, the token of an installation, or anonymous.
import { createVerify, randomBytes } from 'node:crypto'
import { ApiError } from './api.js'
import type { App, Caller, Installation, Json, Permissions, Repository, Token, World } from './world.js'

const badCredentials = () => new ApiError(401, 'Bad credentials')
const undecodable = () => new ApiError(401, 'A JSON web token could not be decoded')

/** The caller that the header `Authorization` proves; throws 401, and 404 for an App that does not exist. */
export function callerOf(world: World, authorization: string | undefined): Caller {
  if (authorization === undefined) return { kind: 'anonymous' }
  const [, scheme = '', value = ''] = /^(\w+) +(\S+)$/.exec(authorization) ?? []
  if (!/^(bearer|token)$/i.test(scheme)) throw badCredentials()
  if (value.split('.').length === 3) return { kind: 'app', app: appOfJwt(world, value) }
  return { kind: 'installation', token: validToken(world, value) }
}

/** The token, unless it expired, was revoked, or its installation was suspended or deleted: 401. */
export function validToken(world: World, value: string): Token {
  const token = world.tokens.get(value)
  if (token === undefined || token.revoked || token.expires <= world.now()) throw badCredentials()
  const { deleted, suspended_at } = token.installation
  if (deleted || suspended_at !== null) throw badCredentials()
  return token
}

/** RS256; `iat` at most 60 s ahead, `exp` at most 10 minutes ahead; `iss` is the App's id or client id. */
function appOfJwt(world: World, jwt: string): App {
  const [head = '', payload = '', signature = ''] = jwt.split('.')
  const { alg } = decoded(head)
  const { iss, iat, exp } = decoded(payload)
  if (alg !== 'RS256') throw undecodable()
  const now = Math.floor(world.now() / 1000)
  const app = world.apps.find(({ id, client_id }) => String(iss) === String(id) || iss === client_id)
  if (app === undefined) throw new ApiError(404, 'Integration not found')
  const verify = createVerify('RSA-SHA256').update(`${head}.${payload}`)
  if (!verify.verify(app.public_key, Buffer.from(signature, 'base64url'))) throw undecodable()
  if (!Number.isInteger(iat) || Number(iat) > now + 60) {
    const text = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
    throw new ApiError(401, text)
  }
  if (!Number.isInteger(exp) || Number(exp) <= now) {
    const text = "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the"
    throw new ApiError(401, `${text} assertion expires`)
  }
  if (Number(exp) > now + 600) throw new ApiError(401, "'Expiration time' claim ('exp') is too far in the future")
  return app
}

function decoded(part: string): Json {
  try {
    return Object(JSON.parse(Buffer.from(part, 'base64url').toString())) as Json
  } catch {
    throw undecodable()
  }
}

/** A new token of the installation, valid for an hour. */
export function issueToken(
  world: World,
  installation: Installation,
  repositories: readonly Repository[] | null,
  permissions: Permissions,
): Token {
  const value = `ghs_${randomBytes(18).toString('hex')}`
  // Whole seconds, as the answer says it.
  const expires = Math.floor(world.now() / 1000) * 1000 + 3_600_000
  const token: Token = { value, installation, repositories, permissions, expires, revoked: false }
  world.tokens.set(value, token)
  return token
}
