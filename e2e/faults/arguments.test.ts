import { expect, it } from 'vitest'
import { readArguments } from './arguments.ts'

it('reads rows, a seed, and the duration of chaos', () => {
  expect(readArguments([])).toEqual({ ids: [], seed: 1, chaosMinutes: null, withRedis: true, writesDocs: true })
  expect(readArguments(['F07', '--seed', '42', 'S01'])).toMatchObject({ ids: ['F07', 'S01'], seed: 42 })
  expect(readArguments(['--without-redis'])).toMatchObject({ withRedis: false })
  expect(readArguments(['--without-docs', 'F23'])).toMatchObject({ writesDocs: false, ids: ['F23'] })
  expect(readArguments(['--chaos'])).toMatchObject({ chaosMinutes: 10 })
  expect(readArguments(['--chaos', '--minutes', '2'])).toMatchObject({ chaosMinutes: 2 })
  expect(() => readArguments(['7'])).toThrow('7 is neither')
  expect(() => readArguments(['--seed', 'x'])).toThrow('--seed needs a number')
})
