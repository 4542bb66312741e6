import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine, processIdentity, stopLeftoverPostgres } from '@belfry/embedded'
import { stopLeftoverRedis } from './servers/start-redis.ts'

const prefix = 'belfry-tests-'
const pidFiles = ['postmaster.pid', 'redis.pid']

/** Creates the folder of a test run, after removing those of killed runs. */
export async function createRunFolder(): Promise<string> {
  for (const name of readdirSync(tmpdir()).filter(entry => entry.startsWith(prefix))) {
    const folder = join(tmpdir(), name)
    if (isOwn(folder) && !isOwnerAlive(folder)) await removeRunFolder(folder)
  }
  const folder = mkdtempSync(join(tmpdir(), prefix))
  writeFileSync(join(folder, 'owner'), `${process.pid} ${processIdentity(process.pid)}`)
  // Ctrl-C ends a run without its teardown.
  process.once('exit', () => destroy(folder))
  return folder
}

/** Stops all servers with data in the folder, and removes it. */
export async function removeRunFolder(folder: string): Promise<void> {
  for (const dataDir of findDataDirs(folder)) {
    await stopLeftoverPostgres(dataDir)
    await stopLeftoverRedis(dataDir)
  }
  destroy(folder)
}

// A folder of another user cannot be read or removed.
function isOwn(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.()
}

function isOwnerAlive(folder: string): boolean {
  const owner = join(folder, 'owner')
  if (!existsSync(owner)) return false
  const [pid, identity] = readFileSync(owner, 'utf8').split(' ')
  return processIdentity(Number(pid)) === identity
}

function destroy(folder: string): void {
  for (const dataDir of findDataDirs(folder)) {
    for (const pidFile of pidFiles.filter(file => existsSync(join(dataDir, file)))) {
      const pid = Number.parseInt(readFileSync(join(dataDir, pidFile), 'utf8'), 10)
      if (commandLine(pid).includes(dataDir)) process.kill(pid, 'SIGKILL')
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function findDataDirs(folder: string): string[] {
  if (!existsSync(folder)) return []
  if (pidFiles.some(file => existsSync(join(folder, file)))) return [folder]
  const folders = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
  return folders.flatMap(entry => findDataDirs(join(folder, entry.name)))
}
