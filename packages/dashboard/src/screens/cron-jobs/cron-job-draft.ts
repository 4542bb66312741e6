import type { CronJob } from '@belfry/contract'
import type { NewCronJob } from '../../api/cron-jobs.ts'
import { checkRequest } from '../../forms/request/check-request.ts'
import { bodyOf, draftOf, emptyRequest, type RequestDraft } from '../../forms/request/request-draft.ts'
import type { FieldErrors } from '../../forms/use-form.ts'
import { parseWhen } from '../../forms/when/parse-when.ts'
import type { WhenDraft } from '../../forms/when/when-field.tsx'
import { wallText } from '../../forms/when/zoned-time.ts'
import type { Schedule } from './schedule-preview.tsx'

export type CronJobDraft = RequestDraft & {
  name: string
  cron: string
  timezone: string
  overlap: string
  catchUp: string
  startsAt: WhenDraft
  endsAt: WhenDraft
}

/** What stands in the fields of a new cron job, or of one that is changed. */
export function cronJobDraft(job: CronJob | undefined, viewer: string): CronJobDraft {
  const never = { text: '', zone: job?.timezone ?? viewer }
  if (!job) {
    const rest = { overlap: 'allow', catchUp: 'latest', startsAt: never, endsAt: never }
    return { ...emptyRequest, name: '', cron: '0 9 * * 1-5', timezone: viewer, ...rest }
  }
  return {
    ...draftOf(job),
    name: job.name,
    cron: job.cron,
    timezone: job.timezone,
    overlap: job.overlap,
    catchUp: job.catch_up,
    startsAt: { ...never, text: textOf(job.starts_at, job.timezone) },
    endsAt: { ...never, text: textOf(job.ends_at, job.timezone) },
  }
}

/** When a draft fires, as far as it can be told. */
export function scheduleIn(draft: CronJobDraft): Schedule {
  return {
    cron: draft.cron,
    timezone: draft.timezone,
    startsAt: instantIn(draft.startsAt),
    endsAt: instantIn(draft.endsAt),
  }
}

/** What the API would refuse, by field; the expression itself is for the API to judge. */
export function checkCronJob(draft: CronJobDraft, isChange: boolean, hadPayload: boolean): FieldErrors {
  const { startsAt, endsAt } = scheduleIn(draft)
  const lacks = (when: WhenDraft, at: Date | null) => when.text.trim() !== '' && at === null
  const unclear = 'Write it as “tomorrow 09:00” or “2026-12-31 18:00”.'
  return {
    ...(draft.name.trim() === '' ? { name: 'Type in a name.' } : {}),
    ...(draft.cron.trim().split(/\s+/).length === 5
      ? {}
      : { cron: 'Exactly five fields: minute, hour, day of month, month, day of week.' }),
    ...(lacks(draft.startsAt, startsAt) ? { starts_at: unclear } : {}),
    ...(lacks(draft.endsAt, endsAt) ? { ends_at: unclear } : {}),
    ...(startsAt && endsAt && endsAt <= startsAt ? { ends_at: 'It ends before it begins.' } : {}),
    ...(isChange && hadPayload && draft.payload.trim() === ''
      ? { payload: 'A payload can be replaced, but not taken away: make another cron job.' }
      : {}),
    ...checkRequest(draft),
  }
}

/** The body that a draft stands for; only for one in which `checkCronJob` finds nothing. */
export function cronJobBody(draft: CronJobDraft): NewCronJob {
  const { startsAt, endsAt } = scheduleIn(draft)
  return {
    ...bodyOf(draft),
    name: draft.name.trim(),
    cron: draft.cron.trim().replace(/\s+/g, ' '),
    timezone: draft.timezone,
    overlap: draft.overlap,
    catch_up: draft.catchUp,
    starts_at: startsAt?.toISOString() ?? null,
    ends_at: endsAt?.toISOString() ?? null,
  }
}

// As the field reads it back: only an ISO time keeps milliseconds.
function textOf(instant: string | null, timezone: string): string {
  if (instant === null) return ''
  return instant.endsWith('.000Z') ? wallText(new Date(instant), timezone) : instant
}

function instantIn({ text, zone }: WhenDraft): Date | null {
  if (text.trim() === '') return null
  const when = parseWhen(text, zone, new Date())
  return 'error' in when ? null : when.at
}
