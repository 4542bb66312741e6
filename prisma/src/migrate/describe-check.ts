import type { MigrationCheck } from './check-migrations.ts'

/** Returns one paragraph for each problem. */
export function describeCheck(check: MigrationCheck): string[] {
  return [
    ...check.failed.map(name => `Migration ${name} failed and has not been applied since.`),
    ...check.pending.map(name => `Migration ${name} is not applied.`),
    ...check.edited.map(name => `Migration ${name} was edited after it had been applied.`),
    ...check.unknown.map(name => `Migration ${name} is applied but has no file.`),
    ...describeSql('The database differs from schema.prisma. This SQL would update it:', check.drift),
    ...describeSql('The migrations do not lead to schema.prisma. They lack:', check.missing),
  ]
}

function describeSql(title: string, sql: string | null): string[] {
  return sql === null ? [] : [`${title}\n\n${sql.trim()}\n`]
}
