import { setTimeout as sleep } from 'node:timers/promises'
import {
  finishOutboxMessage,
  type OutboxKind,
  type Pool,
  postponeOutboxMessage,
  type TakenOutboxMessage,
  takeFromOutbox,
} from '@belfry/db'
import { failpoint, type Logger } from '@belfry/runtime'
import type { Metrics } from '../metrics.ts'
import { retryDelay } from './retry-delay.ts'
import { UndeliveredMessage } from './undelivered-message.ts'

/** Sends one message. Throws UndeliveredMessage when its receiver did not get it. */
export type SendMessage = (message: TakenOutboxMessage) => Promise<void>

export type OutboxSender = {
  /** Lets somebody look whether there is something to send, unless enough of them are sending already. */
  wake(): void
  /** Takes nothing more, and waits for what is being sent; what takes longer is sent again after its lease. */
  finish(patienceMs: number): Promise<void>
}

export type OutboxSenderOptions = {
  pool: Pool
  log: Logger
  metrics: Pick<Metrics, 'message'>
  kind: OutboxKind
  send: SendMessage
  /** Messages on their way at a time. */
  parallel: number
  /** Longer than a message can be on its way. Default: five minutes. */
  leaseMs?: number
}

/** Sends the messages of one kind, each as soon as it is due and one of the parallel ways is free. */
export function createOutboxSender(options: OutboxSenderOptions): OutboxSender {
  const { pool, log, kind, parallel, leaseMs = 300_000 } = options
  const working = new Set<Promise<void>>()
  let isStopped = false

  function wake(): void {
    if (isStopped || working.size >= parallel) return
    const worker = work()
      .catch(error => log.warn({ err: error, kind }, 'outbox.failed'))
      .finally(() => working.delete(worker))
    working.add(worker)
  }

  async function work(): Promise<void> {
    while (!isStopped) {
      const message = await takeFromOutbox(pool, kind, leaseMs)
      if (!message) return
      wake() // there may be more
      await deliver(options, message)
    }
  }

  return {
    wake,
    async finish(patienceMs) {
      isStopped = true
      await Promise.race([Promise.all(working), sleep(patienceMs, undefined, { ref: false })])
    },
  }
}

async function deliver({ pool, log, metrics, send }: OutboxSenderOptions, message: TakenOutboxMessage): Promise<void> {
  const about = { message: message.id, label: message.label, attempt: message.attempt }
  try {
    await send(message)
  } catch (error) {
    const isWaiting = await postponeOrGiveUp(pool, message, error)
    metrics.message(message.kind, isWaiting ? 'failed' : 'given_up')
    log.warn({ ...about, err: error, isGivenUp: !isWaiting }, 'message.failed')
    return
  }
  await failpoint('dispatcher.message_sent')
  await finishOutboxMessage(pool, message, null)
  metrics.message(message.kind, 'sent')
  log.info(about, 'message.sent')
}

async function postponeOrGiveUp(pool: Pool, message: TakenOutboxMessage, error: unknown): Promise<boolean> {
  const { text, isFinal } =
    error instanceof UndeliveredMessage
      ? { text: error.message, isFinal: error.isFinal }
      : { text: 'The message could not be sent.', isFinal: false }
  if (!isFinal) return postponeOutboxMessage(pool, message, retryDelay(message.attempt), text)
  await finishOutboxMessage(pool, message, text)
  return false
}
