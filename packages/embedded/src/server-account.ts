import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

/** How to run a program that refuses to be root, and who must own its files. */
export type ServerAccount = {
  prefix: readonly string[]
  ids: { uid?: number; gid?: number }
  owner: number
}

// A uid that every system has a passwd entry for, which initdb insists on.
const nobody = 65_534

/**
 * Finds how this process can run PostgreSQL. As a normal user: directly. As root, whose checkout others may not even
 * read: in a user namespace, where the server takes itself for nobody while the kernel checks files as root; where
 * namespaces are forbidden, as most containers do, as nobody with the right to read root's files; else as plain nobody.
 */
export function findServerAccount(): ServerAccount {
  const uid = process.getuid?.() ?? 0
  if (uid !== 0 || process.platform === 'win32') return { prefix: [], ids: {}, owner: uid }
  const namespace = ['unshare', '--user', `--map-user=${nobody}`, `--map-group=${nobody}`, '--']
  if (works(namespace)) return { prefix: namespace, ids: {}, owner: 0 }
  const rights = '+dac_override,+dac_read_search'
  const bounded = [`--inh-caps=${rights}`, `--ambient-caps=${rights}`]
  const privileged = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', ...bounded, '--']
  if (works(privileged)) return { prefix: privileged, ids: {}, owner: nobody }
  return { prefix: [], ids: { uid: nobody, gid: nobody }, owner: nobody }
}

/** Gives a directory or file to the account, which only root can and needs to do. */
export function giveTo(account: ServerAccount, path: string): void {
  if (process.getuid?.() !== 0 || statSync(path).uid === account.owner) return
  spawnSync('chown', ['-R', `${account.owner}:${account.owner}`, path], { stdio: 'ignore' })
}

function works([program = '', ...args]: readonly string[]): boolean {
  return spawnSync(program, [...args, 'true'], { stdio: 'ignore' }).status === 0
}
