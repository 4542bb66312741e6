import type { CreateAnswer, TaskSpec } from '../fixture/api-operations.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { specOf } from '../fixture/load.ts'
import { lasting } from '../fixture/moments.ts'

const roundMs = 250
const maxRepeats = 5

/**
 * Creates tasks at a steady rate, due within seconds, until the end, and waits for the last answer. Of twenty tasks, one
 * belongs to the limited organization and may be changed. Two are cancelled and two changed at about their due time. Three
 * have an `Idempotency-Key`: their POST is repeated until it is answered, and sometimes once more.
 */
export async function steadyLoad(
  fixture: Fixture,
  options: { random: () => number; endAt: number; perSecond: number },
): Promise<void> {
  const { random, endAt, perSecond } = options
  const beganAt = performance.now()
  const inFlight = new Set<Promise<unknown>>()
  let created = 0
  while (performance.now() < endAt) {
    const target = ((performance.now() - beganAt) / 1000) * perSecond
    while (created < target) {
      const spec = { ...specOf(`/steady-${created}`, created, random), inMs: 500 + random() * 8_000 }
      const life = live(fixture, spec, random).finally(() => inFlight.delete(life))
      inFlight.add(life)
      created++
    }
    await lasting(roundMs)
  }
  await Promise.all(inFlight)
}

async function live(fixture: Fixture, spec: TaskSpec & { inMs: number }, random: () => number): Promise<void> {
  const kind = Math.floor(random() * 20)
  const answeredSoon = random() < 0.3
  if (kind >= 5 && kind < 8) return createWithKey(fixture, spec, answeredSoon)
  const { id } = await fixture.create(kind === 0 ? { ...spec, caller: 2 } : spec)
  if (id === null || kind > 4 || (kind === 0 && !answeredSoon)) return
  // Around the due time, when the race with the claim is close.
  await lasting(answeredSoon ? 50 : Math.max(0, spec.inMs - 150 + random() * 250))
  if (kind === 1 || kind === 2) await fixture.cancel(id)
  else await fixture.change(id, { path: `${spec.path}-changed`, inMs: 1_000 + random() * 4_000 })
}

async function createWithKey(fixture: Fixture, spec: TaskSpec & { inMs: number }, onceMore: boolean): Promise<void> {
  const keyed = { ...spec, key: spec.path, executeAt: Math.round(Date.now() + spec.inMs + 5_000) }
  let answer: CreateAnswer | undefined
  for (let sent = 0; sent < maxRepeats && answer?.status !== 201; sent++) {
    if (sent > 0) await lasting(500)
    answer = await fixture.create(keyed)
  }
  if (onceMore) await fixture.create(keyed)
}
