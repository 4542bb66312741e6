import { it } from 'vitest'
import { expectViolation, mutations } from './mutations.ts'

it.each(mutations)('finds the shortest way to a broken promise when $name', { timeout: 120_000 }, expectViolation)
