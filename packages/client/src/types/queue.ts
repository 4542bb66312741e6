import type { QueueLimits } from '../generated/inputs.ts'

/** A queue by its name, with limits to set. The last writer wins. */
export type QueueInput = QueueLimits & { name: string }
