// The YAML language server that editors run, in a separate process, over JSON-RPC on its standard input and output.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = dirname(createRequire(import.meta.url).resolve('yaml-language-server/package.json'))
const program = join(folder, 'bin', 'yaml-language-server')

export interface Diagnostic {
  readonly message: string
  readonly range: { readonly start: { readonly line: number; readonly character: number } }
}

export interface Completion {
  readonly label: string
  readonly documentation?: string | { readonly value: string }
  readonly insertText?: string
  readonly textEdit?: { readonly newText: string }
}

export interface LanguageServer {
  /** What an editor marks in a file with this text; `uri` is that of the file, by default one to which the schemas apply. */
  readonly diagnose: (text: string, uri?: string) => Promise<readonly Diagnostic[]>
  /** What an editor offers where `¦` is. */
  readonly complete: (text: string) => Promise<readonly Completion[]>
  /** What an editor shows for the word in which `¦` is, as Markdown. */
  readonly hover: (text: string) => Promise<string>
  readonly stop: () => Promise<void>
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: {
    readonly uri?: string
    readonly diagnostics?: Diagnostic[]
    readonly items?: { section: string }[]
  }
  readonly result?: unknown
}

/** Starts it with schemas by the glob of the files that they apply to; it uses no network. */
export async function startLanguageServer(schemas: Readonly<Record<string, string>>): Promise<LanguageServer> {
  const byUri = Object.entries(schemas).map(([glob, path]) => [pathToFileURL(path).href, [glob]])
  const schemaStore = { enable: false, url: '' }
  const yaml = { schemas: Object.fromEntries(byUri), schemaStore, validate: true, completion: true, hover: true }
  const child = spawn(process.execPath, [program, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const answers = new Map<number | string, (message: Message) => void>()
  let opened = 0
  const send = (message: object) => {
    const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
    child.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`), bytes]))
  }
  const receive = (message: Message) => {
    const { id, method, params = {} } = message
    if (method === 'textDocument/publishDiagnostics') answers.get(params.uri ?? '')?.(message)
    else if (id !== undefined && method !== undefined)
      send({ id, result: params.items?.map(({ section }) => (section === 'yaml' ? yaml : null)) ?? null })
    else if (id !== undefined) answers.get(id)?.(message)
  }
  child.stdout.on('data', messageReader(receive))
  const request = (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      const id = answers.size + 1
      answers.set(id, ({ result }) => resolve(result))
      send({ id, method, params })
    })
  const open = (text: string, uri = `file:///manifests/${++opened}.yaml`) => {
    const diagnostics = new Promise<readonly Diagnostic[]>((resolve) =>
      answers.set(uri, ({ params }) => resolve(params?.diagnostics ?? [])),
    )
    send({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'yaml', version: 1, text } },
    })
    return { textDocument: { uri }, diagnostics }
  }
  const ask = (method: string, marked: string) => {
    const before = marked.slice(0, marked.indexOf('¦')).split('\n')
    const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
    const { textDocument } = open(marked.replace('¦', ''))
    return request(method, { textDocument, position })
  }
  const completionItem = { snippetSupport: true, documentationFormat: ['markdown'] }
  const capabilities = { workspace: { configuration: true }, textDocument: { completion: { completionItem } } }
  await request('initialize', { processId: process.pid, rootUri: null, workspaceFolders: null, capabilities })
  send({ method: 'initialized', params: {} })
  // Its first diagnostics come after it has read its configuration.
  await open('').diagnostics
  return {
    diagnose: (text, uri) => open(text, uri).diagnostics,
    complete: async (text) => {
      const found = (await ask('textDocument/completion', text)) as { items: Completion[] }
      return found.items
    },
    hover: async (text) => {
      const found = (await ask('textDocument/hover', text)) as { contents: { value: string } } | null
      return found?.contents.value ?? ''
    },
    stop: () => {
      child.kill()
      return ended
    },
  }
}

/** Calls `receive` for each whole message of a stream. */
function messageReader(receive: (message: Message) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0)
  return (chunk) => {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf('\r\n\r\n')
      const length = Number(/Content-Length: (\d+)/i.exec(pending.toString('latin1', 0, Math.max(end, 0)))?.[1])
      if (end < 0 || pending.length < end + 4 + length) return
      receive(JSON.parse(pending.toString('utf8', end + 4, end + 4 + length)) as Message)
      pending = pending.subarray(end + 4 + length)
    }
  }
}
