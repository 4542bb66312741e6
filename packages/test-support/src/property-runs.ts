/** How often a property is checked: `full` times in `npm run test:all`, where time does not matter, and a tenth elsewhere. */
export function propertyRuns(full: number, small = Math.ceil(full / 10)): number {
  return process.env.PROPERTY_RUNS === 'full' ? full : small
}
