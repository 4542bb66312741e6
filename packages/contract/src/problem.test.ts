import { appErrorCodes } from '@belfry/domain/app-error'
import { expect, it } from 'vitest'
import { problems } from './problem.ts'

it('every problem has a status of its kind, a title and one sentence of documentation', () => {
  expect(Object.keys(problems).sort()).toEqual([...appErrorCodes].sort())
  for (const { status, title, description } of Object.values(problems)) {
    expect(status).toSatisfy((status: number) => status >= 400 && status <= 508)
    expect(title).toMatch(/^[A-Z].*[^.]$/)
    expect(description).toMatch(/^[A-Z].*\.$/)
  }
})
