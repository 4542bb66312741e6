import type { CronJob } from '@belfry/contract/cron-job'
import { describe, expect, it } from 'vitest'
import { checkCronJob, cronJobBody, cronJobDraft, previewStart, usesRules } from './cron-job-draft.ts'

const draft = { ...cronJobDraft(undefined, 'Europe/Berlin'), name: 'Report', url: 'https://example.com/' }
const now = new Date('2026-11-21T12:00:00Z')

describe('the fields of a cron job', () => {
  it('become a body', () => {
    expect(checkCronJob(draft, false)).toEqual({})
    const startsAt = { text: '2026-12-01 09:00', zone: 'Europe/Berlin' }
    const controls = { maxAgeSeconds: '90', labels: ' a  b a ' }
    expect(cronJobBody(draft, now)).toMatchObject({ max_age_ms: null, labels: [] })
    expect(cronJobBody({ ...draft, ...controls, cron: ' 0  9 * * 1-5 ', startsAt }, now)).toMatchObject({
      max_age_ms: 90_000,
      labels: ['a', 'b'],
      name: 'Report',
      cron: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      starts_at: '2026-12-01T08:00:00.000Z',
      ends_at: null,
    })
    const endsAt = { text: 'in 2 days', zone: 'Europe/Berlin' }
    expect(cronJobBody({ ...draft, endsAt }, now)).toMatchObject({ ends_at: '2026-11-23T12:00:00.000Z' })
  })

  it('keep the instants of a stored one, also in the second pass of an hour that clocks repeat', () => {
    const instants = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z', '2026-12-01T08:00:00.250Z']
    for (const starts_at of instants) {
      const job = { timezone: 'Europe/Berlin', starts_at, ends_at: null } as CronJob
      expect(cronJobBody(cronJobDraft(job, 'UTC'), now)).toMatchObject({ starts_at, ends_at: null })
    }
    const { startsAt } = cronJobDraft({ timezone: 'Europe/Berlin', starts_at: instants[0] } as CronJob, 'UTC')
    expect(startsAt.text).toBe('2026-10-25 02:30:00')
  })

  it('are validated before submitting', () => {
    const zone = 'UTC'
    const wrong = {
      ...draft,
      name: ' ',
      cron: '@daily',
      startsAt: { text: '2026-12-02 09:00', zone },
      endsAt: { text: '2026-12-01 09:00', zone },
      maxAgeSeconds: '0.5',
      labels: 'import -wrong',
    }
    const fields = Object.keys(checkCronJob(wrong, false)).sort()
    expect(fields).toEqual(['cron', 'ends_at', 'labels', 'max_age_ms', 'name'])
    expect(checkCronJob({ ...draft, startsAt: { text: 'soon', zone } }, false)).toHaveProperty('starts_at')
    expect(checkCronJob(draft, true)).toHaveProperty('payload')
  })

  it('are previewed from a start in the future', () => {
    expect(previewStart('2026-12-01T08:00:00.000Z', now)).toEqual({ from: '2026-12-01T07:59:59.999Z' })
    expect(previewStart('2026-11-01T08:00:00.000Z', now)).toEqual({})
    expect(previewStart(null, now)).toEqual({})
  })

  it('are folded until one of the rules for occurrences is set', () => {
    expect(usesRules(draft)).toBe(false)
    for (const rule of [
      { overlap: 'skip' as const },
      { catchUp: 'all' as const },
      { maxAgeSeconds: '5' },
      { labels: 'a' },
    ])
      expect(usesRules({ ...draft, ...rule })).toBe(true)
    expect(usesRules({ ...draft, endsAt: { text: '2026-12-01', zone: 'UTC' } })).toBe(true)
  })
})
