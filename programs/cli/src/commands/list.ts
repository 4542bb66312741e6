import type { Belfry, RunErrorCode, TaskState } from '@belfry/client'
import { type Command, Option } from 'commander'
import type { Context } from '../context.ts'
import type { Row } from '../output/output.ts'
import {
  cronJobHeading,
  cronJobRow,
  runHeading,
  runRow,
  subscriptionHeading,
  subscriptionRow,
  taskHeading,
  taskRow,
} from '../output/rows.ts'
import { given, number, repeated, timesOf } from '../parse-options.ts'
import { UsageError } from '../usage-error.ts'
import { hostHeading, hostRow } from './hosts.ts'
import { queueHeading, queueRow } from './queues.ts'

type Filters = {
  status?: string[]
  topic?: string[]
  cronjob?: string[]
  task?: string[]
  event?: string[]
  label?: string[]
  host?: string[]
  error?: string[]
  name?: string
  from?: string
  to?: string
}
type Flags = Filters & { limit: number; all?: boolean }
type Times = { from?: Date; to?: Date; limit: number }
type Kind = {
  takes: ReadonlyArray<keyof Filters>
  heading: readonly string[]
  rows(belfry: Belfry, flags: Flags, times: Times): AsyncIterable<Row>
}

const pageSize = 100

const kinds: Record<string, Kind> = {
  tasks: {
    takes: ['status', 'cronjob', 'event', 'label', 'name', 'from', 'to'],
    heading: taskHeading,
    rows: (belfry, { status, cronjob, event, label, name }, times) =>
      each(
        belfry.tasks.list({
          ...given({ state: status as TaskState[], cronjobId: cronjob, eventId: event, label, name }),
          ...times,
        }),
        taskRow,
      ),
  },
  cronjobs: {
    takes: ['status', 'label', 'name'],
    heading: cronJobHeading,
    rows: (belfry, { status, label, name }, { limit }) =>
      each(belfry.cronJobs.list({ ...given({ status: status as ['active'], label, name }), limit }), cronJobRow),
  },
  runs: {
    takes: ['status', 'topic', 'cronjob', 'task', 'label', 'name', 'host', 'error', 'from', 'to'],
    heading: runHeading,
    rows: (belfry, { status, cronjob, task, ...flags }, times) => {
      const { topic, label, name, host, error } = flags
      const filters = {
        status: status as ['failed'],
        topic,
        cronjobId: cronjob,
        taskId: task,
        label,
        name,
        host,
        error,
      }
      return each(belfry.runs.list({ ...given(filters), ...times }), runRow)
    },
  },
  'dead-letters': {
    takes: ['topic', 'cronjob', 'label', 'name', 'host', 'error', 'from', 'to'],
    heading: taskHeading,
    rows: (belfry, { topic, cronjob, label, name, host, error }, times) => {
      const filters = { topic, cronjobId: cronjob, label, name, host, error: error as RunErrorCode[] }
      return each(belfry.deadLetters.list({ ...given(filters), ...times }), taskRow)
    },
  },
  subscriptions: {
    takes: [],
    heading: subscriptionHeading,
    rows: (belfry, _, { limit }) => each(belfry.subscriptions.list({ limit }), subscriptionRow),
  },
  connections: {
    takes: [],
    heading: ['NAME', 'KIND', 'HOSTS'],
    rows: (belfry, _, { limit }) =>
      each(belfry.workspaces.connections.list('current', { limit }), connection => ({
        value: connection,
        cells: [connection.name, connection.kind, connection.hosts.join(' ')],
      })),
  },
  secrets: {
    takes: [],
    heading: ['NAME', 'UPDATED'],
    rows: (belfry, _, { limit }) =>
      each(belfry.workspaces.secrets.list('current', { limit }), secret => ({
        value: secret,
        cells: [secret.name, secret.updatedAt],
      })),
  },
  queues: {
    takes: ['name'],
    heading: queueHeading,
    rows: (belfry, { name }, { limit }) => each(belfry.queues.list({ ...given({ name }), limit }), queueRow),
  },
  hosts: {
    takes: [],
    heading: hostHeading,
    rows: async function* (belfry) {
      for (const host of (await belfry.hosts.list()).data) yield hostRow(host)
    },
  },
}

const filters: Record<keyof Filters, () => Option> = {
  status: () =>
    repeated(
      '--state, --status <status>',
      'only in this state or status, such as dead, active or failed; can be repeated',
    ),
  topic: () => repeated('--topic <topic>', 'only runs or dead letters of events with this topic; can be repeated'),
  cronjob: () => repeated('--cronjob <id>', 'only of this cron job; can be repeated'),
  task: () => repeated('--task <id>', 'only runs of this task; can be repeated'),
  event: () => repeated('--event <id>', 'only tasks of this event; can be repeated'),
  label: () => repeated('--label <label>', 'only with this label; can be repeated'),
  host: () => repeated('--host <host>', 'only runs or dead letters of this host and port; can be repeated'),
  error: () =>
    repeated('--error <code>', 'only runs with this error, or dead letters whose last run had it; can be repeated'),
  name: () => new Option('--name <prefix>', 'only with names that start with this'),
  from: () => new Option('--from <time>', 'only due (runs: started) at this time or later'),
  to: () => new Option('--to <time>', 'only due (runs: started) before this time'),
}
const filterNames = Object.keys(filters) as Array<keyof Filters>

/** Adds `list <what>`, and `<what> list` to the commands of each kind of objects. */
export function addList(program: Command, context: () => Context): void {
  const list = program
    .command('list')
    .description('list objects, newest first, or hosts, queues, connections and secrets; `tasks list` is the same')
    .argument('[what]', `one of ${Object.keys(kinds).join(', ')}`, 'tasks')
  withOptions(list, filterNames).action(async (what: string, flags: Flags) => {
    const kind = kinds[what === 'cron' ? 'cronjobs' : what]
    if (!kind) throw new UsageError(`${what} cannot be listed: choose from ${Object.keys(kinds).join(', ')}.`)
    const other = filterNames.find(name => flags[name] !== undefined && !kind.takes.includes(name))
    if (other) throw new UsageError(`--${other} does not apply to ${what}.`)
    await show(context(), what, kind, flags)
  })
  for (const [what, kind] of Object.entries(kinds)) {
    const known = program.commands.find(command => [command.name(), ...command.aliases()].includes(what))
    const parent = known ?? program.command(what, { hidden: true }).description(`list ${what}`)
    const command = parent.command('list', { isDefault: what !== 'cronjobs' }).description(`list ${what}`)
    withOptions(command, kind.takes).action((flags: Flags) => show(context(), what, kind, flags))
  }
}

function withOptions(command: Command, names: ReadonlyArray<keyof Filters>): Command {
  for (const name of names) command.addOption(filters[name]())
  return command
    .addOption(number('-n, --limit <n>', 'how many to show', { min: 1 }).default(25))
    .option('--all', 'show all')
}

async function show(ctx: Context, what: string, kind: Kind, flags: Flags): Promise<void> {
  const max = flags.all ? Number.POSITIVE_INFINITY : flags.limit
  const found = kind.rows(ctx.belfry(), flags, { ...timesOf(flags), limit: Math.min(max, pageSize) })
  const count = await ctx.out.rows(kind.heading, take(found, max))
  if (count === 0 && !ctx.out.isJson) ctx.stderr.write(`No ${what} found.\n`)
}

async function* each<T>(items: AsyncIterable<T>, row: (item: T) => Row): AsyncGenerator<Row> {
  for await (const item of items) yield row(item)
}

async function* take<T>(items: AsyncIterable<T>, max: number): AsyncGenerator<T> {
  let count = 0
  for await (const item of items) {
    yield item
    count += 1
    if (count >= max) return
  }
}
