import { problems } from '@belfry/contract/problem'
import { expect, it } from 'vitest'
import { clientResources } from './resources.ts'

it('names codes of the status 409 as conflicts', () => {
  const text = clientResources().replace(/\s+\*?\s*/g, ' ')
  const codes = [...text.matchAll(/Throws `ConflictError` \(([^)]+)\)/g)].flatMap(([, list = '']) => list.split(', '))
  const all = Object.entries(problems).flatMap(([code, { status }]) => (status === 409 ? `\`${code}\`` : []))
  expect(codes.length).toBeGreaterThan(5)
  expect(codes.filter(code => !all.includes(code))).toEqual([])
})
