import { join } from 'node:path'
import { type ProcessResult, startProcess } from '@belfry/test-support/servers'
import { repositoryRoot } from '../repository-root.ts'

/** Runs a command such as `belfry backup` with these variables only. */
export function runMaintenance(env: Record<string, string>, ...args: string[]): Promise<ProcessResult> {
  const program = join(repositoryRoot(), 'programs/maintenance/dist/main.mjs')
  // Without a folder of its own it could find the one of a developer.
  return startProcess([process.execPath, program, ...args], { env: { DATA_DIR: '/nonexistent', ...env } }).result
}

/** Runs it, and throws unless it succeeds. */
export async function succeed(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, out, error } = await runMaintenance(env, ...args)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${out}${error}`)
  return out
}
