import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { depthHeaders, maxDepth, readDepth } from './call-depth.ts'
import { parseMasterKeys } from './master-keys.ts'

const key = () => randomBytes(32).toString('base64')
const keys = parseMasterKeys(`k1:${key()}`)

it('reads each depth that it has written, one more for each call', () => {
  expect(depthHeaders(keys).map(value => readDepth(keys, value))).toEqual([1, 2, 3, 4, 5, 6])
  expect(depthHeaders(keys)).toHaveLength(maxDepth + 1)
})

it('reads values that an earlier master key has signed', () => {
  const [first = ''] = depthHeaders(keys)
  const [[id, value] = []] = [...keys.all].map(([id, { key }]) => [id, key.export().toString('base64')])
  expect(readDepth(parseMasterKeys(`k2:${key()},${id}:${value}`), first)).toBe(1)
})

it('ignores a value that this installation has not signed', () => {
  const [first = ''] = depthHeaders(keys)
  const [foreign] = depthHeaders(parseMasterKeys(`k1:${key()}`))
  for (const value of [undefined, '', '6', '6.', `6${first.slice(1)}`, `${first}x`, foreign, '6.é', '10.abcdefghijkl'])
    expect(readDepth(keys, value)).toBe(0)
})
