import { join } from 'node:path'
import { runCli } from '@belfry/cli/run-cli'
import { type ProcessResult, startProcess } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Caller } from '../api-calls.ts'
import { repositoryRoot } from '../repository-root.ts'

export type RunningCli = {
  readonly out: string
  readonly error: string
  /** Waits until the program has printed a text. */
  prints(text: RegExp): Promise<void>
  /** Stops it, as Ctrl-C does. */
  interrupt(): Promise<ProcessResult>
  ended: Promise<ProcessResult>
}

/** The published program as a process. */
export type CliProcess = RunningCli & {
  /** Ends it at once, in the middle of what it does. */
  kill(): Promise<ProcessResult>
}

const program = join(repositoryRoot(), 'programs/cli/dist/main.mjs')

/**
 * Runs a command against one Belfry in this process.
 * @param more - Variables that are different.
 */
export function startCommand(
  belfry: { url: string; caller: Caller },
  args: readonly string[],
  input = '',
  more: Record<string, string> = {},
): RunningCli {
  const printed = { out: '', error: '' }
  const collect = (name: 'out' | 'error') => ({
    write(text: string) {
      printed[name] += text
    },
  })
  const stop = new AbortController()
  const ended = runCli(args, {
    env: { ...environmentOf(belfry), ...more },
    stdin: (async function* () {
      yield input
    })(),
    stdout: collect('out'),
    stderr: collect('error'),
    signal: stop.signal,
  }).then(code => ({ code, ...printed }))
  return {
    get out() {
      return printed.out
    },
    get error() {
      return printed.error
    },
    prints: async text => {
      await waitFor(
        async () => printed.out + printed.error,
        all => text.test(all),
      )
    },
    interrupt() {
      stop.abort()
      return ended
    },
    ended,
  }
}

/**
 * Starts the published program against one Belfry.
 * @param more - Variables that are different.
 */
export function startCli(
  belfry: { url: string; caller: Caller },
  args: readonly string[],
  input = '',
  more: Record<string, string> = {},
): CliProcess {
  const env = { TZ: 'Europe/Berlin', ...environmentOf(belfry), ...more }
  const running = startProcess([process.execPath, program, ...args], { env, input })
  const end = (signal: 'SIGINT' | 'SIGKILL') => {
    void running.stop(signal)
    return running.result
  }
  return Object.assign(running, {
    interrupt: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    ended: running.result,
  })
}

function environmentOf({ url, caller }: { url: string; caller: Caller }) {
  return { BELFRY_URL: url, BELFRY_API_KEY: caller.apiKey ?? '' }
}
