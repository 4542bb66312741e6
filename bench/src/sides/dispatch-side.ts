import type { Sample } from '../measure/window.ts'

/** One side of a race: dispatches so many tasks that are all due, so many at once, and tells how it went. */
export type DispatchSide = (options: { concurrency: number; count: number }) => Promise<Sample>
