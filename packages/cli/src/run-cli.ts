import { ApiError, BelfryError } from '@belfry/client'
import { CommanderError } from 'commander'
import type { Surroundings } from './context.ts'
import { createProgram } from './program.ts'
import { UsageError } from './usage-error.ts'

/** 0: done. 1: refused, failed, or not all of it done. 2: called in a way that it does not have. */
export type ExitCode = 0 | 1 | 2

/** Runs one command, and answers with the code to exit with. */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  let exitCode: ExitCode = 0
  const program = createProgram(surroundings, () => {
    exitCode = 1
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    // Asked to end, by a Ctrl-C as a rule: that is how a tail ends.
    if (surroundings.signal.aborted) return 0
    // It has said already what is wrong, or shown the help that it was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    surroundings.stderr.write(`${describe(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

function describe(error: unknown): string {
  if (error instanceof ApiError && error.requestId) return `${error.message}\n(request ${error.requestId})`
  if (error instanceof BelfryError && error.cause instanceof Error) {
    const { cause } = error.cause
    return `${error.message} ${cause instanceof Error ? cause.message : error.cause.message}`.trim()
  }
  if (error instanceof BelfryError || error instanceof UsageError || error instanceof TypeError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
