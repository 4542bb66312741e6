import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { CrontabFlags, Flags } from '../import/import-entries.ts'

// Only these commands need a parser of cron expressions.
const load = () => import('../import/import-entries.ts')

export function addImport(program: Command, context: () => Context, fail: () => void): void {
  const group = program.command('import').description('create cron jobs from the schedules of another scheduler')
  withFlags(group.command('crontab').description('import the lines of a crontab that call URLs: curl, or a bare URL'))
    .option('--timezone <zone>', 'for lines without CRON_TZ (default: the time zone of this machine)')
    .option('--users', 'the sixth field is a user, as in /etc/crontab')
    .action(async (file: string, flags: CrontabFlags) => (await load()).importCrontab(context(), file, flags, fail))
  withFlags(
    group.command('qstash').description('import schedules of QStash, in the format of GET /v2/schedules'),
  ).action(async (file: string, flags: Flags) => (await load()).importQstash(context(), file, flags, fail))
}

function withFlags(command: Command): Command {
  return command
    .argument('<file>', 'the file; - for standard input')
    .option('--dry-run', 'show the cron jobs without creating them')
    .option('--to-file', 'print a configuration file for belfry apply instead of creating them')
    .option('--skip-refused', 'create the others when some entries are refused')
    .option('--paused', 'create paused cron jobs, to resume once the other scheduler is off')
}
