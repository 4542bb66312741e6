import { expect, it } from 'vitest'
import { toSummary } from './summary.ts'

it('has every figure under its key, and says what is broken', () => {
  const figure = { key: 'a', title: '', value: 2, min: 1, max: 3 }
  const machine = { cpu: '', cores: 2, memoryGiB: 1, kernel: '', versions: {} }
  const result = {
    name: 'x',
    title: '',
    measuredAt: '',
    seconds: 1,
    machine,
    rounds: [],
    stolen: { kept: [], setAside: [] },
    figures: [figure],
  }
  expect(toSummary([result], ['y'])).toEqual({ a: 2, spread: { a: [1, 3] }, notes: [], broken: ['y'], machine })
})
