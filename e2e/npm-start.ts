import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { endWithThisProcess } from '@belfry/test-support/servers'
import { repositoryRoot } from './repository-root.ts'

/** A running `npm start`. */
export type NpmStart = { url: string; readonly output: string; stop(): Promise<void> }

/** Runs what `npm start` runs, on a free port unless `PORT` is set, and waits until it is ready. */
export async function runNpmStart(env: Record<string, string>): Promise<NpmStart> {
  const program = join(repositoryRoot(), 'programs/launcher/dist/main.mjs')
  const child = spawn(process.execPath, [program], { env: { PATH: process.env.PATH, PORT: '0', ...env } })
  const living = endWithThisProcess(child.pid ?? 0)
  let output = ''
  const ended = once(child, 'exit').then(() => living.forget())
  const url = await new Promise<string>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      output += chunk
      const [, found] = /(http:\/\/localhost:\d+)/.exec(output) ?? []
      if (found && output.includes('Ctrl-C stops everything')) resolve(found)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.once('exit', code => reject(new Error(`npm start ended with ${code}:\n${output}`)))
  })
  return {
    url,
    get output() {
      return output
    },
    async stop() {
      child.kill('SIGINT')
      await ended
    },
  }
}
