import { parseArgs } from 'node:util'
import { findPrimary } from '../postgres/primary-client.ts'
import { retryDatabase, startupPauses } from '../postgres/retry-database.ts'
import { checkMigrations, describeCheck } from './check-migrations.ts'
import { readDatabaseUrl, readLogins } from './config.ts'
import { createMigration } from './create-migration.ts'
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
import { areRolesInUse, setUpRoles } from './set-up-roles.ts'
import { waitForDatabase } from './wait-for-database.ts'
import { isBeforeMigration, waitForMigrations } from './wait-for-migrations.ts'

const usage =
  'Usage: deploy | backfill | wait | check | create NAME | hold-overdue [--until TIME] | release-held [--workspace ID] [--rate N] | rewrap-keys | check-keys | grant-roles'

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}

async function run([command, name, ...rest]: string[]): Promise<number> {
  if (command === 'deploy' && name === undefined) return deploy(await primaryUrl())
  if (command === 'backfill' && name === undefined) return backfill(await primaryUrl())
  if (command === 'wait' && name === undefined) return wait(await primaryUrl())
  if (command === 'check' && name === undefined) return check(await primaryUrl())
  if (command === 'create' && name !== undefined && rest.length === 0) return create(await primaryUrl(), name)
  if (command === 'hold-overdue' && name === undefined) return holdOverdue(await primaryUrl(), print)
  if (command === 'hold-overdue' && name === '--until' && rest.length === 1) {
    return holdOverdue(await primaryUrl(), print, rest[0])
  }
  if (command === 'release-held') {
    const args = name === undefined ? [] : [name, ...rest]
    const options = { workspace: { type: 'string' }, rate: { type: 'string' } } as const
    return releaseHeld(await primaryUrl(), print, parseRelease(parseArgs({ args, options }).values))
  }
  if (command === 'rewrap-keys' && name === undefined) return rewrapKeys(await primaryUrl(), print)
  if (command === 'check-keys' && name === undefined) return checkKeys(await primaryUrl(), print)
  if (command === 'grant-roles' && name === undefined) return grantServiceRoles(await primaryUrl(), print)
  throw new Error(usage)
}

// A command is short, so it stays with the primary that it finds.
async function primaryUrl(): Promise<string> {
  const databaseUrl = readDatabaseUrl()
  const onWait = (error: unknown) =>
    print(`waiting for the database: ${error instanceof Error ? error.message : error}`)
  return retryDatabase(() => findPrimary(databaseUrl), { ...startupPauses, onWait })
}

async function deploy(databaseUrl: string): Promise<number> {
  await untilItAnswers(databaseUrl)
  const options = { signal: stopSignal(), onBlocked: print }
  const logins = readLogins(databaseUrl)
  const applied = await deployMigrations(databaseUrl, undefined, options)
  for (const name of applied) print(`applied ${name}`)
  if (applied.length === 0) print('database is up to date')
  if (Object.keys(logins).length === 0 && !(await areRolesInUse(databaseUrl))) return 0
  for (const advice of await setUpRoles(databaseUrl, logins, options)) print(advice)
  return 0
}

async function backfill(databaseUrl: string): Promise<number> {
  await untilItAnswers(databaseUrl)
  const read = await runBackfills(databaseUrl, undefined, { signal: stopSignal(), print })
  print(read === 0 ? 'every backfill is finished' : `${read} rows read`)
  return 0
}

// A drained node, or Ctrl-C: a migration is rolled back, and a backfill ends after its batch, before the process ends.
function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => stop.abort(new Error(`Stopped by ${signal}.`)))
  }
  return stop.signal
}

async function wait(databaseUrl: string): Promise<number> {
  await untilItAnswers(databaseUrl).catch(error => {
    if (!isBeforeMigration(error)) throw error
  })
  await waitForMigrations(databaseUrl, missing => print(`waiting for ${missing.length} migrations`))
  print('every migration of this version is applied')
  return 0
}

async function untilItAnswers(databaseUrl: string): Promise<void> {
  let lastReason: string | undefined
  await waitForDatabase(databaseUrl, reason => {
    if (reason !== lastReason) print(`waiting for the database: ${reason}`)
    lastReason = reason
  })
}

async function check(databaseUrl: string): Promise<number> {
  const problems = describeCheck(await checkMigrations(databaseUrl))
  for (const problem of problems) print(problem)
  if (problems.length > 0) return 1
  print('schema, migrations and database agree')
  return 0
}

async function create(databaseUrl: string, name: string): Promise<number> {
  const path = await createMigration(databaseUrl, name)
  print(path === null ? 'the migrations already agree with schema.prisma' : `wrote ${path}`)
  return 0
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
