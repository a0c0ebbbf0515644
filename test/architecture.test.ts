// Who may touch what (ARCHITECTURE.md), read from the imports; and how large the rooms are.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const packages = ['schemas', 'library', 'proof', 'engine', 'cli', 'platform', 'app', 'action']
const generated = new Set(['schemas/types.ts', 'schemas/documents.ts', 'library/files.ts'])

const sources = packages.flatMap((name) =>
  readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(path))
    .map((path) => join(name, path)),
)

interface Import {
  readonly from: string
  /** A file of this repository, or the name of a package. */
  readonly to: string
}

const imports: Import[] = sources.flatMap((from) => {
  const text = readFileSync(join(root, from), 'utf8')
  const found = [
    ...text.matchAll(
      /^\s*(?:import|export)\b[^'"]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|^import\s+'([^']+)'/gm,
    ),
  ]
  return found.map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? ''
    return {
      from,
      to: specifier.startsWith('.') ? normalize(join(dirname(from), specifier)).replace(/\.js$/, '.ts') : specifier,
    }
  })
})

const within = (path: string, ...folders: string[]) =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`))
const offenders = (rule: (found: Import) => boolean) => imports.filter(rule).map(({ from, to }) => `${from} → ${to}`)

const mayImport: Readonly<Record<string, readonly string[]>> = {
  schemas: [],
  library: [],
  proof: ['schemas'],
  engine: ['schemas', 'library', 'proof'],
  cli: ['schemas', 'proof', 'engine'],
  platform: ['schemas', 'library', 'proof', 'engine'],
  app: ['schemas', 'engine', 'platform'],
  action: ['schemas', 'engine'],
}

/** Rooms of a package from the top to the ground: each may import those after it. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  proof: ['index.ts', 'attacks', 'verify', 'bundle', 'notes', 'record', 'tree', 'json', 'printable.ts'],
  engine: [
    ...['index.ts', 'serve', 'trace', 'source', 'convert', 'manifest', 'policy', 'agent', 'rules', 'pattern'],
    ...['environment.ts', 'version.ts', 'check', 'files'],
  ],
  cli: ['main.ts', 'audit', 'account', 'serve', 'explain', 'import', 'rules', 'called-as.ts', 'port.ts', 'version.ts'],
}
const roomOf = (path: string) => path.split('/').slice(0, 2).join('/')

describe('rooms', () => {
  it.each(Object.keys(rooms))('%s has those that are listed', (name) => {
    const found = new Set(sources.filter((path) => within(path, name)).map((path) => path.split('/')[1] ?? ''))
    expect([...found].sort()).toEqual([...(rooms[name] ?? [])].sort())
  })

  it.each(Object.entries(rooms))('%s imports downwards only', (name, order) => {
    const level = (path: string) => order.indexOf(path.split('/')[1] ?? '')
    expect(offenders(({ from, to }) => within(from, name) && within(to, name) && level(to) < level(from))).toEqual([])
  })

  it('each has its row in ARCHITECTURE.md', () => {
    const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
    const named = new Set(
      [...page.matchAll(/`([a-z]+\/[a-z-]+(?:\/|\.ts))`/g)].map(([, room]) => room?.replace(/\/$/, '')),
    )
    const missing = [...new Set(sources.map(roomOf))].filter(
      (room) => Object.hasOwn(rooms, room.split('/')[0] ?? '') && !named.has(room),
    )
    expect(missing).toEqual([])
  })

  it('no file imports itself by way of others', () => {
    const next = new Map<string, string[]>()
    for (const { from, to } of imports) next.set(from, [...(next.get(from) ?? []), to])
    const reached = (start: string) => {
      const seen = new Set<string>()
      const pending = [...(next.get(start) ?? [])]
      for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
        if (seen.has(file)) continue
        seen.add(file)
        pending.push(...(next.get(file) ?? []))
      }
      return seen
    }
    const circular = sources.filter((file) => reached(file).has(file))
    expect(circular).toEqual([])
  })
})

describe('packages', () => {
  it('import each other by name only, in the direction of the picture', () => {
    expect(
      offenders(({ from, to }) => {
        const [own = ''] = from.split('/')
        if (to.startsWith('@svc/')) return !mayImport[own]?.includes(to.split('/')[1] ?? '')
        return packages.some((name) => within(to, name)) && !within(to, own)
      }),
    ).toEqual([])
  })

  it('have one index each', () => {
    expect(
      sources.filter(
        (path) =>
          /(^|\/)index\.ts$/.test(path) && path.split('/').length > 2 && path !== 'platform/migrations/index.ts',
      ),
    ).toEqual([])
  })

  it('export by name', () => {
    expect(sources.filter((path) => /^export default/m.test(readFileSync(join(root, path), 'utf8')))).toEqual([])
  })
})

const pure = [
  ...['index.ts', 'bundle', 'notes', 'record', 'tree', 'json'].map((room) => `proof/${room}`),
  ...['rules', 'pattern', 'policy', 'agent', 'manifest', 'convert', 'check'].map((room) => `engine/${room}`),
  'schemas',
]

describe('the pure rooms', () => {
  const allowed = [
    '@svc/schemas',
    '@svc/library',
    '@svc/proof',
    'node:crypto',
    'node:module',
    'yaml',
    're2js',
    'ajv/dist/2020.js',
  ]

  it('imports no IO', () => {
    const found = offenders(
      ({ from, to }) => within(from, ...pure) && !within(to, ...pure, 'proof/printable.ts') && !allowed.includes(to),
    )
    expect(found).toEqual([])
  })

  it('loads no IO late either', () => {
    const loaded = sources.flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/\bneed\(([^)]*)\)/g)].map(([, what]) => what),
    )
    expect(loaded).not.toEqual([])
    expect(loaded.filter((what) => !allowed.some((name) => what === `'${name}'`))).toEqual([])
  })

  it('knows no clock, no randomness and no process', () => {
    const forbidden =
      /\b(Date\.now|new Date\(\)|Math\.random|randomUUID|randomBytes|performance\.|process\.|setTimeout|setInterval)/
    expect(
      sources.filter((path) => within(path, ...pure) && forbidden.test(readFileSync(join(root, path), 'utf8'))),
    ).toEqual([])
  })
})

describe('the platform', () => {
  it('flows from routes to commands to the store', () => {
    const order: readonly (readonly [from: string, notTo: readonly string[]])[] = [
      ['platform/store', ['platform/routes', 'platform/http', 'platform/commands']],
      ['platform/commands', ['platform/routes', 'platform/http']],
      ['platform/ingest', ['platform/routes', 'platform/http']],
    ]
    expect(
      offenders(({ from, to }) => order.some(([folder, notTo]) => within(from, folder) && within(to, ...notTo))),
    ).toEqual([])
  })

  it('lets nobody but its own routes and its root import a route', () => {
    expect(
      offenders(
        ({ from, to }) => within(to, 'platform/routes') && !within(from, 'platform/routes', 'platform/http/app.ts'),
      ),
    ).toEqual([])
  })

  it('has one door for each outside thing', () => {
    const doors: Readonly<Record<string, readonly string[]>> = {
      knex: ['platform/store', 'platform/migrations'],
      pg: ['platform/store'],
      '@electric-sql/pglite': ['platform/store/embedded.ts'],
      express: ['platform/http', 'platform/routes'],
      helmet: ['platform/http/app.ts'],
      undici: ['platform/outgoing/outgoing.ts'],
      nodemailer: ['platform/mail/mail.ts'],
      ajv: [],
    }
    expect(offenders(({ from, to }) => Object.hasOwn(doors, to) && !within(from, ...(doors[to] ?? [])))).toEqual([])
  })

  it('reads the environment in one place', () => {
    const readers = sources.filter(
      (path) => within(path, 'platform') && /process\.env/.test(readFileSync(join(root, path), 'utf8')),
    )
    expect(readers).toEqual(['platform/main.ts'])
  })
})

describe('size', () => {
  const sizes = sources
    .filter((path) => !generated.has(path) && !within(path, 'platform/migrations'))
    .map((path) => ({ path, lines: readFileSync(join(root, path), 'utf8').split('\n').length - 1 }))
    .sort((a, b) => a.lines - b.lines)

  it('keeps files small: median ≤ 90 lines, 95 % ≤ 250, none over 400', () => {
    expect(sizes[sizes.length >> 1]?.lines).toBeLessThanOrEqual(90)
    expect(sizes[Math.floor(sizes.length * 0.95)]?.lines).toBeLessThanOrEqual(250)
    expect(sizes.filter(({ lines }) => lines > 400)).toEqual([])
  })

  it('keeps commands under 120 lines', () => {
    expect(sizes.filter(({ path, lines }) => within(path, 'platform/commands') && lines > 120)).toEqual([])
  })
})
