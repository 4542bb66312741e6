import { ApiError, BelfryError } from '@belfry/client'
import { CommanderError } from 'commander'
import type { Io } from './context.ts'
import { createProgram } from './program.ts'
import { UsageError } from './usage-error.ts'

/** 0: success. 1: refused, failed, partly failed or interrupted. 2: usage error. */
type ExitCode = 0 | 1 | 2

export async function runCli(args: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0
  const program = createProgram(io, (code = 1) => {
    exitCode = code
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (io.signal.aborted) {
      // The normal end of these two. Other commands may have done a part.
      if (['tail', 'listen'].includes(program.args[0] ?? '')) return 0
      io.stderr.write('Interrupted.\n')
      return 1
    }
    // Commander has printed the error or the help.
    if (error instanceof CommanderError) {
      io.stderr.write(hintFor(error, args))
      return error.exitCode === 0 ? 0 : 2
    }
    io.stderr.write(`${describe(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

/** Returns a line for mistakes that people make, or nothing. */
function hintFor({ code }: CommanderError, args: readonly string[]): string {
  const line = args.join(' ')
  const found = hints.find(([mistake, command]) => code === `commander.${mistake}` && command.test(line))
  return found ? `${found[2]}\n` : ''
}

const hints: ReadonlyArray<readonly [mistake: string, command: RegExp, hint: string]> = [
  ['unknownCommand', /^start\b/, 'A server starts with npm start in a checkout, or with npx belfry start.'],
  ['unknownCommand', /^login\b/, 'Set BELFRY_API_KEY to the key of a workspace instead.'],
  [
    'unknownCommand',
    /^(create|pause|resume|trigger|delete)\b/,
    'Name the kind of object first, such as cron or queues.',
  ],
  ['excessArguments', /^(cron|cronjobs) (preview|create)\b/, 'Put the expression into quotes.'],
  ['excessArguments', /^publish\b/, 'The target of an event follows --to.'],
  ['excessArguments', /^secrets put\b/, 'The value is read from standard input: belfry secrets put NAME < file'],
  ['unknownOption', /^replay\b.* --all\b/, 'All dead letters are --dead.'],
]

function describe(error: unknown): string {
  if (error instanceof ApiError && error.requestId) {
    return `${error.message}\n${explanationsOf(error).join('')}(request ${error.requestId})`
  }
  if (error instanceof BelfryError && error.cause instanceof Error) {
    const { cause } = error.cause
    return `${error.message} ${cause instanceof Error ? cause.message : error.cause.message}`.trim()
  }
  if (error instanceof BelfryError || error instanceof UsageError || error instanceof TypeError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Returns the pages about the codes of the invalid fields, or about the code of the response. */
function explanationsOf({ body, errors }: ApiError): string[] {
  const { type } = Object(body) as { type?: unknown }
  if (typeof type !== 'string' || !URL.canParse(type)) return []
  const urls = errors.map(({ code }) => new URL(code, type).href)
  return [...new Set(urls.length > 0 ? urls : [type])].map(url => `See ${url}\n`)
}
