import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { Read } from '../import/entry.ts'
import type { Flags } from '../import/import-entries.ts'

type Source = {
  about: string
  /** Default: a file. */
  argument?: readonly [name: string, about: string, preset?: string]
  options: ReadonlyArray<readonly [flags: string, about: string]>
  read(): Promise<Read>
}

// Only these commands need a parser of cron expressions, and each its own reader.
const load = () => import('../import/import-entries.ts')

const target = [
  '--target <name=url...>',
  'the URL in place of a target without one, such as a function or a topic',
] as const

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
  'pg-cron': {
    about: 'import the jobs of pg_cron that call URLs: with pg_net, or the extension http',
    argument: ['[file]', 'cron.job as CSV or JSON; - for standard input', ''],
    options: [
      ['--from <url>', 'read cron.job of this database, postgresql://..., instead of a file'],
      ['--timezone <zone>', 'cron.timezone of the database, with a file (default: UTC)'],
      ['--var <name=value...>', 'the value of an entry of the vault that is not secret, such as project_url'],
    ],
    read: async () => (await import('../import/read-pg-cron.ts')).readPgCron,
  },
  'github-actions': {
    about: 'import scheduled workflows of GitHub Actions, to start them by workflow_dispatch',
    argument: ['[folder]', 'the repository on this machine', '.'],
    options: [
      ['--repo <owner/name>', 'the repository on GitHub'],
      ['--ref <branch>', 'the branch that runs (default: main)'],
    ],
    read: async () => (await import('../import/read-github-actions.ts')).readGithubActions,
  },
  'cloud-scheduler': {
    about: 'import jobs of Google Cloud Scheduler, from gcloud scheduler jobs list --format=json',
    options: [target],
    read: async () => (await load()).ofText((await import('../import/read-cloud-scheduler.ts')).readCloudScheduler),
  },
  eventbridge: {
    about: 'import schedules of EventBridge Scheduler, from aws scheduler get-schedule',
    options: [target],
    read: async () => (await load()).ofText((await import('../import/read-eventbridge.ts')).readEventbridge),
  },
  vercel: {
    about: 'import the cron jobs of a vercel.json',
    options: [
      ['--origin <url>', 'the production deployment, such as https://shop.example.com'],
      ['--cron-secret', 'send {{ secrets.CRON_SECRET }} as Vercel does for a project with CRON_SECRET'],
    ],
    read: async () => (await load()).ofText((await import('../import/read-vercel.ts')).readVercel),
  },
}

export function addImport(program: Command, context: () => Context, fail: () => void): void {
  const group = program.command('import').description('create cron jobs from the schedules of another scheduler')
  for (const [name, { about, argument, options, read }] of Object.entries(sources)) {
    const [input, what, preset] = argument ?? ['<file>', 'the file; - for standard input']
    const command = group.command(name).description(about).argument(input, what, preset)
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
