import type { Fixture } from '../fixture/fixture.ts'
import { lasting } from '../fixture/moments.ts'
import type { Row } from '../row.ts'

const tasks = 150
const apartMs = 25

export const cancelRace: Row[] = [
  {
    id: 'F73',
    fault: 'DELETE at the moment when a task is due',
    moment: 'M1',
    expected: 'either 200 and no call ever, or 409 and the call',
    async run(fixture) {
      await fixture.startAll()
      await createOneAfterAnother(fixture)
      const aim = createAim()
      const cancels: Array<Promise<unknown>> = []
      for (const { id, executeAt } of fixture.creates) {
        if (id === null) continue // this machine was so slow that its time had passed
        await lasting(Math.max(0, executeAt + aim.offsetMs() - Date.now()))
        cancels.push(fixture.cancel(id).then(({ status }) => aim.correct(status === 409)))
      }
      await Promise.all(cancels)
      const count = (status: number) => fixture.cancels.filter(answer => answer.status === status).length
      fixture.notes.push(`${count(200)} cancelled in time, ${count(409)} too late`)
      fixture.demand(count(200) + count(409) === cancels.length, 'A DELETE was answered with neither 200 nor 409.')
      fixture.demand(count(200) > 0 && count(409) > 0, 'The race was not close.')
      return { latenessMs: 60_000 }
    },
  },
]

// Ten requests at a time, ahead of the first task's time where this machine is fast enough for that.
async function createOneAfterAnother(fixture: Fixture): Promise<void> {
  let dueAt = Date.now() + 3_000
  for (let done = 0; done < tasks; done += 10) {
    dueAt = Math.max(dueAt, Date.now() + 2_000)
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        fixture.create({ path: `/race-${done + i}`, caller: i % 2 === 0 ? 0 : 1, executeAt: dueAt + i * apartMs }),
      ),
    )
    dueAt += 10 * apartMs
  }
  fixture.creates.sort((a, b) => a.executeAt - b.executeAt)
}

/**
 * Decides when to send a DELETE, relative to the due time of its task. A DELETE that was too late makes the next one earlier,
 * one in time makes it later. The step doubles while the answers agree. So the offset approaches the moment of the claim on
 * this machine.
 */
function createAim() {
  const [minStepMs, maxStepMs] = [2, 64]
  let offsetMs = -60
  let stepMs = minStepMs
  let wasLate: boolean | null = null
  return {
    offsetMs: () => offsetMs,
    correct(isLate: boolean) {
      stepMs = isLate === wasLate ? Math.min(stepMs * 2, maxStepMs) : minStepMs
      offsetMs += isLate ? -stepMs : stepMs
      wasLate = isLate
    },
  }
}
