import { join } from 'node:path'
import { type RunningProcess, startProcess } from '@belfry/test-support/servers'
import { repositoryRoot } from './repository-root.ts'

/** A running `npm start`. */
export type NpmStart = Pick<RunningProcess, 'output'> & { url: string; stop(): Promise<unknown> }

/** Runs what `npm start` runs, on a free port unless `PORT` is set, and waits until it is ready. */
export async function runNpmStart(env: Record<string, string>): Promise<NpmStart> {
  const program = join(repositoryRoot(), 'programs/launcher/dist/main.mjs')
  const launcher = startProcess([process.execPath, program], { env: { PORT: '0', ...env } })
  await launcher.prints('Ctrl-C stops everything', 120_000)
  const [url = ''] = /http:\/\/localhost:\d+/.exec(launcher.output) ?? []
  return {
    url,
    get output() {
      return launcher.output
    },
    stop: () => launcher.stop('SIGINT'),
  }
}
