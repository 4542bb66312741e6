import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Caller } from '../api-calls.ts'
import { repositoryRoot } from '../repository-root.ts'

export type Ended = { code: number | null; out: string; error: string }
export type RunningCli = {
  readonly out: string
  readonly error: string
  /** Waits until the program has printed a text. */
  prints(text: RegExp): Promise<void>
  /** Sends SIGINT, as Ctrl-C does. */
  interrupt(): Promise<Ended>
  /** Ends it at once, in the middle of what it does. */
  kill(): Promise<Ended>
  ended: Promise<Ended>
}

const program = join(repositoryRoot(), 'packages/cli/dist/main.mjs')

/**
 * Starts the published program against one Belfry.
 * @param more - Variables that are different.
 */
export function startCli(
  belfry: { url: string; caller: Caller },
  args: readonly string[],
  input = '',
  more: Record<string, string> = {},
): RunningCli {
  const { apiKey = '' } = belfry.caller
  const env = { PATH: process.env.PATH, TZ: 'Europe/Berlin', BELFRY_URL: belfry.url, BELFRY_API_KEY: apiKey, ...more }
  const child = spawn(process.execPath, [program, ...args], { env, stdio: 'pipe' })
  const printed = { out: '', error: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.error += text
  })
  child.stdin.end(input)
  const ended = new Promise<Ended>(resolve => child.once('close', code => resolve({ code, ...printed })))
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
      child.kill('SIGINT')
      return ended
    },
    kill() {
      child.kill('SIGKILL')
      return ended
    },
    ended,
  }
}
