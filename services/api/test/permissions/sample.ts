import { propertyRuns } from '@belfry/test-support/property-runs'

// `npm run test:all` makes all calls, and `npm test` a tenth of them: consecutive tests take turns, so each route and each
// caller has some.
const step = propertyRuns(1, 10)

/** Returns the part of a list that a test makes calls with. */
export function sample<T>(list: readonly T[], test: number): T[] {
  return list.filter((_, index) => (index + test) % step === 0)
}
