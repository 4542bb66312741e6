import type { CronJob } from '@belfry/contract/cron-job'
import {
  bodyFrom,
  choice,
  type Draft,
  draftFor,
  optionalTime,
  problemsOf,
  requiredText,
} from '../../forms/body-model.ts'
import { bodyOf, checkRequest, draftOf, flowModel, type RequestDraft } from '../../forms/request/request-draft.ts'
import type { FieldErrors } from '../../forms/use-form.ts'
import { timeIn } from '../../forms/when/when-draft.ts'
import type { Schedule } from './schedule-preview.tsx'

const { max_age_ms, labels } = flowModel

const cronJobModel = {
  name: requiredText('Enter a name.'),
  cron: {
    show: (stored = '0 9 * * 1-5') => stored,
    read: (shown: string) => shown.trim().replace(/\s+/g, ' '),
    // Only the API checks the expression itself.
    check: (shown: string) =>
      shown.trim().split(/\s+/).length === 5
        ? null
        : 'Enter exactly five fields: minute, hour, day of month, month, day of week.',
  },
  timezone: choice<string>('UTC'),
  overlap: choice<CronJob['overlap']>('allow'),
  catch_up: choice<CronJob['catch_up']>('latest'),
  ...{ starts_at: optionalTime, ends_at: optionalTime, max_age_ms, labels },
}

export type CronJobDraft = RequestDraft & Draft<typeof cronJobModel>

/** Returns the fields for a new cron job, or for an existing one. */
export function cronJobDraft(job: CronJob | undefined, viewer: string): CronJobDraft {
  const stored = job ?? { timezone: viewer }
  return { ...draftOf(job), ...draftFor(cronJobModel, stored, stored.timezone) }
}

/** Returns the schedule of a draft, as far as its fields are valid. */
export function scheduleIn({ cron, timezone, starts_at, ends_at }: CronJobDraft): Schedule {
  return { cron, timezone, startsAt: timeIn(starts_at), endsAt: timeIn(ends_at) }
}

/** Returns what the API would reject, by field. */
export function checkCronJob(draft: CronJobDraft, isChange: boolean, hadPayload: boolean): FieldErrors {
  const { startsAt, endsAt } = scheduleIn(draft)
  return {
    ...(startsAt && endsAt && endsAt <= startsAt ? { ends_at: 'The end must be after the start.' } : {}),
    ...(isChange && hadPayload && draft.payload.trim() === ''
      ? { payload: 'A payload can be replaced but not removed. Create a new cron job instead.' }
      : {}),
    ...problemsOf(cronJobModel, draft),
    ...checkRequest(draft),
  }
}

/** Converts a draft to a body. Only for a draft in which `checkCronJob` finds no error. */
export function cronJobBody(draft: CronJobDraft) {
  return { ...bodyOf(draft), ...bodyFrom(cronJobModel, draft) }
}
