import { expect, it } from 'vitest'
import type { Operation } from './operation.ts'
import { operations } from './operations.ts'

const all = Object.values<Operation>(operations)
const partsOf = ({ path }: Operation) => path.split('/')
const isParameter = (part: string | undefined) => part?.startsWith(':') === true

it('lists a path before every path whose parameters would match it', () => {
  const hidden = all.flatMap((operation, i) =>
    all
      .slice(0, i)
      .filter(earlier => {
        const [parts, before] = [partsOf(operation), partsOf(earlier)]
        const isMatch =
          before.length === parts.length && before.every((part, n) => part === parts[n] || isParameter(part))
        return isMatch && before.some((part, n) => isParameter(part) && !isParameter(parts[n]))
      })
      .map(earlier => `${earlier.path} hides ${operation.path}`),
  )
  expect(hidden).toEqual([])
})

it('has each method of a path, and each method of the clients, once', () => {
  const addresses = all.map(({ method, path }) => `${method} ${path}`)
  expect(new Set(addresses).size).toBe(addresses.length)
  const methods = all.flatMap(({ client }) => client ?? [])
  expect(new Set(methods).size).toBe(methods.length)
})
