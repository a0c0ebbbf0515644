// Rules about the content of a step (docs/design/engine.md §3, 20–22 and argument_matches).

import { ParameterError } from '../check/parameter-error.js'
import { quote } from '../check/quote.js'
import { compileSearch } from '../pattern/pattern.js'
import { fieldPath } from './form/params.js'
import {
  defineStepRule,
  NOT_APPLICABLE,
  PASS,
  type Reading,
  type Scope,
  type StepContext,
  stepViolation,
} from './form/rule.js'
import { byDefault } from './form/stricter.js'
import { compileField, type Getter } from './selection/lookup.js'
import { type HostReading, isUnder, readHost, readHosts } from './values/host.js'
import { isWithin } from './values/root.js'

const scopes: readonly Scope[] = ['step_execution']
const pattern = {
  type: 'string',
  minLength: 1,
  maxLength: 1000,
  description: 'regular expression (RE2), searched, not anchored',
} as const

/** The members to which most clients write the content that they send. */
const sentFields = ['input', 'exec.command']

export const contentRules = [
  defineStepRule({
    name: 'domain_allowlist',
    category: 'content',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['allowed_domains'],
      additionalProperties: false,
      properties: {
        allowed_domains: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          description: 'hosts, such as `example.com`; their subdomains are allowed too',
        },
        field: { ...fieldPath, description: 'field path of the host, URL or command; default `target.host`' },
      },
    },
    stricter: { allowed_domains: 'fewer', field: { stricter: 'none', absent: byDefault('target.host') } },
    doc: 'Passes when each host in the field is allowed or a subdomain of an allowed one. A text with `@` and no scheme is a mail address. A missing field or a file path is not applicable.',
    example: { allowed_domains: ['example.com'], field: 'input.url' },
    compile: ({ allowed_domains, field: path = 'target.host' }, { readings }) => {
      const hosts = readings.once(`hosts ${path}`, hostsIn(compileField(path)))
      const allowed = allowed_domains.map(allowedHost)
      const remedy = `use a host that is allowed: ${allowed_domains.join(', ')}`
      return (context) => {
        let answer: typeof PASS | typeof NOT_APPLICABLE = NOT_APPLICABLE
        for (const read of hosts(context)) {
          if (read === null)
            return stepViolation(context, 'HOST_UNREADABLE', `no host can be read from \`${path}\``, remedy)
          if (read.kind === 'path') continue
          if (!allowed.some((domain) => isUnder(read.host, domain)))
            return stepViolation(context, 'DOMAIN_NOT_ALLOWED', `a host in \`${path}\` is not allowed`, remedy)
          answer = PASS
        }
        return answer
      }
    },
  }),
  defineStepRule({
    name: 'pii_in_request',
    category: 'content',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['patterns'],
      additionalProperties: false,
      properties: {
        patterns: {
          type: 'array',
          items: pattern,
          minItems: 1,
          description: 'regular expressions (RE2) that must not be found; searched, not anchored',
        },
        fields: {
          type: 'array',
          items: fieldPath,
          minItems: 1,
          description: 'field paths; default `input` and `exec.command`',
        },
      },
    },
    stricter: {
      patterns: { stricter: 'more', alone: true },
      fields: { stricter: 'more', absent: byDefault(sentFields), alone: true },
    },
    doc: 'Passes when no pattern is found in any text inside the fields: strings, numbers, keys, lists of words joined.',
    example: { patterns: ['[0-9]{3}-[0-9]{2}-[0-9]{4}'], fields: ['input'] },
    compile: ({ patterns, fields = sentFields }, environment) => {
      const searches = patterns.map((one, index) => compileSearch(one, `patterns.${index}`))
      const paths = fields.map((path) => {
        return { path, texts: environment.readings.search(path, compileField(path, 'fields'), true, searches) }
      })
      return (context) => {
        for (const { path, texts } of paths) {
          for (const text of texts(context)) {
            const index = searches.findIndex(({ test }) => test(text))
            if (index < 0) continue
            const message = `pattern ${index + 1} of the policy is found in \`${path}\``
            return stepViolation(context, 'PATTERN_FOUND', message, `remove it from \`${path}\``)
          }
        }
        return PASS
      }
    },
  }),
  defineStepRule({
    name: 'argument_matches',
    category: 'content',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['field', 'pattern'],
      additionalProperties: false,
      properties: {
        field: fieldPath,
        pattern,
        found: { type: 'boolean', description: 'default true: must be found; false: must not be found' },
      },
    },
    stricter: { field: 'none', pattern: 'none', found: { stricter: 'none', absent: byDefault(true) } },
    doc: 'Passes when a text of the field contains the pattern; with `found: false`, when no text or key contains it.',
    example: { field: 'exec.command', pattern: '\\brm\\s+-rf\\b', found: false },
    compile: ({ field: path, pattern: source, found = true }, environment) => {
      const search = compileSearch(source, 'pattern')
      const texts = environment.readings.search(path, compileField(path), !found, [search])
      const check = (context: StepContext) => {
        if (texts(context).some(search.test) === found) return PASS
        return found
          ? stepViolation(
              context,
              'PATTERN_MISSING',
              `the pattern is not found in \`${path}\``,
              `change \`${path}\` so that it contains the pattern ${quote(source)}`,
            )
          : stepViolation(context, 'PATTERN_FOUND', `the pattern is found in \`${path}\``, `remove it from \`${path}\``)
      }
      const undo = found
        ? `remove the text that the pattern matches from \`${path}\``
        : `change \`${path}\` so that the pattern matches`
      const fact = `the pattern ${quote(source)} is ${found ? '' : 'not '}found in \`${path}\``
      return Object.assign(check, { because: () => ({ evidence: [], fact, undo }) })
    },
  }),
  defineStepRule({
    name: 'path_within_root',
    category: 'content',
    scopes,
    targets: 'writes',
    params: { type: 'object', required: ['field'], additionalProperties: false, properties: { field: fieldPath } },
    stricter: { field: 'none' },
    doc: 'Passes when the path in the field stays in `context.project_root`. Only its text is read; links are not followed.',
    example: { field: 'input.path' },
    compile: ({ field: path }) => {
      const get = compileField(path)
      const remedy = `keep \`${path}\` inside the project root`
      return (context) => {
        const root = projectRoot(context)
        const value = get(context)
        if (root === null || root === '' || value === null) return NOT_APPLICABLE
        const within = typeof value === 'string' ? isWithin(value, String(root)) : null
        if (within === true) return PASS
        return within === null
          ? stepViolation(context, 'PATH_UNREADABLE', `no path can be read from \`${path}\``, remedy)
          : stepViolation(context, 'PATH_OUTSIDE_ROOT', `the path in \`${path}\` leaves the project root`, remedy)
      }
    },
  }),
]

const projectRoot = compileField('context.project_root')

/** The hosts in a field, a list element by element; null for a value that cannot be read. */
function hostsIn(get: Getter): Reading<readonly HostReading[]> {
  const read = (value: unknown) => (typeof value === 'string' ? readHosts(value) : [null])
  return (context) => {
    const value = get(context)
    if (value === null) return []
    return Array.isArray(value) ? value.flatMap(read) : read(value)
  }
}

/** An allowed domain in the form that hosts are compared in. Throws ParameterError for text that is not a host. */
function allowedHost(domain: string, index: number): string {
  const read = domain.includes('*') ? null : readHost(domain)
  const bare = !/[/@\\?#]/.test(domain) && (domain.startsWith('[') || !domain.includes(':'))
  if (read?.kind === 'host' && bare) return read.host
  const url = readHost(domain)
  const host = url?.kind === 'host' && !bare ? `: write ${quote(url.host)}` : ''
  const hint = domain.startsWith('*.') ? `: write \`${domain.slice(2)}\`, which includes its subdomains` : host
  throw new ParameterError(`allowed_domains.${index}`, `\`${domain}\` is not a host${hint}`)
}
