import { expect, it } from 'vitest'
import { ApiProblem } from '../../api/api-problem.ts'
import { doEach } from './do-each.ts'

it('continues after an error, and reports the first one', async () => {
  const act = async (item: number) => {
    if (item % 2 === 0) throw new ApiProblem(409, { detail: 'Not pending.' })
  }
  expect(await doEach([1, 2, 3, 4, 5], act)).toEqual({ succeeded: 3, failed: 2, error: 'Not pending.' })
})

it('retries after a pause when the API answers 429', async () => {
  let tries = 0
  const act = async () => {
    tries += 1
    if (tries === 1) throw new ApiProblem(429, {})
  }
  expect(await doEach(['a'], act)).toEqual({ succeeded: 1, failed: 0, error: null })
  expect(tries).toBe(2)
})
