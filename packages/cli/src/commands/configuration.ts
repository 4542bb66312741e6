import type { Command } from 'commander'
import { applyPlan } from '../configuration/apply-plan.ts'
import { changeToJson, describeChange, summarize, warningsOf } from '../configuration/describe-plan.ts'
import { type Change, type Plan, planChanges } from '../configuration/plan.ts'
import { type Configuration, kinds, readConfiguration } from '../configuration/read-configuration.ts'
import { readLive, readSecretNames } from '../configuration/read-live.ts'
import { configurationSchema } from '../configuration/schema.ts'
import { writeConfiguration } from '../configuration/write-configuration.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'
import { readInput } from './request-options.ts'

type Flags = { file: string; env?: string; var?: string[]; prune?: boolean; adopt?: boolean }

export function addConfiguration(program: Command, context: () => Context, fail: () => void): void {
  withFlags(program.command('plan').description('show what the configuration file would change in the workspace'))
    .option('--check', 'exit with 1 when there is something to change, for CI')
    .action(async ({ check, ...flags }: Flags & { check?: boolean }) => {
      const ctx = context()
      const plan = await makePlan(ctx, flags)
      for (const change of plan.changes) show(ctx, change)
      report(ctx, plan, false)
      if (check && plan.changes.length > 0) fail()
    })
  withFlags(program.command('apply').description('make the workspace agree with the configuration file')).action(
    async (flags: Flags) => {
      const ctx = context()
      const plan = await makePlan(ctx, flags)
      await applyPlan(ctx.belfry(), plan, { signal: ctx.signal, onDone: change => show(ctx, change) })
      report(ctx, plan, true)
    },
  )
  program
    .command('export')
    .description('print a configuration file for the objects of the workspace')
    .option('--project <name>', 'the project of the file', 'main')
    .action(async ({ project }: { project: string }) => {
      const ctx = context()
      const belfry = ctx.belfry()
      const [live, secrets] = await Promise.all([
        readLive(belfry, kinds, ctx.signal),
        readSecretNames(belfry, ctx.signal),
      ])
      ctx.stdout.write(writeConfiguration(project, live, secrets))
    })
  program
    .command('schema')
    .description('print the JSON Schema of the configuration file, for editors')
    .action(() => void context().stdout.write(`${JSON.stringify(configurationSchema(), null, 2)}\n`))
}

function withFlags(command: Command): Command {
  return command
    .option('-f, --file <file>', 'the configuration file; - for standard input', 'belfry.yaml')
    .option('--env <name>', 'use this environment of the file')
    .option('--var <name=value...>', 'set a variable')
    .option('--prune', 'delete the objects of the project that the file does not have')
    .option('--adopt', 'take over objects without a key that look like those of the file')
}

async function makePlan(ctx: Context, flags: Flags): Promise<Plan> {
  const configuration = readConfiguration(await readInput(ctx, flags.file), {
    environment: flags.env,
    variables: variablesOf(flags.var ?? []),
    env: ctx.env,
  })
  const belfry = ctx.belfry()
  await requireSecrets(ctx, configuration)
  const live = await readLive(belfry, kinds, ctx.signal)
  return planChanges(configuration, live, { prunes: flags.prune ?? false, adopts: flags.adopt ?? false })
}

function variablesOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map(one => {
      const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(one) ?? []
      if (name === undefined || value === undefined) throw new UsageError(`--var ${one} must look like NAME=value.`)
      return [name, value]
    }),
  )
}

async function requireSecrets(ctx: Context, { secrets }: Configuration): Promise<void> {
  if (secrets.length === 0) return
  const known = new Set(await readSecretNames(ctx.belfry(), ctx.signal))
  const missing = secrets.filter(name => !known.has(name))
  if (missing.length > 0) throw new UsageError(`The workspace has no secret ${missing.join(', ')}. Create it first.`)
}

function show(ctx: Context, change: Change): void {
  ctx.out.show(changeToJson(change), describeChange(change, ctx.out.paint))
}

function report(ctx: Context, plan: Plan, isDone: boolean): void {
  for (const warning of warningsOf(plan)) ctx.stderr.write(`${warning}\n`)
  ctx.out.say(summarize(plan, isDone))
}
