import type { TaskChoice, TaskFilter, TaskOperation } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { cancelTasks } from '../generated/fields.ts'
import { bodyOf, type FieldFlags, withFields } from '../options/field-options.ts'
import { UsageError } from '../usage-error.ts'

type Flags = FieldFlags & { all?: boolean; dryRun?: boolean; yes?: boolean }

const verbs = {
  cancel: { about: 'cancel pending tasks', ended: 'cancelled', state: 'pending' },
  stop: { about: 'stop tasks that wait for a retry', ended: 'stopped', state: 'retrying' },
} as const
type Verb = keyof typeof verbs

export function addEndings(program: Command, context: () => Context): void {
  for (const verb of ['cancel', 'stop'] as const) addVerb(program, context, verb)
}

function addVerb(program: Command, context: () => Context, verb: Verb): void {
  const { about, state } = verbs[verb]
  const command = program
    .command(verb)
    .description(about)
    .argument('[ids...]', 'task_...')
    .option('--all', `instead of ids: all ${state} tasks that match the options below`)
    .option('--dry-run', `only count the tasks`)
    .option('--yes', `allows --all without another option: every ${state} task of the workspace`)
  withFields(command, cancelTasks).action(async (ids: string[], { all, dryRun, yes, ...flags }: Flags) => {
    const ctx = context()
    const { filter = {} } = bodyOf<{ filter?: TaskFilter }>(cancelTasks, flags)
    if (ids.length > 0 === Boolean(all)) throw new UsageError('Specify either ids or --all.')
    if (!all && (Object.keys(filter).length > 0 || dryRun)) {
      throw new UsageError('These options select tasks: add --all.')
    }
    if (all && Object.keys(filter).length === 0 && !dryRun && !yes) {
      throw new UsageError(
        `--all alone is every ${state} task of the workspace: add --yes, or count them with --dry-run.`,
      )
    }
    if (all) return dryRun ? count(ctx, verb, filter) : endMany(ctx, verb, { filter })
    for (const id of ids) {
      const task = await ctx.belfry().tasks[verb](id, { signal: ctx.signal })
      ctx.out.show(task, `${task.id}  ${verbs[verb].ended}`)
    }
  })
}

async function count(ctx: Context, verb: Verb, filter: TaskFilter): Promise<void> {
  const { state } = verbs[verb]
  const found = await ctx.belfry().tasks.count({ ...filter, state }, { signal: ctx.signal })
  ctx.out.show(found, `${found.count}${found.isCapped ? ' or more' : ''} ${state}`)
}

async function endMany(ctx: Context, verb: Verb, choice: TaskChoice): Promise<void> {
  const { tasks } = ctx.belfry()
  const { signal } = ctx
  const { ended } = verbs[verb]
  const answer = await (verb === 'cancel' ? tasks.cancelMany(choice, { signal }) : tasks.stopMany(choice, { signal }))
  if (!answer.operation) {
    return ctx.out.show(answer, `${'cancelled' in answer ? answer.cancelled : answer.stopped} ${ended}`)
  }
  const line = (operation: TaskOperation) => `${operation.ended} of ${operation.total} ${ended} (${operation.status})`
  for await (const operation of tasks.progress(answer.operation.id, { signal })) {
    ctx.out.show(operation, line(operation))
  }
}
