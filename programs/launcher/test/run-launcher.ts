import { mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processIdentity } from '@belfry/embedded'
import { type RunningProcess, startProcess } from '@belfry/test-support/servers'
import { onTestFinished } from 'vitest'

export function newDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'belfry launcher-'))
}

/** Starts the bundle of `npm start`. Its remaining processes are killed after the test. */
export function runLauncher(dataDir: string, env: Record<string, string> = {}): RunningProcess {
  const launcher = startProcess([process.execPath, join(import.meta.dirname, '../dist/main.mjs')], {
    env: { DATA_DIR: dataDir, PORT: '0', ...env },
  })
  onTestFinished(async () => void (await launcher.stop()))
  return launcher
}

/** Returns the processes of a running launcher: its services and its servers. */
export function childrenOf(dataDir: string): number[] {
  const { services } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8'))
  const postgres = Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
  return [...Object.values<{ pid: number }>(services).map(({ pid }) => pid), postgres]
}

/** Returns the addresses, in hexadecimal as in `/proc/net/tcp`, on which processes listen. Linux only. */
export function listeningAddresses(pids: readonly number[]): Set<string> {
  const addresses = new Set<string>()
  for (const pid of pids) {
    const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map(fd => linkOf(`/proc/${pid}/fd/${fd}`)))
    for (const table of ['tcp', 'tcp6']) {
      for (const line of readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1)) {
        const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
        if (state === listenState && sockets.has(`socket:[${inode}]`)) addresses.add(local.split(':')[0] ?? '')
      }
    }
  }
  return addresses
}

const listenState = '0A'

/** Returns an empty text for a file that was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

export function areAllGone(pids: number[]): boolean {
  return pids.every(pid => processIdentity(pid) === null)
}
