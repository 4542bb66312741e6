import { spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { freePort, waitUntil } from '@belfry/embedded'
import { type RunningProcess, startProcess } from './servers/index.ts'

export type ObjectStore = {
  /** The URL of its S3 interface. */
  endpoint: string
  accessKey: string
  secretKey: string
  bucket: string
  /** Ends the server until a function has ended. Its objects stay. */
  whileDown(run: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** Returns the S3 server versitygw on this machine; null when there is none. */
export function findObjectStore(): string | null {
  const places = ['versitygw', join(homedir(), 'go/bin/versitygw')]
  return places.find(place => spawnSync(place, ['--version'], { timeout: 10_000 }).status === 0) ?? null
}

/** Starts a real S3 server whose objects are files in a folder, with one empty bucket. */
export async function startObjectStore(folder: string): Promise<ObjectStore> {
  const program = findObjectStore()
  if (program === null)
    throw new Error('There is no versitygw: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0')
  const bucket = 'backups'
  const [data, accessKey, secretKey] = [join(folder, 'objects'), 'belfry-test', 'a-secret-of-the-test']
  await mkdir(join(data, bucket), { recursive: true })
  const port = await freePort()
  const keys = ['--access', accessKey, '--secret', secretKey]
  const run = () => startServer([program, '--port', `127.0.0.1:${port}`, ...keys, 'posix', data], port)
  let server = await run()
  return {
    ...{ endpoint: `http://127.0.0.1:${port}`, accessKey, secretKey, bucket },
    async whileDown(work) {
      await server.stop()
      await work().finally(async () => {
        server = await run()
      })
    },
    async close() {
      await server.stop()
    },
  }
}

async function startServer(command: [string, ...string[]], port: number): Promise<RunningProcess> {
  const server = startProcess(command)
  const listens = await waitUntil(() => !server.isRunning() || answers(port), 20_000)
  if (!listens || !server.isRunning()) throw new Error(`versitygw did not start:\n${server.output}`)
  return server
}

function answers(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
