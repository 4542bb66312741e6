import type { CronJob } from '@belfry/contract/cron-job'
import { type FieldErrors, messagesIn } from '../../forms/form.tsx'
import { checkRequest } from '../../forms/request/check-request.ts'
import { bodyOf, draftOf } from '../../forms/request/request-draft.ts'
import { readWhen, type WhenDraft } from '../../forms/when/parse-when.ts'
import { wallText } from '../../forms/when/zoned-time.ts'

export type CronJobDraft = ReturnType<typeof cronJobDraft>

export type Schedule = { cron: string; timezone: string; startsAt: string | null; endsAt: string | null }

export function cronJobDraft(job: CronJob | undefined, viewer: string) {
  const zone = job?.timezone ?? viewer
  return {
    ...draftOf(job),
    name: job?.name ?? '',
    cron: job?.cron ?? '0 9 * * 1-5',
    timezone: zone,
    overlap: job?.overlap ?? 'allow',
    catchUp: job?.catch_up ?? 'latest',
    startsAt: { text: textOf(job?.starts_at, zone), zone },
    endsAt: { text: textOf(job?.ends_at, zone), zone },
  }
}

/** Returns whether a draft has a rule about its occurrences that a new cron job does not have. */
export function usesRules({ overlap, catchUp, startsAt, endsAt, maxAgeSeconds, labels }: CronJobDraft): boolean {
  return overlap !== 'allow' || catchUp !== 'latest' || startsAt.text + endsAt.text + maxAgeSeconds + labels !== ''
}

/** Returns the schedule of a draft at a time, as far as its fields are valid. */
export function scheduleIn(draft: CronJobDraft, now: Date): Schedule {
  const { cron, timezone, startsAt, endsAt } = draft
  return { cron, timezone, startsAt: readWhen(startsAt, now).at, endsAt: readWhen(endsAt, now).at }
}

/** Returns from when on a preview lists the runs, for its body. Default: now. */
export function previewStart(startsAt: string | null, now: Date): { from?: string } {
  const start = Date.parse(startsAt ?? '')
  return start > now.getTime() ? { from: new Date(start - 1).toISOString() } : {}
}

/** Returns what the API would reject, by field. Only the API checks the expression itself. */
export function checkCronJob(draft: CronJobDraft, hadPayload: boolean): FieldErrors {
  const { startsAt, endsAt } = scheduleIn(draft, new Date())
  const isInvalid = (when: WhenDraft, at: string | null) => when.text.trim() !== '' && at === null
  const fields = draft.cron.trim().split(/\s+/)
  const unclear = 'Use a time such as “tomorrow 09:00” or “2026-12-31 18:00”.'
  const isEarly = startsAt && endsAt && endsAt <= startsAt
  const losesPayload = hadPayload && draft.payload.trim() === ''
  return messagesIn({
    name: draft.name.trim() === '' && 'Enter a name.',
    cron: fields.length !== 5 && 'Enter exactly five fields: minute, hour, day of month, month, day of week.',
    starts_at: isInvalid(draft.startsAt, startsAt) && unclear,
    ends_at: isInvalid(draft.endsAt, endsAt) ? unclear : isEarly && 'The end must be after the start.',
    payload: losesPayload && 'A payload can be replaced but not removed. Create a new cron job instead.',
    ...checkRequest(draft),
  })
}

/** Converts a draft to a body at a time. Only for a draft that passes `checkCronJob`. */
export function cronJobBody(draft: CronJobDraft, now: Date) {
  const { startsAt, endsAt } = scheduleIn(draft, now)
  return {
    ...bodyOf(draft),
    name: draft.name.trim(),
    cron: draft.cron.trim().replace(/\s+/g, ' '),
    timezone: draft.timezone,
    overlap: draft.overlap,
    catch_up: draft.catchUp,
    starts_at: startsAt,
    ends_at: endsAt,
  }
}

// A wall time has no milliseconds, and means the first pass of an hour that clocks repeat. An ISO time keeps both.
function textOf(instant: string | null | undefined, timezone: string): string {
  if (!instant) return ''
  const text = wallText(new Date(instant), timezone)
  return readWhen({ text, zone: timezone }).at === instant ? text : instant
}
