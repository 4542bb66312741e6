import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The right to use a server, until `release` or the end of this process. */
export type Lease = {
  /** Empties the server, and returns a new workspace. */
  renew(): Promise<Workspace>
  release(): void
}

export type Workspace = { url: string; apiKey: string }

const startTimeoutMs = 120_000

// The checkout has it beside the sources, the package below `server`.
const program = ['../dist/server.mjs', '../server/packages/testing/dist/server.mjs']
  .map(path => fileURLToPath(new URL(path, import.meta.url)))
  .find(path => existsSync(path))

/** Takes a server that no other test process uses, or starts one. */
export async function takeLease(): Promise<{ lease: Lease; workspace: Workspace }> {
  if (program === undefined) throw new Error('The server is not built: run `node scripts/build-testing.mjs`.')
  const folder = stateFolder(program)
  for (const file of readdirSync(folder).filter(name => name.endsWith('.json'))) {
    const found = await tryLease(join(folder, file))
    if (found) return found
  }
  const file = join(folder, `${randomUUID()}.json`)
  const log = startServer(program, file)
  for (const giveUpAt = performance.now() + startTimeoutMs; performance.now() < giveUpAt; await sleep(20)) {
    const found = existsSync(file) ? await tryLease(file) : null
    if (found) return found
    if (log.hasEnded()) break
  }
  throw new Error(`Belfry did not start. Its output is ${log.file}:\n${readFileSync(log.file, 'utf8')}`)
}

// One folder for each build and user, whose servers only that user reaches.
function stateFolder(server: string): string {
  const build = statSync(server).mtimeMs.toString(36)
  const folder = join(tmpdir(), `belfry-testing-${userInfo().username}-${build}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (process.getuid && statSync(folder).uid !== process.getuid()) throw new Error(`${folder} belongs to another user.`)
  return folder
}

// It outlives this process, for the next test file.
function startServer(server: string, stateFile: string): { file: string; hasEnded(): boolean } {
  const file = `${stateFile}.log`
  const log = openSync(file, 'a', 0o600)
  const child = spawn(process.execPath, [server, stateFile], {
    detached: true,
    stdio: ['ignore', log, log],
    windowsHide: true,
  })
  closeSync(log)
  child.unref()
  return { file, hasEnded: () => child.exitCode !== null || child.signalCode !== null }
}

/** Returns null when another process uses the server, or it has ended. */
async function tryLease(stateFile: string): Promise<{ lease: Lease; workspace: Workspace } | null> {
  const { port, token } = JSON.parse(readFileSync(stateFile, 'utf8')) as { port: number; token: string }
  const socket = await open(port).catch(() => null)
  if (socket === null) {
    rmSync(stateFile, { force: true })
    return null
  }
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  async function renew(): Promise<Workspace> {
    socket?.ref()
    socket?.write(`${token}\n`)
    const { value } = await lines.next()
    socket?.unref()
    const answer = JSON.parse(value ?? '{"error":"The server has ended."}') as Workspace & { error?: string }
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer
  }
  const lease = { renew, release: () => void socket.destroy() }
  try {
    return { lease, workspace: await renew() }
  } catch (error) {
    lease.release()
    if (error instanceof Error && /^(busy|The server has ended\.)$/.test(error.message)) return null
    throw error
  }
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.on('error', () => {}) // the server has ended: the next line says so
  return socket
}
