import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Returns `redis-server` or `valkey-server` on PATH, version 6.2 or newer; null when there is none. */
export function findRedisServer(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const programs = ['redis-server', 'valkey-server'].flatMap(name => folders.map(folder => join(folder, name)))
  return programs.find(program => existsSync(program) && isRecent(versionOf(program))) ?? null
}

/** Returns whether a server's `--version` line has 6.2 or newer. */
export function isRecent(versionLine: string): boolean {
  const [, major = 0, minor = 0] = (/\bv=(\d+)\.(\d+)/.exec(versionLine) ?? []).map(Number)
  return major > 6 || (major === 6 && minor >= 2)
}

function versionOf(program: string): string {
  return spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 5000 }).stdout ?? ''
}
