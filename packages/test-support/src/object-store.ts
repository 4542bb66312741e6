import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { freePort, waitUntil } from '@belfry/embedded'
import { endWithThisProcess } from './servers/index.ts'

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
  const run = () => startProgram(program, ['--port', `127.0.0.1:${port}`, ...keys, 'posix', data], port)
  let end = await run()
  return {
    ...{ endpoint: `http://127.0.0.1:${port}`, accessKey, secretKey, bucket },
    async whileDown(work) {
      await end()
      await work().finally(async () => {
        end = await run()
      })
    },
    close: () => end(),
  }
}

// Returns a function that ends it.
async function startProgram(program: string, args: string[], port: number): Promise<() => Promise<void>> {
  const child = spawn(program, args, { stdio: 'ignore' })
  const living = endWithThisProcess(child.pid ?? 0)
  const listens = await waitUntil(() => child.exitCode !== null || answers(port), 20_000)
  if (!listens || child.exitCode !== null) throw new Error(`versitygw did not start (${child.exitCode}).`)
  return () => end(child, living.forget)
}

async function end(child: ChildProcess, forget: () => void): Promise<void> {
  if (child.exitCode === null && child.kill()) await once(child, 'exit')
  forget()
}

function answers(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
