import type { CreateCronJob, CronJob } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { backfillCronJob, createCronJob, previewCronJob } from '../generated/fields.ts'
import { bodyOf, type FieldFlags, withFields } from '../options/field-options.ts'
import { UsageError } from '../usage-error.ts'
import { type RequestFlags, requestOf, withRequestOptions } from './request-options.ts'

export function addCron(program: Command, context: () => Context): void {
  const cron = program.command('cron').alias('cronjobs').description('manage cron jobs')
  addPreview(cron, context)
  addCreate(cron, context)
  for (const verb of ['pause', 'resume'] as const) {
    const about = { pause: 'pause cron jobs', resume: 'resume cron jobs from now on' }
    const other = { pause: 'active', resume: 'paused' } as const
    cron
      .command(verb)
      .description(about[verb])
      .argument('[ids...]', 'cron_...')
      .option('--all', `all ${other[verb]} cron jobs; with --yes`)
      .option('--yes', 'allows --all')
      .action(async (ids: string[], { all, yes }: { all?: boolean; yes?: boolean }) => {
        const ctx = context()
        const { cronJobs } = ctx.belfry()
        const { signal } = ctx
        if (ids.length > 0 === Boolean(all)) throw new UsageError('Specify either ids or --all.')
        if (all && !yes) throw new UsageError(`--all is every ${other[verb]} cron job of the workspace: add --yes.`)
        const found = all ? await idsOf(cronJobs.list({ status: other[verb], limit: 100 }, { signal })) : ids
        for (const id of found) showJob(ctx, await cronJobs[verb](id, { signal }))
      })
  }
  cron
    .command('trigger')
    .description('run a cron job once, now, in addition to its schedule')
    .argument('<id>', 'cron_...')
    .action(async (id: string) => {
      const ctx = context()
      const task = await ctx.belfry().cronJobs.trigger(id, { signal: ctx.signal })
      ctx.out.show(task, `${task.id}  ${task.method} ${task.url}`)
    })
  const backfill = cron
    .command('backfill')
    .description('run a cron job for a past time: each occurrence that has no task')
    .argument('<id>', 'cron_...')
  withFields(backfill, backfillCronJob).action(async (id: string, flags: FieldFlags) => {
    const ctx = context()
    const body = bodyOf<{ from: Date; to: Date }>(backfillCronJob, flags)
    const result = await ctx.belfry().cronJobs.backfill(id, body, { signal: ctx.signal })
    ctx.out.show(result, `${result.created} created, ${result.skipped} skipped`)
  })
  cron
    .command('delete')
    .description('delete a cron job, and cancel its runs that have not started')
    .argument('<id>', 'cron_...')
    .action(async (id: string) => {
      const ctx = context()
      await ctx.belfry().cronJobs.delete(id, { signal: ctx.signal })
      ctx.out.show({ id, deleted: true }, `${id}  deleted`)
    })
}

async function idsOf(jobs: AsyncIterable<CronJob>): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of jobs) ids.push(id)
  return ids
}

function addPreview(group: Command, context: () => Context): void {
  const command = group
    .command('preview')
    .description('describe an expression, and show its next runs')
    .argument('<cron>', "five fields, such as '0 9 * * 1-5'")
  withFields(command, previewCronJob).action(async (cron: string, flags: FieldFlags & { timezone?: string }) => {
    const ctx = context()
    const body = { ...bodyOf(previewCronJob, flags), cron }
    const preview = await ctx.belfry().cronJobs.preview(body, { signal: ctx.signal })
    if (ctx.out.isJson) return ctx.out.show(preview, '')
    ctx.out.say(ctx.out.paint(preview.description, 'bold'))
    for (const at of preview.nextRuns) {
      ctx.out.say(`${at}  ${inZone(at, flags.timezone)}${noteAt(preview, at)}`.trimEnd())
    }
  })
}

function noteAt({ notes }: Pick<CronJob, 'notes'>, at: string): string {
  const note = notes.find(one => one.at === at)
  if (!note) return ''
  const reason = { clock_gap: 'does not exist that day', clock_overlap: 'occurs twice that day' }
  return `  (${note.local} ${reason[note.code]})`
}

function inZone(at: string, timezone: string | undefined): string {
  if (!timezone) return ''
  const options = { weekday: 'short', dateStyle: undefined, timeZone: timezone, timeZoneName: 'short' } as const
  const time = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
  return new Intl.DateTimeFormat('en-GB', { ...options, ...time }).format(new Date(at))
}

function addCreate(cron: Command, context: () => Context): void {
  const command = cron
    .command('create')
    .description('create a cron job, which calls a URL on a schedule')
    .argument('<url>', 'the URL to call')
  withRequestOptions(command, createCronJob).action(async (url: string, flags: RequestFlags & { cron: string }) => {
    const ctx = context()
    const request = await requestOf<CreateCronJob>(ctx, createCronJob, flags)
    const body = { ...request, targetUrl: url, cron: flags.cron }
    showJob(ctx, await ctx.belfry().cronJobs.create(body, { signal: ctx.signal }))
  })
}

function showJob(ctx: Context, job: CronJob): void {
  const next = job.nextRunAt ? `, next ${job.nextRunAt}` : ''
  ctx.out.show(job, `${job.id}  ${job.status}  ${job.description} (${job.timezone})${next}`)
}
