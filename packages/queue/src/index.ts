export type { QueueConnection } from './connection.ts'
export { consumeDispatchQueue, type DispatchConsumer } from './consume-dispatch-queue.ts'
export { type DeadLetter, type DeadLetterQueue, mostDeadLetters, openDeadLetterQueue } from './dead-letter-queue.ts'
export {
  type DispatchJob,
  type DispatchQueue,
  type DueTask,
  expansionLookAheadMs,
  isSoon,
  lookAheadMs,
  openDispatchQueue,
} from './dispatch-queue.ts'
