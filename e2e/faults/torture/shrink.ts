import type { TorturePlan } from './plan.ts'

/**
 * Returns a smaller plan that still fails. Drops faults, then operations: halves first, then quarters, down to single ones.
 * @param fails - Whether a plan fails. A run depends on timing, so it may miss; then the part is kept.
 * @param maxTries - How often `fails` is asked.
 */
export async function shrink(
  plan: TorturePlan,
  fails: (plan: TorturePlan) => Promise<boolean>,
  maxTries: number,
): Promise<TorturePlan> {
  let smallest = plan
  let tries = 0
  for (const part of ['faults', 'load'] as const) {
    for (let size = Math.ceil(smallest[part].length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let from = 0; from < smallest[part].length; ) {
        const rest = (smallest[part] as unknown[]).filter((_, i) => i < from || i >= from + size)
        if (part === 'load' && rest.length === 0) break // without a call nothing fails
        if (tries++ >= maxTries) return smallest
        const smaller: TorturePlan = { ...smallest, [part]: rest }
        if (await fails(smaller)) smallest = smaller
        else from += size
      }
    }
  }
  return smallest
}
