// The way this command was called, so that a printed command works when it is pasted.
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { Writable } from 'node:stream'

export interface Call {
  /** The file that Node.js runs. */
  readonly program: string
  readonly cwd: string
  /** PATH; npm puts folders of its own in front of it while it runs a command. */
  readonly path: string
}

/** `svc` where PATH leads to this program, `npx --no-install svc` in an install of it, else the path of the program. */
export function calledAs({ program, cwd, path }: Call): string {
  const isThis = (folder: string) => leadsTo(join(folder, 'svc'), program)
  const own = path.split(delimiter).filter((folder) => folder !== '' && !/node_modules[\\/]\.bin[\\/]?$/.test(folder))
  if (own.some(isThis)) return 'svc'
  if (foldersFrom(cwd).some((folder) => isThis(join(folder, 'node_modules', '.bin')))) return 'npx --no-install svc'
  return program === '' ? 'svc' : `node ${shellWord(program)}`
}

/** On Windows npm writes a script instead of a link. */
function leadsTo(link: string, program: string): boolean {
  return existsSync(`${link}.cmd`) || (existsSync(link) && realpathSync(link) === realpathOf(program))
}

function realpathOf(program: string): string {
  return existsSync(program) ? realpathSync(program) : program
}

/** The folder and those above it. */
function foldersFrom(folder: string): string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...foldersFrom(above)]
}

/** The text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Replaces `svc` in the commands `svc rules` and `svc steps`, which messages of the engine name, with the way it was called. */
export function namingCommands(svc: string, stream: Writable): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      stream.write(chunk.toString().replace(/`svc (?=(rules|steps)`)/g, () => `\`${svc} `))
      done()
    },
  })
}

/** The text with every command `svc …` in backticks, which messages of a platform name, as it is called here. */
export function spelled(svc: string, text: string): string {
  return text.replaceAll(/`svc (?=[a-z])/g, () => `\`${svc} `)
}

/** This process as it was called. */
export function currentCall({ argv, env, cwd }: Pick<NodeJS.Process, 'argv' | 'env' | 'cwd'>): Call {
  return { program: argv[1] === undefined ? '' : resolve(argv[1]), cwd: folderOf(cwd), path: env.PATH ?? '' }
}

/** The current folder; the root if it has been removed. */
function folderOf(cwd: () => string): string {
  try {
    return cwd()
  } catch {
    return '/'
  }
}
