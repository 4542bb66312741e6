import type { rights } from '@belfry/domain/permissions'
import { describe, expectTypeOf, it } from 'vitest'
import type { Auditor } from '../audit/audit.ts'
import type { Call } from '../qstash/call.ts'
import type { ScheduleRequest } from '../tasks/schedule.ts'
import type { Allowed, CallerOf } from './authorize.ts'

type Unchecked = {
  [Key in keyof CallerOf<'task.read'> as Key extends string ? Key : never]: CallerOf<'task.read'>[Key]
}

describe('a caller without a check of its right does not compile', () => {
  it('where tasks are created', () => {
    expectTypeOf<Allowed<'task.create'>>().toExtend<ScheduleRequest['caller']>()
    expectTypeOf<Allowed<'task.read'>>().not.toExtend<ScheduleRequest['caller']>()
    expectTypeOf<Unchecked>().not.toExtend<Allowed>()
  })

  it('where a change is recorded', () => {
    expectTypeOf<Allowed<'secret.write'>>().toExtend<Auditor<'secret.changed'>>()
    expectTypeOf<Allowed<'secret.read'>>().not.toExtend<Auditor<'secret.changed'>>()
    expectTypeOf<CallerOf<'member.leave'>>().not.toExtend<Auditor<'member.removed'>>()
    expectTypeOf<Unchecked>().not.toExtend<Auditor<'member.removed'>>()
    // No right of the table allows it.
    expectTypeOf<CallerOf<keyof typeof rights>>().not.toExtend<Auditor<'member.joined'>>()
  })

  it('where one of several rights was checked', () => {
    expectTypeOf<CallerOf<'task.delete' | 'dead_letter.replay'>>().not.toExtend<Allowed<'task.delete'>>()
    expectTypeOf<CallerOf<'task.delete'>>().toExtend<Allowed<'task.delete' | 'dead_letter.replay'>>()
    expectTypeOf<Call<'cron_job.read'>>().not.toExtend<Call<'cron_job.write'>>()
  })
})
