import { setTimeout as sleep } from 'node:timers/promises'
import type { OutboxKind } from '@belfry/db/generated/enums'
import {
  finishOutboxMessage,
  postponeOutboxMessage,
  type TakenOutboxMessage,
  takeFromOutbox,
} from '@belfry/db/outbox/outbox'
import type { Pool } from '@belfry/db/postgres/pool'
import { failpoint, type Logger } from '@belfry/runtime'
import type { Metrics } from '../metrics.ts'

/** A message did not reach its recipient. Its text is a sentence without URLs and addresses. */
export class UndeliveredMessage extends Error {
  /** Whether a retry cannot help. */
  readonly isFinal: boolean

  constructor(text: string, options: { isFinal: boolean; cause?: unknown }) {
    super(text, 'cause' in options ? { cause: options.cause } : undefined)
    this.isFinal = options.isFinal
  }
}

type OutboxSenderOptions = {
  pool: Pool
  log: Logger
  metrics: Pick<Metrics, 'message'>
  kind: OutboxKind
  /** Sends one message. Throws UndeliveredMessage when its recipient did not get it. */
  send: (message: TakenOutboxMessage) => Promise<void>
  /** Messages in flight at a time. */
  parallel: number
}

// Longer than a message can be in flight.
const leaseMs = 300_000
// PostgreSQL's clock decides when a message is due again.
const clockErrorMs = 100
const retryAfterErrorMs = 1_000
// Receivers that hang delay only messages of the same organization.
const maxOfOrganization = 2

/** Creates a sender of the messages of one kind. It sends each as soon as it is due and a place is free. */
export function createOutboxSender(options: OutboxSenderOptions) {
  const { pool, log, kind, parallel } = options
  const inFlight = new Map<Promise<void>, string | null>() // and the organization of each
  let taking: Promise<void> | null = null
  let isStopped = false
  let isMissed = false // woken while messages were taken, perhaps with the last query

  function wake(): void {
    isMissed = taking !== null
    if (isStopped || isMissed) return
    taking = take()
      .catch(retryLater)
      .finally(() => {
        taking = null
        if (isMissed) wake()
      })
  }

  // Messages are taken one by one, because each changes which organizations are at their limit.
  async function take(): Promise<void> {
    while (!isStopped && inFlight.size < parallel) {
      const message = await takeFromOutbox(pool, kind, leaseMs, organizationsAtLimit())
      if (!message) return
      const sending = deliver(options, message)
        .then(retryMs => void (retryMs !== null && setTimeout(wake, retryMs + clockErrorMs).unref()), retryLater)
        .finally(() => {
          inFlight.delete(sending)
          wake()
        })
      inFlight.set(sending, message.organizationId)
    }
  }

  function organizationsAtLimit(): string[] {
    const held = [...inFlight.values()].filter(id => id !== null)
    return held.filter(id => held.filter(other => other === id).length >= maxOfOrganization)
  }

  function retryLater(error: unknown): void {
    log.warn({ err: error, kind }, 'outbox.failed')
    setTimeout(wake, retryAfterErrorMs).unref()
  }

  async function whenIdle(): Promise<void> {
    while (taking || inFlight.size > 0) await Promise.all([taking, ...inFlight.keys()])
  }

  return {
    /** Sends messages that are due, unless as many as may be are in flight already. */
    wake,
    whenIdle,
    /** Takes no more messages, and waits for those in flight. A message that takes longer is sent again after its lease. */
    async finish(patienceMs: number): Promise<void> {
      isStopped = true
      await Promise.race([whenIdle(), sleep(patienceMs, undefined, { ref: false })])
    },
  }
}

// Returns the time until the next attempt, or null.
async function deliver(options: OutboxSenderOptions, message: TakenOutboxMessage): Promise<number | null> {
  const { pool, log, metrics, send } = options
  const about = { message: message.id, label: message.label, attempt: message.attempt }
  try {
    await send(message)
  } catch (error) {
    const retryMs = await postponeOrGiveUp(pool, message, error)
    const isGivenUp = retryMs === null
    metrics.message(message.kind, isGivenUp ? 'given_up' : 'failed')
    log.warn({ ...about, err: error, isGivenUp }, 'message.failed')
    return retryMs
  }
  if (__FAILPOINTS__) await failpoint('dispatcher.message_sent')
  await finishOutboxMessage(pool, message, null)
  metrics.message(message.kind, 'sent')
  log.info(about, 'message.sent')
  return null
}

async function postponeOrGiveUp(pool: Pool, message: TakenOutboxMessage, error: unknown): Promise<number | null> {
  const { text, isFinal } =
    error instanceof UndeliveredMessage
      ? { text: error.message, isFinal: error.isFinal }
      : { text: 'The message could not be sent.', isFinal: false }
  const retryMs = retryDelay(message.attempt)
  if (!isFinal && (await postponeOutboxMessage(pool, message, retryMs, text))) return retryMs
  if (isFinal) await finishOutboxMessage(pool, message, text)
  return null
}

const firstDelayMs = 5_000
const maxDelayMs = 15 * 60_000

/** Returns the pause after the n-th failed attempt to send a message. It doubles each time. */
export function retryDelay(attempt: number): number {
  return Math.min(firstDelayMs * 2 ** (attempt - 1), maxDelayMs)
}
