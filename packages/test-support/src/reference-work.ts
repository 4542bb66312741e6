import { cpuTimeOf } from './cpu-time.ts'

// Allocates and collects as tests do.
const text = JSON.stringify(
  Array.from({ length: 1_000 }, (_, id) => ({ id, state: 'pending', labels: [`label-${id}`] })),
)

/** CPU milliseconds of the reference work on the machine that the budgets of the lanes were set on. */
export const usualReferenceWorkMs = 3

/**
 * Returns the CPU milliseconds that a fixed piece of work takes at present. A slower machine, a neighbor on the other half of
 * the core, or a hot hour makes it more expensive, and tests in the same proportion.
 */
export function measureReferenceWork(): number {
  return cpuTimeOf(() => {
    for (let i = 0; i < 10; i++) JSON.parse(text)
  })
}
