// The built witness in a separate process.
import { startSvc } from '../cli/svc.js'

export interface WitnessProcess {
  readonly url: string
  readonly key: string
  readonly add: (request: string) => Promise<{ status: number; type: string; text: string }>
  /** Ends it; resolves with the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts a witness on a free port. Rejects with its output when it ends instead. */
export async function startWitness(folder: string, logs: readonly string[], name = 'witness.example') {
  const args = ['witness', '--name', name, '--dir', folder, '--port', '0', ...logs.flatMap((key) => ['--log', key])]
  const { child, finished } = startSvc(args)
  const printed = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk) => {
      text += chunk
      if (text.includes('its key')) resolve(text)
    })
    finished.then(({ stderr, code }) => reject(new Error(`ended with ${code}: ${stderr}`)))
  })
  const url = /at (\S+)\/add-checkpoint/.exec(printed)?.[1] ?? ''
  const add = async (body: string) => {
    const response = await fetch(`${url}/add-checkpoint`, { method: 'POST', body })
    return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
  }
  const stop = async () => {
    child.kill('SIGTERM')
    return (await finished).code
  }
  const witness: WitnessProcess = { url, key: /its key: (\S+)/.exec(printed)?.[1] ?? '', add, stop }
  return witness
}
