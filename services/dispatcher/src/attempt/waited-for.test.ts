import { newUuid } from '@belfry/domain/id'
import type { WaitReason } from '@belfry/domain/wait-reason'
import { expect, it } from 'vitest'
import { noBlocks } from '../scheduling/host.ts'
import { type Steps, type Wait, waitedFor } from './waited-for.ts'

type Way = Wait & Steps

const scheduledAt = new Date('2026-11-26T00:00:00Z')
const punctual: Way = {
  dueAt: 0,
  bufferedAt: -250,
  isBacklog: false,
  servedAt: 0,
  blocks: noBlocks,
  slotAt: 1,
  claimedAt: 4,
  sentAt: 5,
}

const reasonOf = (task: Parameters<typeof waitedFor>[0], way: Way) => waitedFor(task, way, way)

it.each<[reason: WaitReason | null, change: Partial<Way>]>([
  [null, {}],
  [null, { slotAt: 990, claimedAt: 995, sentAt: 999 }],
  ['dispatcher', { servedAt: 15_500, bufferedAt: 16_000, slotAt: 16_001, claimedAt: 16_010, sentAt: 16_010 }],
  // The process was frozen while the task waited in its buffer.
  ['dispatcher', { servedAt: 28_000, slotAt: 28_010, claimedAt: 28_020, sentAt: 28_020 }],
  ['backlog', { bufferedAt: 4_000, isBacklog: true, slotAt: 5_000, claimedAt: 5_010, sentAt: 5_010 }],
  // A notification was lost, or PostgreSQL was away.
  [null, { bufferedAt: 3_000, slotAt: 3_001, claimedAt: 3_010, sentAt: 3_010 }],
  [
    'circuit_breaker',
    { blocks: { host_concurrency: 30_050, circuit_breaker: 30_000 }, slotAt: 30_050, sentAt: 30_060 },
  ],
  ['host_concurrency', { blocks: { circuit_breaker: -9, host_concurrency: 5_000 }, slotAt: 5_001, sentAt: 5_002 }],
  ['host_rate', { blocks: { host_rate: 5_000 }, slotAt: 5_000, sentAt: 5_002 }],
  ['slot', { blocks: { host_concurrency: 800 }, slotAt: 2_000, claimedAt: 2_010, sentAt: 2_020 }],
  ['database', { claimedAt: 7_000, sentAt: 7_001 }],
  [null, { claimedAt: 4, sentAt: 7_001 }],
])('finds that an attempt waited for %s', (reason, change) => {
  const task = { taskId: newUuid(scheduledAt.getTime() - 9_000), cronJobId: null, scheduledAt }
  expect(reasonOf(task, { ...punctual, ...change })).toBe(reason)
})

it('finds that an occurrence of a cron job was stored after its time', () => {
  const late = { bufferedAt: 60_300, slotAt: 60_300, claimedAt: 60_310, sentAt: 60_320 }
  const occurrence = { taskId: newUuid(scheduledAt.getTime() + 60_000), cronJobId: newUuid(), scheduledAt }
  expect(reasonOf(occurrence, { ...punctual, ...late })).toBe('scheduler')
  expect(reasonOf({ ...occurrence, cronJobId: null }, { ...punctual, ...late })).toBeNull()
})
