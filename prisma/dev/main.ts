import { readDatabaseUrl } from '../src/migrate/config.ts'
import { checkMigrations, describeCheck } from './check-migrations.ts'
import { createMigration } from './create-migration.ts'

// The commands of people who change the schema: `scripts/migrations.mjs` bundles and starts them.
const [command, name, ...rest] = process.argv.slice(2)
try {
  if (command === 'check' && name === undefined) await check(readDatabaseUrl())
  else if (command === 'create' && name !== undefined && rest.length === 0) await create(readDatabaseUrl(), name)
  else throw new Error('Usage: check | create NAME')
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}

async function check(databaseUrl: string): Promise<void> {
  const problems = describeCheck(await checkMigrations(databaseUrl))
  for (const problem of problems) print(problem)
  if (problems.length > 0) process.exitCode = 1
  else print('schema, migrations and database agree')
}

async function create(databaseUrl: string, suffix: string): Promise<void> {
  const path = await createMigration(databaseUrl, suffix)
  print(path === null ? 'the migrations already agree with schema.prisma' : `wrote ${path}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
