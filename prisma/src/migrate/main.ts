import { parseArgs } from 'node:util'
import { withClient } from '../postgres/with-client.ts'
import { readDatabaseUrl, readLogins } from './config.ts'
import { deployMigrations } from './deploy-migrations.ts'
import {
  checkKeys,
  grantServiceRoles,
  holdOverdue,
  parseRelease,
  releaseHeld,
  rewrapKeys,
} from './operator-commands.ts'
import { runBackfills } from './run-backfill.ts'
import { setUpRoles, usesRoles } from './set-up-roles.ts'
import { waitForDatabase } from './wait-for-database.ts'
import { isBeforeMigration, waitForMigrations } from './wait-for-migrations.ts'

type Options = { until?: string; workspace?: string; rate?: string }

type Command = { takes?: Array<keyof Options>; run(databaseUrl: string, options: Options): Promise<void> }

const commands: Record<string, Command> = {
  deploy: { run: deploy },
  backfill: { run: backfill },
  wait: { run: wait },
  'hold-overdue': { takes: ['until'], run: (url, { until }) => holdOverdue(url, print, until) },
  'release-held': {
    takes: ['workspace', 'rate'],
    run: (url, options) => releaseHeld(url, print, parseRelease(options)),
  },
  'rewrap-keys': { run: url => rewrapKeys(url, print) },
  'check-keys': {
    async run(url) {
      if (await checkKeys(url, print)) process.exitCode = 1
    },
  },
  'grant-roles': { run: url => grantServiceRoles(url, print) },
}

try {
  const [name = '', ...args] = process.argv.slice(2)
  const command = commands[name]
  if (!command) throw new Error(`Usage: ${Object.entries(commands).map(usageOf).join(' | ')}`)
  const options = Object.fromEntries((command.takes ?? []).map(option => [option, { type: 'string' as const }]))
  const { values } = parseArgs({ args, options })
  await command.run(await reachDatabase(name), values)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}

function usageOf([name, { takes = [] }]: [string, Command]): string {
  return [name, ...takes.map(option => `[--${option} ${option.toUpperCase()}]`)].join(' ')
}

async function reachDatabase(command: string): Promise<string> {
  const databaseUrl = readDatabaseUrl()
  const reached = waitForDatabase(databaseUrl, reason => print(`waiting for the database: ${reason}`))
  if (command !== 'wait') return reached
  return reached.catch(error => {
    if (isBeforeMigration(error)) return databaseUrl
    throw error
  })
}

async function deploy(databaseUrl: string): Promise<void> {
  const options = { signal: stopSignal(), onBlocked: print }
  const logins = readLogins(databaseUrl)
  const applied = await deployMigrations(databaseUrl, undefined, options)
  for (const name of applied) print(`applied ${name}`)
  if (applied.length === 0) print('database is up to date')
  const hasRoles = Object.keys(logins).length > 0 || (await withClient({ connectionString: databaseUrl }, usesRoles))
  if (hasRoles) for (const advice of await setUpRoles(databaseUrl, logins, options)) print(advice)
}

async function backfill(databaseUrl: string): Promise<void> {
  const read = await runBackfills(databaseUrl, undefined, { signal: stopSignal(), print })
  print(read === 0 ? 'every backfill is finished' : `${read} rows read`)
}

// A drained node, or Ctrl-C: a migration is rolled back, and a backfill ends after its batch, before the process ends.
function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => stop.abort(new Error(`Stopped by ${signal}.`)))
  }
  return stop.signal
}

async function wait(databaseUrl: string): Promise<void> {
  await waitForMigrations(databaseUrl, missing => print(`waiting for ${missing.length} migrations`))
  print('every migration of this version is applied')
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
