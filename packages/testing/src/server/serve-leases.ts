import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { openWorkspaces, type Workspaces } from './open-workspaces.ts'
import type { Servers } from './start-servers.ts'

const idleMs = 60_000

/**
 * Lends the server to one test process at a time: to the holder of an open connection. Each line on it is answered with a
 * line: a new workspace on an empty server, or an error. Writes the address to the state file.
 * @returns `unused`: resolves when no process has held the server for a minute, the state file is gone, or the services have
 * ended.
 */
export async function serveLeases(servers: Servers, stateFile: string): Promise<{ unused: Promise<void> }> {
  const token = randomBytes(16).toString('hex')
  const workspaces = await openWorkspaces(servers)
  // The next holder need not wait for its workspace.
  let prepared = prepare(workspaces)
  let holder: Socket | null = null
  let timer: NodeJS.Timeout
  let end = () => {}
  const unused = new Promise<void>(resolve => {
    end = resolve
  })
  const wait = () => {
    timer = setTimeout(end, idleMs)
  }
  const server = createServer(socket => {
    socket.on('error', () => {}) // the test process has ended
    socket.on('close', () => {
      if (socket !== holder) return
      holder = null
      prepared = prepare(workspaces)
      wait()
    })
    createInterface({ input: socket }).on('line', async line => {
      if (line !== token) return socket.end('{"error":"denied"}\n')
      if (holder !== null && holder !== socket) return socket.end('{"error":"busy"}\n')
      if (holder === socket) prepared = prepare(workspaces)
      holder = socket
      clearTimeout(timer)
      socket.write(`${await prepared}\n`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  wait()
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  writeFileSync(`${stateFile}.draft`, JSON.stringify({ port, token }), { mode: 0o600 })
  renameSync(`${stateFile}.draft`, stateFile)
  const watching = setInterval(() => existsSync(stateFile) || end(), 1_000)
  return {
    unused: Promise.race([unused, servers.ended]).then(async () => {
      clearTimeout(timer)
      clearInterval(watching)
      server.close()
      await workspaces.close()
    }),
  }
}

// The line that answers a test process.
async function prepare(workspaces: Workspaces): Promise<string> {
  const workspace = await workspaces.next().catch((error: Error) => ({ error: error.message }))
  return JSON.stringify(workspace)
}
