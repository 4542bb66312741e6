import { expect, it } from 'vitest'
import { errorText } from './error-labels.ts'

it('names a known error in words, and others by their code', () => {
  expect(['dns', 'solar_flare', 'constructor'].map(errorText)).toEqual(['DNS', 'solar_flare', 'constructor'])
})
