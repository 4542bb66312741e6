import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { Read } from '../import/entry.ts'
import type { Flags } from '../import/import-entries.ts'

type Source = {
  about: string
  options: ReadonlyArray<readonly [flags: string, about: string]>
  read(): Promise<Read>
}

// Only these commands need a parser of cron expressions, and each its own reader.
const load = () => import('../import/import-entries.ts')

const sources: Readonly<Record<string, Source>> = {
  crontab: {
    about: 'import the lines of a crontab that call URLs: curl, wget, or a bare URL',
    options: [
      ['--timezone <zone>', 'for lines without CRON_TZ (default: the time zone of this machine)'],
      ['--users', 'the sixth field is a user, as in /etc/crontab'],
    ],
    read: async () => (await load()).ofText((await import('../import/read-crontab.ts')).readCrontab),
  },
  qstash: {
    about: 'import schedules of QStash, in the format of GET /v2/schedules',
    options: [],
    read: async () => (await load()).ofText((await import('../import/read-qstash.ts')).readQstash),
  },
}

export function addImport(program: Command, context: () => Context, fail: () => void): void {
  const group = program.command('import').description('create cron jobs from the schedules of another scheduler')
  for (const [name, { about, options, read }] of Object.entries(sources)) {
    const command = group.command(name).description(about).argument('<file>', 'the file; - for standard input')
    for (const [flags, effect] of options) command.option(flags, effect)
    command
      .option('--dry-run', 'show the cron jobs without creating them')
      .option('--to-file', 'print a configuration file for belfry apply instead of creating them')
      .option('--skip-refused', 'create the others when some entries are refused')
      .option('--paused', 'create paused cron jobs, to resume once the other scheduler is off')
      .action(async (file: string, flags: Flags) =>
        (await load()).importEntries(context(), file, flags, await read(), fail),
      )
  }
}
