import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { majorVersionOf } from '@belfry/embedded'
import { PlainError } from '@belfry/launcher'
import { environment } from './config.ts'

type Tool = 'pg_dump' | 'pg_restore'

/**
 * Runs a tool on a database. The password is in its environment, because every user can read arguments.
 * @param postgres - The version of the server, such as `18.4`.
 */
export async function runTool(tool: Tool, postgres: string, databaseUrl: string, args: readonly string[]) {
  requireTool(tool, Number.parseInt(postgres, 10))
  const url = new URL(databaseUrl)
  const password = decodeURIComponent(url.password)
  url.password = ''
  const env = { ...environment, ...(password !== '' && { PGPASSWORD: password }) }
  try {
    await promisify(execFile)(tool, [`--dbname=${url.href}`, ...args], { env, maxBuffer: Number.POSITIVE_INFINITY })
  } catch (error) {
    const { stderr } = error as { stderr: string } // of `execFile`
    throw new PlainError(`${tool} failed:\n${stderr.slice(-4_000).trim()}`)
  }
}

/** Throws unless the tool is on PATH in a version that fits the server. */
function requireTool(tool: Tool, major: number): void {
  const found = majorVersionOf(tool)
  const advice = `Install the client programs of PostgreSQL ${major} or newer, such as the package postgresql-client-${major}.`
  if (found === 0) throw new PlainError(`${tool} is not on PATH. ${advice}`)
  if (found < major)
    throw new PlainError(`${tool} on PATH is of version ${found}, and the server of ${major}. ${advice}`)
}
