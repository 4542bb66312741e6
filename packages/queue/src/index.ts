export type { QueueConnection, QueueDepth } from './connection.ts'
export { consumeDispatchQueue, type DispatchConsumer } from './consume-dispatch-queue.ts'
export { type DeadLetter, type DeadLetterQueue, mostDeadLetters, openDeadLetterQueue } from './dead-letter-queue.ts'
export type { DispatchJob, DueTask } from './dispatch-job.ts'
export {
  type DispatchQueue,
  expansionLookAheadMs,
  isSoon,
  lookAheadMs,
  openDispatchQueue,
} from './dispatch-queue.ts'
export {
  consumeOutboxQueue,
  type OutboxConsumer,
  type OutboxJob,
  type OutboxQueue,
  openOutboxQueue,
} from './outbox-queue.ts'
export { parseRedisAddress } from './redis-address.ts'
export { mostShards } from './shards.ts'
