// A delivery whose signature has been checked: its headers and the members that every payload has.
import { quote } from '@svc/engine/parts'
import { PlatformError } from '@svc/platform'
import { idIn, type Members, objectIn, textIn } from '../github/members.js'
import type { NewDelivery } from './deliveries-store.js'
import type { Header } from './signature.js'

const eventName = /^[a-z][a-z_]{0,99}$/
const bytesToText = new TextDecoder('utf-8', { fatal: true })

/** Throws UNSUPPORTED_MEDIA_TYPE, MALFORMED or INVALID. */
export function deliveryIn(raw: Uint8Array, header: Header): NewDelivery {
  const type = (header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type !== 'application/json') throw new PlatformError('UNSUPPORTED_MEDIA_TYPE', wrongType(type))
  const delivery_id = (header('x-github-delivery') ?? '').toLowerCase()
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(delivery_id))
    throw new PlatformError('INVALID', `the header \`X-GitHub-Delivery\` must be a GUID, found ${quote(delivery_id)}`)
  const event = header('x-github-event') ?? ''
  if (!eventName.test(event))
    throw new PlatformError('INVALID', `the header \`X-GitHub-Event\` must name an event, found ${quote(event)}`)
  const payload = payloadIn(raw)
  const action = textIn(payload, 'action') ?? ''
  return {
    delivery_id,
    event,
    action: eventName.test(action) ? action : null,
    installation_id: idIn(objectIn(payload, 'installation')),
    body: raw,
  }
}

/** The payload of a delivery. Throws MALFORMED for bytes that are not a JSON object in UTF-8. */
export function payloadIn(raw: Uint8Array): Members {
  const value = parsed(raw)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw new PlatformError('MALFORMED', 'the body must be a JSON object in UTF-8')
}

function parsed(raw: Uint8Array): unknown {
  try {
    return JSON.parse(bytesToText.decode(raw))
  } catch {
    return undefined
  }
}

function wrongType(type: string): string {
  const remedy = 'choose `application/json` as the content type of the webhook in the settings of the App'
  return type === 'application/x-www-form-urlencoded'
    ? `the payload is sent as a form: ${remedy}`
    : `the body must be \`application/json\`, found ${quote(type)}: ${remedy}`
}
