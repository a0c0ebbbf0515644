// Gives deliveries to Probot, which calls the handlers. Neither its server nor its retries are used: the receiver stores
// deliveries, and jobs repeat them.
import type { Ground } from '@svc/platform'
import type { AppConfig } from '../config.js'
import type { Members } from '../github/members.js'
import type { HandlerParts } from '../handlers/handler.js'
import { handlers } from '../handlers/handlers.js'
import type { Received } from './handle-job.js'

type Logger = Ground['logger']

interface Parts {
  readonly config: AppConfig
  readonly logger: Logger
}

type Dispatch = (received: Received, parts: HandlerParts) => Promise<void>

/** Loads Probot with the first delivery: it takes half a second. */
export function createDispatch(parts: Parts): Dispatch {
  let loaded: ReturnType<typeof loadProbot> | null = null
  return async ({ id, event, payload }, handler_parts) => {
    loaded ??= loadProbot(parts).catch((error) => {
      loaded = null
      throw error
    })
    const { receive } = await loaded
    await receive(id, event, payload, handler_parts)
  }
}

async function loadProbot({ config, logger }: Parts) {
  const { Probot, ProbotOctokit } = await import('probot')
  const probot = new Probot({
    appId: config.app_id,
    privateKey: config.private_key,
    secret: config.webhook_secrets[0] ?? '',
    request: { fetch: requestsNothing },
    Octokit: ProbotOctokit.defaults({ throttle: { enabled: false }, retry: { enabled: false } }),
    log: withoutPayloads(logger) as never,
  })
  await probot.ready()
  const partsOf = new WeakMap<object, HandlerParts>()
  for (const { events, run } of handlers)
    probot.on(events as never, async ({ payload }: { payload: Members }) => {
      const given = partsOf.get(payload)
      if (given === undefined) throw new Error('Probot gave another payload than it received')
      await run(given, payload)
    })
  return {
    receive: async (id: string, name: string, sent: Members, given: HandlerParts) => {
      // Probot makes a text of it, which not every value allows.
      const payload = typeof sent.action === 'string' ? sent : { ...sent, action: undefined }
      partsOf.set(payload, given)
      try {
        await probot.receive({ id, name, payload } as never)
      } catch (error) {
        throw firstOf(error)
      }
    },
  }
}

function requestsNothing(): Promise<never> {
  return Promise.reject(new TypeError('handlers only send jobs: Probot calls no API'))
}

/** Probot logs whole events, and the errors that the jobs log already. */
function withoutPayloads(logger: Logger): Logger {
  const named = (event: unknown) => ({ id: (event as { id?: unknown }).id, name: (event as { name?: unknown }).name })
  return logger.child({}, { serializers: { event: named }, level: logger.level === 'silent' ? 'silent' : 'fatal' })
}

/** The error of a handler, without the event that Probot adds to it. */
function firstOf(error: unknown): unknown {
  const { errors } = error as { errors?: unknown }
  const first = Array.isArray(errors) ? errors[0] : undefined
  if (first === undefined) return error instanceof Error ? new Error(error.message) : error
  return first
}
