import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { majorVersionOf } from '@belfry/embedded'
import { PlainError } from '@belfry/launcher'
import { environmentWith } from './config.ts'

type Tool = 'pg_dump' | 'pg_restore'

/** Throws unless the tool is on PATH in a version that fits the server. `major` is the version of the server. */
export function requireTool(tool: Tool, major: number): void {
  const found = majorVersionOf(tool)
  const advice = `Install the client programs of PostgreSQL ${major} or newer, such as the package postgresql-client-${major}.`
  if (found === 0) throw new PlainError(`${tool} is not on PATH. ${advice}`)
  if (found < major)
    throw new PlainError(`${tool} on PATH is of version ${found}, and the server of ${major}. ${advice}`)
}

/** Runs a tool on a database. The password is in its environment, because every user can read arguments. */
export async function runTool(tool: Tool, databaseUrl: string, args: readonly string[]): Promise<void> {
  const url = new URL(databaseUrl)
  const password = decodeURIComponent(url.password)
  url.password = ''
  const env = environmentWith(password === '' ? {} : { PGPASSWORD: password })
  const child = spawn(tool, [`--dbname=${url.href}`, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', chunk => {
    errors = (errors + chunk).slice(-4_000)
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new PlainError(`${tool} failed:\n${errors.trim()}`)
}
