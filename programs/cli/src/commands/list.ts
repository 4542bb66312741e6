import type { Belfry } from '@belfry/client'
import type { OptionField } from '@belfry/contract/openapi/option-fields'
import { type Command, Option } from 'commander'
import { type Context, closedPipe } from '../context.ts'
import * as fields from '../generated/fields.ts'
import { withOwnOptions } from '../options/exceptions.ts'
import { bodyOf, type FieldFlags, optionOf, withFields } from '../options/field-options.ts'
import type { Row } from '../output/output.ts'
import { cronJobTable, hostTable, queueTable, runTable, subscriptionTable, taskTable } from '../output/rows.ts'
import { type Table, tableOf } from '../output/table.ts'
import { parseNumber } from '../parse-options.ts'
import { UsageError } from '../usage-error.ts'

type Flags = FieldFlags & { limit: number; all?: boolean }
type Kind = {
  filters: readonly OptionField[]
  heading: readonly string[]
  rows(belfry: Belfry, flags: FieldFlags, limit: number): AsyncIterable<Row>
}

const pageSize = 100

const kinds: Record<string, Kind> = {
  // The tasks of a topic are found by its runs.
  tasks: kindOf(
    fields.listTasks.filter(({ path }) => path[0] !== 'topic'),
    taskTable,
    ({ tasks }, filter) => tasks.list(filter),
  ),
  cronjobs: kindOf(fields.listCronJobs, cronJobTable, ({ cronJobs }, filter) => cronJobs.list(filter)),
  runs: kindOf(fields.listRuns, runTable, ({ runs }, filter) => runs.list(filter)),
  'dead-letters': kindOf(fields.listDeadLetters, taskTable, ({ deadLetters }, filter) => deadLetters.list(filter)),
  subscriptions: kindOf(fields.listSubscriptions, subscriptionTable, ({ subscriptions }, filter) =>
    subscriptions.list(filter),
  ),
  connections: kindOf([], tableOf('name', 'kind', 'hosts'), ({ workspaces }, filter) =>
    workspaces.connections.list('current', filter),
  ),
  secrets: kindOf([], tableOf('name', 'updatedAt'), ({ workspaces }, filter) =>
    workspaces.secrets.list('current', filter),
  ),
  queues: kindOf(fields.listQueues, queueTable, ({ queues }, filter) => queues.list(filter)),
  hosts: kindOf([], hostTable, async function* ({ hosts }) {
    yield* (await hosts.list()).data
  }),
}

function kindOf<T>(
  fields: readonly OptionField[],
  { heading, row }: Table<T>,
  list: (belfry: Belfry, filter: { limit: number }) => AsyncIterable<T>,
): Kind {
  const filters = fields.filter(({ path }) => !withOwnOptions.includes(path.join('.')))
  return {
    filters,
    heading,
    async *rows(belfry, flags, limit) {
      for await (const item of list(belfry, { ...bodyOf(filters, flags), limit })) yield row(item)
    },
  }
}

/** Adds `list <what>`, and `<what> list` to the commands of each kind of objects. */
export function addList(program: Command, context: () => Context): void {
  const list = program
    .command('list')
    .description('list objects, newest first, or hosts, queues, connections and secrets; `tasks list` is the same')
    .argument('[what]', `one of ${Object.keys(kinds).join(', ')}`, 'tasks')
  const all = allFilters()
  withPage(withFields(list, all)).action(async (what: string, flags: Flags) => {
    const kind = kinds[what === 'cron' ? 'cronjobs' : what]
    if (!kind) throw new UsageError(`${what} cannot be listed: choose from ${Object.keys(kinds).join(', ')}.`)
    const taken = kind.filters.map(filter => optionOf(filter).long)
    const given = all.map(optionOf).filter(option => flags[option.attributeName()] !== undefined)
    const other = given.find(({ long }) => !taken.includes(long))
    if (other) throw new UsageError(`${other.long} does not apply to ${what}.`)
    await show(context(), what, kind, flags)
  })
  for (const [what, kind] of Object.entries(kinds)) {
    const known = program.commands.find(command => [command.name(), ...command.aliases()].includes(what))
    const parent = known ?? program.command(what, { hidden: true }).description(`list ${what}`)
    const command = parent.command('list', { isDefault: what !== 'cronjobs' }).description(`list ${what}`)
    withPage(withFields(command, kind.filters)).action((flags: Flags) => show(context(), what, kind, flags))
  }
}

// An option that several kinds have takes the words of all of them; the API checks them.
function allFilters(): OptionField[] {
  const merged = new Map<string, OptionField>()
  for (const field of Object.values(kinds).flatMap(({ filters }) => filters)) {
    const name = optionOf(field).attributeName()
    const before = merged.get(name)
    const words = [...new Set([...(before?.words ?? []), ...(field.words ?? [])])]
    merged.set(name, { ...field, ...before, ...(words.length > 0 && { words }) })
  }
  return [...merged.values()]
}

function withPage(command: Command): Command {
  const limit = new Option('-n, --limit <n>', 'how many to show')
  return command
    .addOption(limit.argParser(text => parseNumber(text, { min: 1 })).default(25))
    .option('--all', 'show all')
}

async function show(ctx: Context, what: string, kind: Kind, flags: Flags): Promise<void> {
  const max = flags.all ? Number.POSITIVE_INFINITY : flags.limit
  const found = kind.rows(ctx.belfry(), flags, Math.min(max, pageSize))
  const count = await ctx.out.rows(kind.heading, take(found, max, ctx.signal))
  if (count === 0 && !ctx.out.isJson) ctx.stderr.write(`No ${what} found.\n`)
}

async function* take<T>(items: AsyncIterable<T>, max: number, signal: AbortSignal): AsyncGenerator<T> {
  let count = 0
  for await (const item of items) {
    if (signal.reason === closedPipe) return
    signal.throwIfAborted()
    yield item
    count += 1
    if (count >= max) return
  }
}
