import { expect, it } from 'vitest'
import { where } from './bounded-page.ts'

it('joins conditions and numbers their parameters', () => {
  const filter = where()
  filter.and('a = ?', 1)
  filter.and('b BETWEEN ? AND ?', 2, 3)
  expect(filter.text).toBe('a = $1 AND b BETWEEN $2 AND $3')
  expect(filter.values).toEqual([1, 2, 3])
})
