import { auditActions } from '@belfry/domain/audit-action'
import { expect, it } from 'vitest'
import { actionGroups, actionsOf } from './audit-log.tsx'

it('the action filter has every action of the audit log, once', () => {
  const all = actionGroups.flatMap(({ value }) => actionsOf(value))
  expect([...all].sort()).toEqual([...auditActions].sort())
  expect(actionsOf('unknown')).toEqual([])
  // The API takes a parameter at most 20 times.
  for (const { value } of actionGroups) expect(actionsOf(value).length).toBeLessThanOrEqual(20)
})
