import { toId } from '@belfry/domain'
import pg from 'pg'
import { countWrappedKeys, findMasterKeyProblem, rewrapDataKeys } from '../secrets/rewrap-keys.ts'
import { checkMigrations } from './check-migrations.ts'
import { readDatabaseUrl, readMasterKeys } from './config.ts'
import { createMigration } from './create-migration.ts'
import { deployMigrations } from './deploy-migrations.ts'
import { describeCheck } from './describe-check.ts'
import { describeKeys } from './describe-keys.ts'
import { holdOverdueTasks, releaseHeldTasks } from './held-tasks.ts'
import { waitForDatabase } from './wait-for-database.ts'
import { waitForMigrations } from './wait-for-migrations.ts'

const usage =
  'Usage: deploy | wait | check | create NAME | hold-overdue [--until TIME] | release-held | rewrap-keys | check-keys'

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}

function run([command, name, ...rest]: string[]): Promise<number> {
  if (command === 'deploy' && name === undefined) return deploy(readDatabaseUrl())
  if (command === 'wait' && name === undefined) return wait(readDatabaseUrl())
  if (command === 'check' && name === undefined) return check(readDatabaseUrl())
  if (command === 'create' && name !== undefined && rest.length === 0) return create(readDatabaseUrl(), name)
  if (command === 'hold-overdue' && name === undefined) return withClient(client => hold(client, null))
  if (command === 'hold-overdue' && name === '--until' && rest.length === 1) {
    const until = parseInstant(rest[0] ?? '')
    return withClient(client => hold(client, until))
  }
  if (command === 'release-held' && name === undefined) return withClient(release)
  if (command === 'rewrap-keys' && name === undefined) return withClient(rewrap)
  if (command === 'check-keys' && name === undefined) return withClient(checkKeys)
  throw new Error(usage)
}

async function deploy(databaseUrl: string): Promise<number> {
  await untilItAnswers(databaseUrl)
  const applied = await deployMigrations(databaseUrl)
  for (const name of applied) print(`applied ${name}`)
  if (applied.length === 0) print('database is up to date')
  return 0
}

async function wait(databaseUrl: string): Promise<number> {
  await untilItAnswers(databaseUrl)
  await waitForMigrations(databaseUrl, missing => print(`waiting for ${missing.length} migrations`))
  print('every migration of this version is applied')
  return 0
}

async function untilItAnswers(databaseUrl: string): Promise<void> {
  let waitingFor: string | undefined
  await waitForDatabase(databaseUrl, reason => {
    if (reason !== waitingFor) print(`waiting for the database: ${reason}`)
    waitingFor = reason
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

function parseInstant(text: string): Date {
  const instant = new Date(text)
  const isExact = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(instant.getTime())
  if (!isExact) throw new Error('--until takes an ISO 8601 time with its zone, such as 2026-11-23T06:00:00Z.')
  return instant
}

async function hold(client: pg.Client, until: Date | null): Promise<number> {
  const { tasks, cronJobs } = await inOneTransaction(client, () => holdOverdueTasks(client, until))
  for (const id of cronJobs)
    print(`cron job ${toId('cron', id)} is held as a whole, because this version cannot read its rule`)
  print(`${tasks} tasks held`)
  return 0
}

async function release(client: pg.Client): Promise<number> {
  print(`${await inOneTransaction(client, () => releaseHeldTasks(client))} tasks released`)
  return 0
}

async function rewrap(client: pg.Client): Promise<number> {
  const count = await rewrapDataKeys(client, readMasterKeys(), total => print(`${total} so far`))
  print(`${count} data keys rewrapped`)
  return 0
}

async function checkKeys(client: pg.Client): Promise<number> {
  const masterKeys = readMasterKeys()
  const problem = await findMasterKeyProblem(client, masterKeys)
  if (problem !== null) throw new Error(problem)
  const { lines, isDone } = describeKeys(masterKeys, await countWrappedKeys(client))
  for (const line of lines) print(line)
  return isDone ? 0 : 1
}

async function inOneTransaction<T>(client: pg.Client, change: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  const result = await change() // a rejection ends the connection, which rolls back
  await client.query('COMMIT')
  return result
}

async function withClient(run: (client: pg.Client) => Promise<number>): Promise<number> {
  const client = new pg.Client({ connectionString: readDatabaseUrl() })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
