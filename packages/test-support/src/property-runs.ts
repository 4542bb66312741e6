/** Whether this is `npm run test:all`, where time does not matter. */
export const isFullRun = process.env.PROPERTY_RUNS === 'full'

/** How often a property is checked: `full` times in `npm run test:all`, and a tenth elsewhere. */
export function propertyRuns(full: number, small = Math.ceil(full / 10)): number {
  return isFullRun ? full : small
}
