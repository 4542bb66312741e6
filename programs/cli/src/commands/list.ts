import type { Belfry, ListCronJobs, ListDeadLetters, ListRuns, ListTasks } from '@belfry/client'
import type { Command } from 'commander'
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
import { number } from '../parse-options.ts'
import { UsageError } from '../usage-error.ts'
import { type FilterFlags, type FilterName, filterNames, filterOf, withFilters } from './filters.ts'
import { hostHeading, hostRow } from './hosts.ts'
import { queueHeading, queueRow } from './queues.ts'

type Flags = FilterFlags & { limit: number; all?: boolean }
type Filter = ReturnType<typeof filterOf> & { limit: number }
type Kind = {
  noun: string
  takes: readonly FilterName[]
  heading: readonly string[]
  rows(belfry: Belfry, filter: Filter): AsyncIterable<Row>
}

const pageSize = 100

// The API checks the words of a filter.
const kinds: Record<string, Kind> = {
  tasks: {
    noun: 'tasks',
    takes: ['status', 'cronjob', 'event', 'label', 'name', 'from', 'to'],
    heading: taskHeading,
    rows: ({ tasks }, { status, ...filter }) =>
      each(tasks.list({ ...filter, ...(status && { state: status }) } as ListTasks), taskRow),
  },
  cronjobs: {
    noun: 'cron jobs',
    takes: ['status', 'label', 'name'],
    heading: cronJobHeading,
    rows: ({ cronJobs }, filter) => each(cronJobs.list(filter as ListCronJobs), cronJobRow),
  },
  runs: {
    noun: 'runs',
    takes: ['status', 'topic', 'cronjob', 'task', 'label', 'name', 'host', 'error', 'from', 'to'],
    heading: runHeading,
    rows: ({ runs }, filter) => each(runs.list(filter as ListRuns), runRow),
  },
  'dead-letters': {
    noun: 'dead letters',
    takes: ['topic', 'cronjob', 'label', 'name', 'host', 'error', 'from', 'to'],
    heading: taskHeading,
    rows: ({ deadLetters }, filter) => each(deadLetters.list(filter as ListDeadLetters), taskRow),
  },
  subscriptions: {
    noun: 'subscriptions',
    takes: [],
    heading: subscriptionHeading,
    rows: ({ subscriptions }, filter) => each(subscriptions.list(filter), subscriptionRow),
  },
  connections: {
    noun: 'connections',
    takes: [],
    heading: ['NAME', 'KIND', 'HOSTS'],
    rows: ({ workspaces }, filter) =>
      each(workspaces.connections.list('current', filter), connection => ({
        value: connection,
        cells: [connection.name, connection.kind, connection.hosts.join(' ')],
      })),
  },
  secrets: {
    noun: 'secrets',
    takes: [],
    heading: ['NAME', 'UPDATED'],
    rows: ({ workspaces }, filter) =>
      each(workspaces.secrets.list('current', filter), secret => ({
        value: secret,
        cells: [secret.name, secret.updatedAt],
      })),
  },
  queues: {
    noun: 'queues',
    takes: ['name'],
    heading: queueHeading,
    rows: ({ queues }, filter) => each(queues.list(filter), queueRow),
  },
  hosts: {
    noun: 'hosts',
    takes: [],
    heading: hostHeading,
    rows: async function* (belfry) {
      for (const host of (await belfry.hosts.list()).data) yield hostRow(host)
    },
  },
}

/** Adds `list <what>`, and `<what> list` to the commands of each kind of objects. */
export function addList(program: Command, context: () => Context): void {
  const list = program
    .command('list')
    .description('list objects, newest first, or hosts, queues, connections and secrets; `tasks list` is the same')
    .argument('[what]', `one of ${Object.keys(kinds).join(', ')}`, 'tasks')
  withPage(withFilters(list, 'only those', filterNames)).action(async (what: string, flags: Flags) => {
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
    withPage(withFilters(command, `only ${kind.noun}`, kind.takes)).action((flags: Flags) =>
      show(context(), what, kind, flags),
    )
  }
}

function withPage(command: Command): Command {
  return command
    .addOption(number('-n, --limit <n>', 'how many to show', { min: 1 }).default(25))
    .option('--all', 'show all')
}

async function show(ctx: Context, what: string, kind: Kind, flags: Flags): Promise<void> {
  const max = flags.all ? Number.POSITIVE_INFINITY : flags.limit
  const { limit: _, all: __, ...filter } = flags
  const found = kind.rows(ctx.belfry(), { ...filterOf(filter), limit: Math.min(max, pageSize) })
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
