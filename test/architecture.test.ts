// The law of ARCHITECTURE.md, read from the imports and the text of the sources.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const packages = ['schemas', 'library', 'proof', 'engine', 'adapters', 'report', 'cli', 'platform', 'app', 'action']
const generated = new Set([
  'schemas/types.ts',
  'schemas/documents.ts',
  'schemas/components.ts',
  'library/baseline-file.ts',
  'library/files.ts',
  'library/listing.ts',
])

const sources = packages.flatMap((name) =>
  readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(path))
    .map((path) => join(name, path)),
)

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const platform = sources.filter((path) => path.startsWith('platform/'))
const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(path))
  .map((path) => join('test', path))

interface Import {
  readonly from: string
  /** A file of this repository, or the name of a package. */
  readonly to: string
}

const imports: Import[] = sources.flatMap((from) => {
  const text = read(from)
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
  adapters: ['schemas', 'proof', 'engine'],
  report: ['schemas', 'proof', 'engine'],
  cli: ['schemas', 'proof', 'engine', 'adapters', 'report'],
  platform: ['schemas', 'library', 'proof', 'engine', 'report'],
  app: ['schemas', 'engine', 'platform'],
  action: ['schemas', 'engine'],
}

/** Rooms and loose files of a package from the top to the ground: each may import those after it. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  proof: ['index.ts', 'attacks', 'verify', 'bundle', 'notes', 'record', 'tree', 'json', 'printable.ts'],
  // biome-ignore format: one package, one line
  engine: ['index.ts', 'parts.ts', 'serve', 'trace/sinks', 'trace/memory', 'trace/recall', 'trace/delivery', 'trace/journal', 'source', 'analysis', 'impact', 'rejudge', 'convert', 'manifest', 'findings', 'task', 'policy', 'memory', 'agent', 'rules', 'pattern', 'environment.ts', 'stop-signal.ts', 'check', 'files'],
  // biome-ignore format: one package, one line
  report: ['index.ts', 'bundle', 'formats', 'sections', 'pdf', 'oscal', 'charts', 'tally', 'controls', 'content', 'governance'],
  // biome-ignore format: one package, one line
  cli: ['run.ts', 'main.ts', 'completion', 'audit', 'git', 'account', 'serve', 'explain', 'manifests', 'import', 'rules', 'port.ts', 'called-as.ts', 'terminal.ts', 'errors.ts'],
  platform: [
    'command.ts',
    'start.ts',
    'greeting.ts',
    'index.ts',
    'platform.ts',
    'request-handler.ts',
    'prepare-database.ts',
    'room.ts',
    'outside.ts',
    'listener.ts',
    'logger.ts',
    'routes.ts',
    'health.ts',
    'commit.ts',
    'admin',
    'dashboard',
    'settings',
    'overview',
    'reports',
    'git',
    'log/parts.ts',
    'log/retention',
    'log/bundle',
    'log/read',
    'log/publish',
    'ingest',
    'agents',
    'policies',
    'incidents',
    'access',
    'ledger',
    'jobs',
    'http',
    'secrets',
    'db',
    'config.ts',
    'mail',
    'outgoing',
    'errors.ts',
  ],
  // biome-ignore format: one package, one line
  app: ['main.ts', 'index.ts', 'room.ts', 'check-jobs.ts', 'check-parts.ts', 'receiver', 'installations', 'handlers', 'github', 'check', 'config.ts'],
  action: ['main.ts', 'run.ts', 'report', 'change', 'files', 'inputs.ts', 'usage-error.ts'],
}

/** Index of the room of a file in the order of its package; -1 for a file in no room. */
const levelOf = (path: string) => {
  const [name = '', ...rest] = path.split('/')
  return (rooms[name] ?? []).findIndex((room) => within(rest.join('/'), room))
}
const governed = sources.filter((path) => Object.hasOwn(rooms, path.split('/')[0] ?? ''))

describe('rooms', () => {
  it('hold every file', () => {
    expect(governed.filter((path) => levelOf(path) === -1)).toEqual([])
  })

  it('exist where they are listed', () => {
    const listed = Object.entries(rooms).flatMap(([name, order]) => order.map((room) => `${name}/${room}`))
    expect(listed.filter((room) => !sources.some((path) => within(path, room)))).toEqual([])
  })

  it.each(Object.keys(rooms))('of %s import downwards only', (name) => {
    expect(offenders(({ from, to }) => within(from, name) && within(to, name) && levelOf(to) < levelOf(from))).toEqual(
      [],
    )
  })

  it('have their rows in ARCHITECTURE.md', () => {
    const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
    const named = new Set(
      [...page.matchAll(/`([a-z]+\/[a-z-]+(?:\/[a-z-]+)?(?:\/|\.ts))`/g)].map(([, room]) => room?.replace(/\/$/, '')),
    )
    const listed = Object.entries(rooms).flatMap(([name, order]) => order.map((room) => `${name}/${room}`))
    expect(listed.filter((room) => !named.has(room))).toEqual([])
  })

  it('no file imports itself by way of others', () => {
    expect(circular(imports)).toEqual([])
  })

  it('no folder of proof and engine imports itself by way of others', () => {
    const folders = imports
      .filter(({ from, to }) => ['proof', 'engine'].some((name) => within(from, name) && within(to, name)))
      .map(({ from, to }) => ({ from: dirname(from), to: dirname(to) }))
    expect(circular(folders.filter(({ from, to }) => from !== to))).toEqual([])
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
          /(^|\/)index\.ts$/.test(path) && path.split('/').length > 2 && path !== 'platform/db/migrations/index.ts',
      ),
    ).toEqual([])
  })

  it('export by name', () => {
    expect(sources.filter((path) => /^export default/m.test(read(path)))).toEqual([])
  })
})

const proofRooms = ['index.ts', 'bundle', 'notes', 'record', 'tree', 'json']
// biome-ignore format: one list, one line
const engineRooms = ['rules', 'pattern', 'policy', 'task', 'memory', 'agent', 'manifest', 'findings', 'analysis', 'impact', 'rejudge', 'convert', 'check']
const reportRooms = ['tally', 'controls', 'content', 'governance']
const roomsOf = (name: string, rooms: readonly string[]) => rooms.map((room) => `${name}/${room}`)
const pure = [
  ...roomsOf('proof', proofRooms),
  ...roomsOf('engine', engineRooms),
  ...roomsOf('report', reportRooms),
  'schemas',
]

describe('the pure rooms', () => {
  // biome-ignore format: one list, one line
  const allowed = ['@svc/schemas', '@svc/library', '@svc/proof', '@svc/engine', '@svc/engine/parts', 'node:crypto', 'node:module', 'yaml', 're2js', 'ajv/dist/2020.js']

  it('know the history of a task through engine/task only', () => {
    const inside = ['engine/policy', 'engine/task']
    expect(offenders(({ from, to }) => to === 'engine/policy/history.ts' && !within(from, ...inside))).toEqual([])
  })

  it('imports no IO', () => {
    const found = offenders(
      ({ from, to }) => within(from, ...pure) && !within(to, ...pure, 'proof/printable.ts') && !allowed.includes(to),
    )
    expect(found).toEqual([])
  })

  it('loads no IO late either', () => {
    const loaded = sources.flatMap((path) => [...read(path).matchAll(/\bneed\(([^)]*)\)/g)].map(([, what]) => what))
    expect(loaded).not.toEqual([])
    expect(loaded.filter((what) => !allowed.some((name) => what === `'${name}'`))).toEqual([])
  })

  it('knows no clock, no randomness and no process', () => {
    const forbidden =
      /\b(Date\.now|new Date\(\)|Math\.random|randomUUID|randomBytes|performance\.|process\.|setTimeout|setInterval)/
    expect(sources.filter((path) => within(path, ...pure) && forbidden.test(read(path)))).toEqual([])
  })
})

describe('the platform', () => {
  it('has one door for each outside thing', () => {
    const doors: Readonly<Record<string, readonly string[]>> = {
      knex: ['platform/db'],
      pg: ['platform/db'],
      '@electric-sql/pglite': ['platform/db/embedded.ts'],
      express: ['platform/http', 'platform/health.ts', 'platform/dashboard'],
      helmet: ['platform/http/app.ts'],
      handlebars: ['platform/dashboard/views', 'platform/mail'],
      undici: ['platform/outgoing/outgoing.ts'],
      nodemailer: ['platform/mail/mail.ts'],
      jose: ['platform/secrets'],
      'echarts/core': ['report/charts/charts.ts'],
      'bidi-js': ['report/pdf/runs.ts'],
      'xml-js': ['report/oscal/xml-text.ts'],
      ajv: [],
    }
    expect(offenders(({ from, to }) => Object.hasOwn(doors, to) && !within(from, ...(doors[to] ?? [])))).toEqual([])
  })

  it('starts processes, which are always Git, in two places', () => {
    const starters = imports.filter(({ from, to }) => within(from, 'platform') && to === 'node:child_process')
    expect(starters.map(({ from }) => from).sort()).toEqual([
      'platform/git/source/git-process.ts',
      'platform/log/publish/anchors/git.ts',
    ])
  })

  it('knows the hosts of Git in one folder, behind the interface of a source, and GitHub in another', () => {
    const inside = ['platform/git/source']
    const open = ['source.ts', 'sources.ts', 'manifest-text.ts'].map((name) => `platform/git/source/${name}`)
    expect(
      offenders(({ from, to }) => within(to, ...inside) && !within(from, ...inside) && !within(to, ...open)),
    ).toEqual([])
    const request = /x-github-api-version/
    expect(platform.filter((path) => request.test(read(path)))).toEqual(['platform/git/github/api.ts'])
    const client = ['platform/git/github']
    expect(offenders(({ from, to }) => within(to, ...client) && !within(from, ...client, ...inside))).toEqual([
      'platform/index.ts → platform/git/github/api.ts',
    ])
  })

  const isStore = (path: string) =>
    path.includes('/store/') || path.endsWith('store.ts') || within(path, 'platform/ledger', 'platform/db')

  it('holds SQL in stores, in the ledger and in db', () => {
    expect(platform.filter((path) => !isStore(path) && /\.query[<(]/.test(read(path)))).toEqual([])
  })

  it('gives every store function a Scope first, or a name that says otherwise', () => {
    const unscoped = sources
      .filter((path) => within(path, 'platform', 'app') && isStore(path) && !within(path, 'platform/db'))
      .flatMap((path) =>
        [...read(path).matchAll(/export (?:async )?function\*? ?(\w+)(?:<[^>]*>)?\(\s*([^)]*)/g)]
          .filter(
            ([, name = '', parameters = '']) => parameters.includes('tx: Transaction') && !name.includes('Unscoped'),
          )
          .filter(([, , parameters = '']) => !/^(\w+|\{[^}]*\}): (Scope|Pick<Scope)/.test(parameters))
          .map(([, name]) => `${path}: ${name}`),
      )
    expect(unscoped).toEqual([])
  })

  it('gives commands and routes what they use, not a hub', () => {
    expect(
      offenders(
        ({ from, to }) =>
          within(to, 'platform/platform.ts') &&
          !within(from, 'platform/index.ts', 'platform/start.ts', 'platform/greeting.ts'),
      ),
    ).toEqual([])
  })

  it('reads the environment in one place', () => {
    expect(platform.filter((path) => /process\.env/.test(read(path)))).toEqual(['platform/command.ts'])
  })
})

describe('errors', () => {
  it('have a code', () => {
    const classes = sources.flatMap((path) =>
      [...read(path).matchAll(/class (\w+) extends \w*Error \{[\s\S]*?\n\}|class (\w+) extends \w*Error \{\}/g)]
        .filter(([text]) => !/\bcode\b/.test(text))
        .map(([, name, short]) => `${path}: ${name ?? short}`),
    )
    expect(classes).toEqual([])
  })

  it('are told apart by their code, never by their message', () => {
    const looks =
      /(\.test|\.exec|\.match)\(\w*[eE]rr\w*\.message|\b[eE]rr\w*\.message\.(includes|startsWith|endsWith|match)|\b[eE]rr\w*\.message ===/
    expect(sources.filter((path) => looks.test(read(path)))).toEqual([])
  })
})

describe('size', () => {
  const isFixed = (path: string) => generated.has(path)
  const linesOf = (path: string) => read(path).split('\n').length - 1
  const sizes = sources
    .filter((path) => !isFixed(path))
    .map((path) => ({ path, lines: linesOf(path) }))
    .sort((a, b) => a.lines - b.lines)

  it('keeps sources small: median ≤ 90 lines, none over 300', () => {
    expect(sizes[sizes.length >> 1]?.lines).toBeLessThanOrEqual(90)
    expect(sizes.filter(({ lines }) => lines > 300)).toEqual([])
  })

  it('keeps tests to 400 lines', () => {
    expect(tests.map((path) => ({ path, lines: linesOf(path) })).filter(({ lines }) => lines > 400)).toEqual([])
  })

  it('keeps folders to 25 files', () => {
    const folders = new Set(sources.map((path) => dirname(path)))
    const filesIn = (folder: string) => sources.filter((path) => dirname(path) === folder).length
    expect([...folders].filter((folder) => filesIn(folder) > 25)).toEqual([])
  })

  it('keeps functions to 60 lines', () => {
    expect(sources.filter((path) => !isFixed(path)).flatMap(longFunctions)).toEqual([])
  })
})

/** Files, or folders, that import themselves by way of others. */
function circular(found: readonly Import[]): string[] {
  const next = new Map<string, string[]>()
  for (const { from, to } of found) next.set(from, [...(next.get(from) ?? []), to])
  const reached = (start: string) => {
    const seen = new Set<string>()
    const pending = [...(next.get(start) ?? [])]
    for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
      if (seen.has(one)) continue
      seen.add(one)
      pending.push(...(next.get(one) ?? []))
    }
    return seen
  }
  return [...next.keys()].filter((one) => reached(one).has(one))
}

/** Functions of a file, from the line that declares one to the brace that closes it in the first column. */
function longFunctions(path: string): string[] {
  const lines = read(path).split('\n')
  const declared = /^(?:export )?(?:async )?(?:function\*? ?(\w+)|const (\w+)[^=]*= (?:async )?\(?.*=> \{$)/
  let open: { readonly name: string; readonly line: number } | null = null
  return lines.flatMap((text, line) => {
    if (open === null) {
      const match = declared.exec(text)
      if (match !== null && !text.endsWith('}')) open = { name: match[1] ?? match[2] ?? '', line }
      return []
    }
    if (!/^\}$/.test(text)) return []
    const { name, line: first } = open
    open = null
    return line - first + 1 > 60 ? [`${path}: ${name} has ${line - first + 1}`] : []
  })
}
