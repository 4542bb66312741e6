import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { endWithThisProcess } from '@belfry/test-support/servers'
import { repositoryRoot } from './repository-root.ts'

export type ServiceName = 'api' | 'scheduler' | 'dispatcher'

/** A service, or all services in one process. */
export type ProgramName = ServiceName | 'all-in-one'

/** A process of Belfry. */
export type RunningService = {
  name: ProgramName
  pid: number
  /** Its output so far. */
  readonly output: string
  /** Resolves with the exit code, or with the name of the signal that ended it. */
  ended: Promise<number | string>
  /** Sends a signal and resolves as `ended` does. */
  stop(signal?: NodeJS.Signals): Promise<number | string>
}

/** Starts a service from its bundle and waits until it is ready. */
export async function startService(
  name: ProgramName,
  env: Record<string, string>,
  bundle?: string,
): Promise<RunningService> {
  const { service, ready } = spawnService(name, env, bundle)
  const first = await Promise.race([ready, service.ended])
  if (first !== 'ready') throw new Error(`The ${name} ended with ${first} instead of starting:\n${service.output}`)
  return service
}

/** Starts a service without waiting for it. */
export function spawnService(
  name: ProgramName,
  env: Record<string, string>,
  bundle = 'main.mjs',
): { service: RunningService; ready: Promise<'ready'> } {
  const child = fork(bundleOf(name, bundle), {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [], // without the options of the test runner
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', text => {
      output += text
    })
  }
  const living = endWithThisProcess(child.pid ?? 0)
  const ended = once(child, 'exit').then(([code, signal]) => {
    living.forget()
    return (code ?? signal) as number | string
  })
  const service: RunningService = {
    name,
    pid: child.pid ?? 0,
    get output() {
      return output
    },
    ended,
    stop(signal = 'SIGTERM') {
      send(child, signal)
      return ended
    },
  }
  return { service, ready: new Promise(resolve => child.once('message', () => resolve('ready'))) }
}

/** Returns the path of a program. */
export function bundleOf(name: ProgramName, bundle = 'main.mjs'): string {
  return join(repositoryRoot(), name === 'all-in-one' ? 'programs' : 'services', name, 'dist', bundle)
}

// A process that SIGSTOP has stopped acts only on SIGKILL until SIGCONT.
function send(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal)
}
