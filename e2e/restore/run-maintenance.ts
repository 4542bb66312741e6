import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { repositoryRoot } from '../repository-root.ts'

export type Printed = { code: number; out: string; error: string }

/** Runs `belfry backup` or `belfry restore` with these variables only. */
export async function runMaintenance(env: Record<string, string>, ...args: string[]): Promise<Printed> {
  const program = join(repositoryRoot(), 'programs/maintenance/dist/main.mjs')
  const given = { PATH: process.env.PATH, DATA_DIR: '/nonexistent', ...env }
  const child = spawn(process.execPath, [program, ...args], { env: given, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { out: '', error: '' }
  child.stdout.on('data', chunk => (printed.out += chunk))
  child.stderr.on('data', chunk => (printed.error += chunk))
  const [code] = await once(child, 'close')
  return { code, ...printed }
}

/** Runs it, and throws unless it succeeds. */
export async function succeed(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, out, error } = await runMaintenance(env, ...args)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${out}${error}`)
  return out
}
