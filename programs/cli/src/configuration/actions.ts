import type { Context } from '../context.ts'
import { parseAssignments } from '../parse-options.ts'
import { readInput } from '../read-input.ts'
import { UsageError } from '../usage-error.ts'
import { applyPlan } from './apply-plan.ts'
import { changeToJson, describeChange, summarize, warningsOf } from './describe-plan.ts'
import { kindNames, kinds } from './kinds.ts'
import { type Change, type Live, ownName, type Plan, planChanges } from './plan.ts'
import { type Configuration, readConfiguration } from './read-configuration.ts'
import { type Named, readLive, readNames } from './read-live.ts'
import { configurationSchema } from './schema.ts'
import { writeConfiguration } from './write-configuration.ts'

export type Flags = { file: string; env?: string; var?: string[]; prune?: boolean; adopt?: boolean }

/** Shows what the file would change; returns whether there is something to change. */
export async function showPlan(ctx: Context, flags: Flags): Promise<boolean> {
  const plan = await makePlan(ctx, flags)
  for (const change of plan.changes) show(ctx, change)
  report(ctx, plan, false)
  return plan.changes.length > 0
}

export async function applyFile(ctx: Context, flags: Flags): Promise<void> {
  const plan = await makePlan(ctx, flags)
  await applyPlan(ctx.belfry(), plan, { signal: ctx.signal, onDone: change => show(ctx, change) })
  report(ctx, plan, true)
}

/** Prints a configuration file for the objects of the workspace that are the project's, or that have no key. */
export async function exportFile(ctx: Context, project: string): Promise<void> {
  const belfry = ctx.belfry()
  const [live, secrets, connections] = await Promise.all([
    readLive(belfry, kindNames, ctx.signal),
    readNames(belfry, 'secrets', ctx.signal),
    readNames(belfry, 'connections', ctx.signal),
  ])
  const isOfOthers = (one: Live) => one.key !== null && ownName(one, project) === null
  const others = live.filter(isOfOthers).map(({ kind, key }) => `${kinds[kind].noun} ${key}`)
  if (others.length > 0) ctx.stderr.write(`Left out, because others own them: ${others.join(', ')}\n`)
  const own = live.filter(one => !isOfOthers(one))
  ctx.stdout.write(writeConfiguration(project, own, { secrets, connections }))
}

export function printSchema(ctx: Context): void {
  ctx.stdout.write(`${JSON.stringify(configurationSchema(), null, 2)}\n`)
}

async function makePlan(ctx: Context, flags: Flags): Promise<Plan> {
  const configuration = readConfiguration(await readInput(ctx, flags.file), {
    environment: flags.env,
    variables: parseAssignments('--var', flags.var),
    env: ctx.env,
  })
  const belfry = ctx.belfry()
  await requireNames(ctx, configuration, 'secrets')
  await requireNames(ctx, configuration, 'connections')
  const live = await readLive(belfry, kindNames, ctx.signal)
  return planChanges(configuration, live, { prunes: flags.prune ?? false, adopts: flags.adopt ?? false })
}

async function requireNames(ctx: Context, configuration: Configuration, what: keyof Named): Promise<void> {
  if (configuration[what].length === 0) return
  const known = new Set(await readNames(ctx.belfry(), what, ctx.signal))
  const missing = configuration[what].filter(name => !known.has(name))
  if (missing.length === 0) return
  throw new UsageError(`The workspace has no ${what.slice(0, -1)} ${missing.join(', ')}. Create it first.`)
}

function show(ctx: Context, change: Change): void {
  ctx.out.show(changeToJson(change), describeChange(change, ctx.out.paint))
}

function report(ctx: Context, plan: Plan, isDone: boolean): void {
  for (const warning of warningsOf(plan)) ctx.stderr.write(`${warning}\n`)
  ctx.out.say(summarize(plan, isDone))
}
