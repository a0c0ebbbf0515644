// A hostile Git host: large, slow, silent, crafted, redirecting. Each is rejected or ended, and nothing is left behind.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type GitHost, packet, type RealRepository, startGitHost } from '../../../support/git/git-host.js'
import { faultOf, gitAddress, type SourceOptions, type TestSources, testSources } from '../../../support/git/sources.js'
import { soon } from '../../../support/server/soon.js'

let host: GitHost
const opened: TestSources[] = []
beforeAll(async () => {
  host = await startGitHost()
  host.add('open.git').commit({ 'a.yaml': 'name: a\n' })
})
afterEach(() => {
  host.intercept = () => false
})
afterAll(async () => {
  for (const sources of opened) await sources.discard()
  host.close()
})

function at(options: SourceOptions = {}): TestSources {
  const sources = testSources(options)
  opened.push(sources)
  return sources
}
const opens = (sources: TestSources, name: string) => sources.open(gitAddress(`${host.url}/${name}`), 'x')
const listed = async (sources: TestSources, name: string) => {
  const source = opens(sources, name)
  return source.list((await source.resolve(null)).commit_sha)
}

/** Command lines of running processes that name the host of this test. */
function running(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const lines = pids.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    } catch {
      return ''
    }
  })
  return lines.filter((line) => line.includes(host.url))
}

/** Makes the tree the head of `main`: by bytes, because Git itself writes no such tree. */
function commitTree({ folder, git }: RealRepository, tree: Buffer): void {
  const args = [`--git-dir=${folder}`, 'hash-object', '-t', 'tree', '-w', '--stdin', '--literally']
  const sha = execFileSync('git', args, { input: tree, encoding: 'utf8' }).trim()
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.org']
  git('update-ref', 'refs/heads/main', git(...author, 'commit-tree', sha, '-m', 'test'))
}

const line = (mode: string, name: string, sha: string) =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(sha, 'hex')])

/** The side band of the pack; a pack with one blob of 1 TiB, up to its content. */
const one = Buffer.from([1])
const packHead = Buffer.from([
  ...Buffer.from('PACK'),
  ...[0, 0, 0, 2, 0, 0, 0, 1],
  ...[0xb0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x04],
  ...[0x78, 0x01],
])

function endless(response: ServerResponse, chunk: Buffer): void {
  const send = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', send)
  }
  send()
}

describe('a host', () => {
  const slow: readonly [string, GitHost['intercept']][] = [
    ['never answers', () => true],
    [
      'sends a byte now and then',
      (_: unknown, response: ServerResponse) => {
        const timer = setInterval(() => response.write('0'), 50)
        response.on('close', () => clearInterval(timer))
        return true
      },
    ],
  ]
  it.each(slow)('that %s is left, with all processes of Git', async (_, intercept) => {
    const { commit_sha } = await opens(at(), 'open.git').resolve(null)
    const sources = at({ limits: { timeoutMs: 3000 } })
    const source = opens(sources, 'open.git')
    host.intercept = intercept
    for (const call of [() => source.resolve(null), () => source.list(commit_sha)]) {
      const calling = call()
      const failing = faultOf(calling, 'fetch_failed')
      await vi.waitFor(() => expect(running().some((one) => one.includes('remote-http'))).toBe(true), soon)
      expect((await failing).message).toBe('no answer within 3 s')
      await vi.waitFor(() => expect(running()).toEqual([]), soon)
    }
    expect(readdirSync(join(sources.folder, 'x'))).toEqual([])
  })

  it('that does not list its branches is left before it could send a pack', async () => {
    const sources = at({ limits: { timeoutMs: 60_000, answerMs: 500 } })
    host.intercept = () => true
    const error = await faultOf(opens(sources, 'open.git').resolve(null), 'fetch_failed')
    expect(error.message).toBe('no answer within 0.5 s')
    await vi.waitFor(() => expect(running()).toEqual([]), soon)
  })

  it('that lists branches without end is left', async () => {
    host.intercept = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
      response.write('001e# service=git-upload-pack\n0000')
      const name = `refs/heads/${'x'.repeat(60_000)}`
      const pkt = packet(`${'a'.repeat(40)} ${name}\n`)
      endless(response, Buffer.concat(Array.from({ length: 16 }, () => pkt)))
      return true
    }
    await expect(opens(at(), 'open.git').resolve(null)).rejects.toMatchObject({ code: 'too_large' })
    await vi.waitFor(() => expect(running()).toEqual([]), soon)
  })

  it('that sends a pack without end is left while it fetches', async () => {
    const sources = at({ limits: { maxDiskBytes: 4 * 1024 * 1024 } })
    const source = opens(sources, 'open.git')
    const { commit_sha } = await source.resolve(null)
    let posts = 0
    host.intercept = (request, response) => {
      if (request.method === 'POST') posts += 1
      // The first POST lists the references, the second one fetches.
      if (request.method !== 'POST' || posts !== 2) return false
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' })
      response.write(Buffer.concat([packet('shallow-info\n'), packet(`shallow ${commit_sha}`), Buffer.from('0001')]))
      response.write(Buffer.concat([packet('packfile\n'), packet(Buffer.concat([one, packHead]))]))
      // Blocks of deflate that store what they hold, which is random.
      endless(response, packet(Buffer.concat([one, Buffer.from([0, 0xff, 0x7f, 0, 0x80]), randomBytes(0x7fff)])))
      return true
    }
    await faultOf(source.list(commit_sha), 'too_large')
    expect(posts).toBe(2)
    expect(readdirSync(join(sources.folder, 'x'))).toEqual([])
    await vi.waitFor(() => expect(running()).toEqual([]), soon)
  })

  it('is left when the platform stops', async () => {
    const sources = at()
    host.intercept = () => true
    const failing = faultOf(opens(sources, 'open.git').resolve(null), 'fetch_failed')
    await vi.waitFor(() => expect(running().some((one) => one.includes('remote-http'))).toBe(true), soon)
    await sources.close()
    await failing
    await vi.waitFor(() => expect(running()).toEqual([]), soon)
  })

  it('that redirects is not followed', async () => {
    const reached: string[] = []
    const elsewhere: Server = createServer((request, response) => {
      reached.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const { port } = elsewhere.address() as AddressInfo
    for (const status of [301, 302, 307, 308]) {
      host.intercept = (request, response) => {
        response.writeHead(status, { location: `http://127.0.0.1:${port}${request.url}` }).end()
        return true
      }
      await faultOf(opens(at(), 'open.git').resolve(null), 'rejected')
    }
    expect(reached).toEqual([])
    elsewhere.close()
  })

  it('that speaks the old protocol of plain files is not read', async () => {
    const requested: string[] = []
    host.intercept = (request, response) => {
      requested.push(request.url ?? '')
      const isRefs = request.url?.includes('info/refs') === true
      response.end(isRefs ? `${'a'.repeat(40)}\trefs/heads/main\n` : `${host.url}/open.git/objects\n`)
      return true
    }
    await faultOf(listed(at(), 'x.git'), 'fetch_failed')
    expect(requested.filter((path) => path.includes('alternates'))).toEqual([])
  })

  it.each(['', '0000', '001e# service=git-upload-pack\n', 'ffff', '<html></html>', '\u001b[2J'])(
    'that answers %j is reported',
    async (text) => {
      host.intercept = (_, response) => {
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' }).end(text)
        return true
      }
      const error = await opens(at(), 'open.git')
        .resolve(null)
        .catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: expect.stringMatching(/fetch_failed|branch_missing/) })
      expect(String(error)).toMatch(/^[ -~]+$/)
    },
  )
})

describe('a repository', () => {
  it('with more bytes than the limit is too large, and leaves no copy', async () => {
    host.add('huge.git').commit({ 'a.bin': { mode: '100644', content: randomBytes(3 * 1024 * 1024) } })
    const sources = at({ limits: { maxDiskBytes: 1024 * 1024 } })
    await faultOf(listed(sources, 'huge.git'), 'too_large')
    expect(readdirSync(join(sources.folder, 'x'))).toEqual([])
  })

  it('with more than 100,000 entries is too large', async () => {
    const files = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`d${index % 100}/f${index}`, '']))
    host.add('wide.git').commit(files)
    await faultOf(listed(at(), 'wide.git'), 'too_large')
  })

  it('whose folders repeat each other without end is too large', async () => {
    const bomb = host.add('bomb.git')
    bomb.commit({ 'a.yaml': '' })
    let sha = bomb.git('rev-parse', 'main^{tree}')
    for (let depth = 0; depth < 12; depth += 1) {
      const lines = Array.from({ length: 10 }, (_, index) => line('40000', `d${index}`, sha))
      commitTree(bomb, Buffer.concat(lines))
      sha = bomb.git('rev-parse', 'main^{tree}')
    }
    await faultOf(listed(at({ limits: { maxReadBytes: 4 * 1024 * 1024 } }), 'bomb.git'), 'too_large')
  })

  it('whose folders repeat each other without end, and hold no file, is too large before any time limit', async () => {
    const bomb = host.add('silent-bomb.git')
    bomb.commit({ 'a.yaml': '' })
    // Git lists nothing of it, for as long as it takes.
    let sha = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
    bomb.git('hash-object', '-t', 'tree', '-w', '/dev/null')
    for (let depth = 0; depth < 12; depth += 1) {
      commitTree(bomb, Buffer.concat(Array.from({ length: 10 }, (_, index) => line('40000', `d${index}`, sha))))
      sha = bomb.git('rev-parse', 'main^{tree}')
    }
    const error = await faultOf(listed(at(), 'silent-bomb.git'), 'too_large')
    expect(error.message).toContain('more than 100,000 files')
  })

  it('with more than 100 folders in each other is too large', async () => {
    const deep = host.add('deep.git')
    deep.commit({ [`${'d/'.repeat(99)}a.yaml`]: '' })
    expect((await listed(at(), 'deep.git')).size).toBe(1)
    deep.commit({ [`${'d/'.repeat(100)}a.yaml`]: '' })
    await faultOf(listed(at(), 'deep.git'), 'too_large')
  })

  it('with a file that is larger than the limit does not send it', async () => {
    host.add('file.git').commit({ 'a.bin': { mode: '100644', content: Buffer.alloc(2 * 1024 * 1024) } })
    const source = opens(at(), 'file.git')
    const tree = await source.list((await source.resolve(null)).commit_sha)
    const sha = tree.get('a.bin')?.blob_sha ?? ''
    expect(tree.get('a.bin')?.size).toBe(2 * 1024 * 1024)
    await faultOf(source.read([sha]), 'too_large')
    await faultOf(source.read(['b'.repeat(40)]), 'fetch_failed')
  })

  it('with a folder of 200 MiB in one tree is too large', async () => {
    const crafted = host.add('tree.git')
    const sha = crafted.git('rev-parse', crafted.commit({ 'a.yaml': '' }) && 'main:a.yaml')
    const lines = Array.from({ length: 1000 }, (_, index) => line('100644', `f${index}${'x'.repeat(2000)}`, sha))
    const some = Buffer.concat(lines)
    commitTree(crafted, Buffer.concat(Array.from({ length: 100 }, () => some)))
    await expect(listed(at(), 'tree.git')).rejects.toMatchObject({ code: 'too_large' })
  })

  it.each(['..', '.', '.git', '.GIT', ''])('with the folder %j in a tree is rejected', async (name) => {
    const crafted = host.add(`crafted-${randomBytes(4).toString('hex')}.git`)
    crafted.commit({ config: '[core]\n\tfsmonitor = touch x\n' })
    commitTree(crafted, line('40000', name, crafted.git('rev-parse', 'main^{tree}')))
    const path = crafted.folder.slice(host.folder.length + 1)
    await expect(listed(at(), path)).rejects.toMatchObject({ code: expect.stringMatching(/rejected|fetch_failed/) })
  })

  it.each(['../x', '/etc/passwd', 'a/../../x'])('with the file name %j in a tree is rejected', async (name) => {
    const crafted = host.add(`crafted-${randomBytes(4).toString('hex')}.git`)
    crafted.commit({ 'a.yaml': 'name: a\n' })
    commitTree(crafted, line('100644', name, crafted.git('rev-parse', 'main:a.yaml')))
    const path = crafted.folder.slice(host.folder.length + 1)
    await expect(listed(at(), path)).rejects.toMatchObject({ code: expect.stringMatching(/rejected|fetch_failed/) })
  })
})
