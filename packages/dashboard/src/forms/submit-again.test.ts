import { expect, it, onTestFinished, vi } from 'vitest'
import { ApiProblem } from '../api/api-problem.ts'
import { submitAgain } from './submit-again.ts'

const lost = new ApiProblem(0, {})
const busy = new ApiProblem(409, { code: 'idempotency_in_progress' })
const refused = new ApiProblem(400, { code: 'validation_failed' })

/** Submits drafts, a second apart. Returns the error or result of each, and for each attempt the first one with its present. */
async function submitAll(drafts: readonly string[], answers: ReadonlyArray<ApiProblem | string>) {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const attempts: string[] = []
  const left = [...answers]
  const send = submitAgain<string, string>()
  const ends: unknown[] = []
  for (const draft of drafts) {
    const submit = async (_draft: string, at: Date) => {
      attempts.push(at.toISOString())
      const answer = left.shift() ?? 'done'
      if (typeof answer !== 'string') throw answer
      return answer
    }
    ends.push(await send(draft, submit).catch((error: unknown) => error))
    vi.advanceTimersByTime(1000)
  }
  return { ends, first: attempts.map(attempt => attempts.indexOf(attempt)) }
}

it('submits a draft again with the same present until its answer arrives', async () => {
  const { ends, first } = await submitAll(['a', 'a', 'a'], [lost, busy, 'done'])
  expect(ends).toEqual([lost, busy, 'done'])
  expect(first).toEqual([0, 0, 0])
})

it('submits another draft, or a refused draft, with another present', async () => {
  const { ends, first } = await submitAll(['a', 'b', 'b'], [lost, refused, 'done'])
  expect(ends).toEqual([lost, refused, 'done'])
  expect(first).toEqual([0, 1, 2])
})

it('submits a draft with a new present once the repetition of its lost one is refused, such as for its time', async () => {
  const { ends, first } = await submitAll(['a', 'a'], [lost, refused, 'done'])
  expect(ends).toEqual([lost, 'done'])
  expect(first).toEqual([0, 0, 2])
})
