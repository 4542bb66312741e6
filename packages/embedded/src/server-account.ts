import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { PostgresBinaries } from './postgres-binaries.ts'

/** How to run a program that refuses to run as root, and the owner of its files. */
export type ServerAccount = {
  prefix: readonly string[]
  ids: { uid?: number; gid?: number }
  owner: { uid: number; gid: number }
}

// initdb requires a user with a name, and every system has this one.
const unprivileged = { uid: 65_534, gid: 65_534 }

/**
 * Returns how this process can run PostgreSQL on data below a folder, and the binaries. A normal user runs it directly, root
 * in the first of several ways that works.
 */
export function findServerAccount(binaries: PostgresBinaries, folder: string) {
  const uid = process.getuid?.() ?? 0
  const gid = process.getgid?.() ?? 0
  if (uid !== 0 || process.platform === 'win32')
    return { account: { prefix: [], ids: {}, owner: { uid, gid } }, binaries }
  for (const reachable of [() => binaries, () => copyWithinReach(binaries)]) {
    const found = reachable()
    const account = waysOfRoot(found).find(way => works(way, found, folder))
    if (account) return { account, binaries: found }
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and no other user can reach ${folder}. ` +
      'Start as a normal user, or set DATABASE_URL to a PostgreSQL of your own.',
  )
}

function waysOfRoot({ initdb }: PostgresBinaries): ServerAccount[] {
  const { uid, gid } = statSync(initdb)
  const namespace = ['unshare', '--user', `--map-user=${unprivileged.uid}`, `--map-group=${unprivileged.gid}`, '--']
  const caps = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  const privileged = [
    'setpriv',
    `--reuid=${unprivileged.uid}`,
    `--regid=${unprivileged.gid}`,
    '--clear-groups',
    ...caps,
    '--',
  ]
  return [
    // The process sees itself as an unprivileged user, while the system checks its files as root.
    { prefix: namespace, ids: {}, owner: { uid: 0, gid: 0 } },
    // Root in the checkout of another user, as with sudo.
    { prefix: [], ids: { uid, gid }, owner: { uid, gid } },
    // Most containers forbid namespaces, but let root pass on its capability to ignore permissions.
    { prefix: privileged, ids: {}, owner: unprivileged },
    { prefix: [], ids: unprivileged, owner: unprivileged },
  ]
}

// initdb checks all its files before it shows its settings.
function works({ prefix, ids }: ServerAccount, { initdb }: PostgresBinaries, folder: string): boolean {
  const test = ['sh', '-c', '"$0" --show -D "$1" && test -x "$1"', initdb, folder]
  const [program = '', ...args] = [...prefix, ...test]
  return spawnSync(program, args, { ...ids, stdio: 'ignore' }).status === 0
}

/** Changes the owner of a directory or file to the account. Only root can, and needs to. */
export function giveTo({ owner }: ServerAccount, path: string): void {
  if (process.getuid?.() !== 0 || statSync(path).uid === owner.uid) return
  spawnSync('chown', ['-R', `${owner.uid}:${owner.gid}`, path], { stdio: 'ignore' })
}

/**
 * Copies the server's programs (60 MB) to a folder that every user can read, once. Below a home that only root can enter,
 * initdb cannot find its own files, even with more privileges.
 */
function copyWithinReach({ initdb, postgres }: PostgresBinaries): PostgresBinaries {
  const source = dirname(dirname(initdb))
  const target = join('/tmp', `belfry-postgres-${createHash('sha256').update(source).digest('hex').slice(0, 12)}`)
  if (!existsSync(target)) {
    const draft = mkdtempSync(`${target}-`)
    cpSync(source, draft, { recursive: true, verbatimSymlinks: true })
    chmodSync(draft, 0o755)
    try {
      renameSync(draft, target)
    } catch {
      rmSync(draft, { recursive: true }) // another process was faster
    }
  }
  const { uid, mode } = lstatSync(target)
  // Any user can create a folder of that name, and root is going to run the programs in it.
  if (uid !== process.getuid?.() || mode & 0o022)
    throw new Error(`${target} belongs to another user. Remove it, then start again.`)
  return { initdb: join(target, 'bin', basename(initdb)), postgres: join(target, 'bin', basename(postgres)) }
}
