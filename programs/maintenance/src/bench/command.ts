import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPrimary } from '@belfry/db/postgres/primary-client'
import { version } from '@belfry/domain/version'
import { startPostgres } from '@belfry/embedded'
import { PlainError } from '@belfry/launcher'
import type { Command } from 'commander'
import { bareEnvironment } from '../config.ts'
import { migrate } from '../migrate.ts'
import { runStatement, temporaryDatabase } from '../temporary-database.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Figure, measure } from './measure.ts'

type Options = { databaseUrl?: string; json?: boolean }

export function addBench(program: Command): void {
  program
    .command('bench')
    .description('measure this machine and its PostgreSQL in about a minute')
    .option('--database-url <url>', 'measure a database of its own on this server (default: the included PostgreSQL)')
    .option('--json', 'print the figures as one JSON object')
    .addHelpText('after', '\nIt starts a Belfry of its own, uses no other data, and drops its database and files.')
    .action(runBench)
}

async function runBench({ databaseUrl, json }: Options): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      process.stderr.write('stopping after this step ...\n')
      stop.abort(new PlainError('Stopped.'))
    })
  }
  const onStep = (name: string) => {
    stop.signal.throwIfAborted()
    process.stderr.write(`measuring ${name} ...\n`)
  }
  await using folder = await temporaryFolder(join(tmpdir(), 'belfry-own-bench-'))
  const dataDir = join(folder.path, 'postgres')
  await using included = databaseUrl === undefined ? await startPostgres({ dataDir }) : null
  const serverUrl = included?.url() ?? (await findPrimary(databaseUrl ?? ''))
  await using database = await temporaryDatabase(serverUrl, 'belfry_bench')
  await migrate(database.url, ['deploy'], bareEnvironment({}))
  const figures = await measure(database.url, folder.path, onStep)
  const postgres = `${await runStatement(serverUrl, 'SHOW server_version')}${included ? ' (included)' : ''}`
  const cpu = `${cpus().length} x ${cpus()[0]?.model ?? 'CPU'}`
  const machine = { belfry: version, node: process.versions.node, postgres, cpu }
  process.stdout.write(json ? `${JSON.stringify({ machine, figures })}\n` : toTable(figures, machine))
}

/** Returns the figures for people. */
export function toTable(figures: readonly Figure[], machine: Record<string, string>): string {
  const row = (title: string, ...cells: string[]) =>
    `${title.padEnd(56)}${cells.map(cell => cell.padStart(10)).join('')}`
  return [
    `Belfry ${machine.belfry}, Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cpu}`,
    '',
    row('', 'Belfry', 'floor', 'ratio'),
    ...figures.map(({ title, value, floor }) =>
      floor === undefined
        ? row(title, `${value.toFixed(1)} ms`)
        : row(title, value.toFixed(0), floor.toFixed(0), (value / floor).toFixed(2)),
    ),
    '',
    'The floor stores each create by one INSERT, and makes calls without storing anything.',
    '',
  ].join('\n')
}
