import { expect, it } from 'vitest'
import { readArguments } from './arguments.ts'

it('reads rows and a seed', () => {
  expect(readArguments([])).toEqual({
    ...{ ids: [], seed: 1, torture: null, planted: null, proof: null, withRedis: true, writesDocs: true },
  })
  expect(readArguments(['F07', '--seed', '42', 'S01'])).toMatchObject({ ids: ['F07', 'S01'], seed: 42 })
  expect(readArguments(['--without-redis'])).toMatchObject({ withRedis: false })
  expect(readArguments(['--without-docs', 'F23'])).toMatchObject({ writesDocs: false, ids: ['F23'] })
  expect(() => readArguments(['7'])).toThrow('7 is neither')
  expect(() => readArguments(['--seed', 'x'])).toThrow('--seed needs a number')
})

it('reads the options of a torture run', () => {
  const whole = { minutes: 3, planFile: null, reportFile: null, shrinkTries: 0 }
  expect(readArguments(['--torture', '--seed', '5'])).toMatchObject({ seed: 5, torture: whole })
  expect(readArguments(['--torture', '--minutes', '0.5', '--report', 'a.html'])).toMatchObject({
    torture: { ...whole, minutes: 0.5, reportFile: 'a.html' },
  })
  expect(readArguments(['--torture', '--plan', 'a.json', '--shrink']).torture).toEqual({
    ...{ ...whole, planFile: 'a.json', shrinkTries: 30 },
  })
  expect(readArguments(['--torture', '--shrink', '--tries', '4']).torture?.shrinkTries).toBe(4)
  expect(readArguments(['--torture', '--planted', 'V05', 'E10', '--healthy']).planted).toEqual({
    ...{ ids: ['V05', 'E10'], isHealthy: true },
  })
  expect(() => readArguments(['--torture', '--plan'])).toThrow('--plan needs a value')
})

it('reads the sizes and the stores of a proof', () => {
  const proofOf = (text: string) => readArguments(text.split(' ')).proof
  expect(proofOf('--prove-once')).toEqual({ calls: 1_000, kills: 20, stores: ['pg'] })
  expect(proofOf('--prove-once --calls 9 --kills 2 --store redis --store none')).toEqual({
    ...{ calls: 9, kills: 2, stores: ['redis', 'none'] },
  })
  expect(() => proofOf('--prove-once --store oracle')).toThrow('--store is one of pg')
})
