import type { Meter } from './open-meter.ts'

const sizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

/** Opens the sizes of batches, by the name of the batch. The API and the dispatcher export them as one metric. */
export function measureBatches(meter: Meter) {
  return meter.histograms('belfry_batch_size', 'How many tasks shared a statement.', sizeBounds, ['batch'])
}

/** Opens the count of failures to add jobs. The API and the dispatcher export it as one metric. */
export function countQueueAway(meter: Meter) {
  return meter.counter('belfry_queue_away_total', 'Failures to add jobs because the queue was away.')
}
