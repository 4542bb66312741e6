import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PlainError } from './errors.ts'
import type { Opened } from './opened.ts'
import { say } from './terminal.ts'

const pauseMs = 500

/**
 * Takes the volume of a container. A container does not see the processes of another one on the same volume, and two
 * PostgreSQLs would destroy the data. A socket on the volume reaches from one container to the other. While another
 * container answers there, waits for its end.
 * @param timeoutMs - 0 does not wait.
 * @throws PlainError when the other container keeps running.
 */
export async function claimVolume(socket: string, timeoutMs: number, stop?: AbortSignal): Promise<Opened> {
  const folder = dirname(socket)
  const giveUpAt = performance.now() + timeoutMs
  for (let tries = 0; await answers(socket); tries++) {
    if (performance.now() >= giveUpAt)
      throw new PlainError(`A container still uses ${folder}. Stop it, or mount another volume.`)
    if (tries === 0) say(`Another container uses ${folder}. Waiting for its end ...`)
    await sleep(pauseMs)
    stop?.throwIfAborted()
  }
  rmSync(socket, { force: true }) // of a killed container
  const server = createServer(connection => void connection.destroy()).listen(socket)
  await once(server, 'listening')
  server.unref()
  const release = () => void server.close()
  return { stop: async () => release(), kill: release }
}

/** Returns whether a folder is in the container itself, and not on a volume. */
export function endsWithContainer(folder: string): boolean {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  const mountPoints = lines.map(line => line.split(' ')[4]).filter(point => point && point !== '/')
  return !mountPoints.some(point => `${folder}/`.startsWith(`${point}/`))
}

function answers(socket: string): Promise<boolean> {
  return new Promise(resolve => {
    const connection = connect(socket)
    connection.once('connect', () => {
      connection.destroy()
      resolve(true)
    })
    connection.once('error', () => resolve(false)) // it does not exist, or its process has ended
  })
}
