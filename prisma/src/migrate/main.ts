import pg from 'pg'
import { holdOverdueTasks, releaseHeldTasks } from '../held-tasks.ts'
import { checkMigrations } from './check-migrations.ts'
import { readDatabaseUrl } from './config.ts'
import { createMigration } from './create-migration.ts'
import { deployMigrations } from './deploy-migrations.ts'
import { describeCheck } from './describe-check.ts'
import { waitForDatabase } from './wait-for-database.ts'

const usage = 'Usage: deploy | check | create NAME | hold-overdue | release-held'

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}

function run([command, name, ...rest]: string[]): Promise<number> {
  if (command === 'deploy' && name === undefined) return deploy(readDatabaseUrl())
  if (command === 'check' && name === undefined) return check(readDatabaseUrl())
  if (command === 'create' && name !== undefined && rest.length === 0) return create(readDatabaseUrl(), name)
  if (command === 'hold-overdue' && name === undefined) return inDatabase(holdOverdueTasks, 'tasks held')
  if (command === 'release-held' && name === undefined) return inDatabase(releaseHeldTasks, 'tasks released')
  throw new Error(usage)
}

async function deploy(databaseUrl: string): Promise<number> {
  let waitingFor: string | undefined
  await waitForDatabase(databaseUrl, reason => {
    if (reason !== waitingFor) print(`waiting for the database: ${reason}`)
    waitingFor = reason
  })
  const applied = await deployMigrations(databaseUrl)
  for (const name of applied) print(`applied ${name}`)
  if (applied.length === 0) print('database is up to date')
  return 0
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
  print(path === null ? 'the migrations already lead to schema.prisma' : `wrote ${path}`)
  return 0
}

async function inDatabase(change: (client: pg.Client) => Promise<number>, what: string): Promise<number> {
  const client = new pg.Client({ connectionString: readDatabaseUrl() })
  await client.connect()
  try {
    print(`${await change(client)} ${what}`)
  } finally {
    await client.end()
  }
  return 0
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
