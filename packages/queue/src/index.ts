export type { QueueConnection, QueueDepth } from './connection.ts'
export { consumeDispatchQueue, type DispatchConsumer } from './consume-dispatch-queue.ts'
export { type DeadLetter, type DeadLetterQueue, maxDeadLetters, openDeadLetterQueue } from './dead-letter-queue.ts'
export { countOfWholeCohorts, type DispatchJob, type DueTask, toleratedSkewMs } from './dispatch-job.ts'
export {
  type DispatchQueue,
  expansionLookAheadMs,
  lookAheadMs,
  needsJob,
  openDispatchQueue,
} from './dispatch-queue.ts'
export { openQueues } from './open-queues.ts'
export { parseRedisAddress } from './redis-address.ts'
