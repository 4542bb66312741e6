import { randomBytes, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Run, Subscription as SubscriptionRow, Task } from '@belfry/db/generated/client'
import { endTask } from '@belfry/db/tasks/change-task'
import { AppError } from '@belfry/domain/app-error'
import { parseJson } from '@belfry/domain/json-text'
import type { Context } from '../context.ts'
import { workOf } from '../endpoint.ts'
import { schedule } from '../tasks/schedule.ts'
import { storeTasks } from '../tasks/store-tasks.ts'
import { type DeliveryError, deliveryErrorOf } from './delivery-status.ts'
import { type Caller, deliveryTask } from './delivery-task.ts'

const attemptMs = 10_000
// The attempt may wait for its slot. A caller does not wait for longer.
const waitMs = 15_000
const pollMs = 50

/**
 * Sends a challenge to the callback of a subscription. The callback accepts the events by repeating it. The challenge
 * is a task like any other, so it obeys the address guard, the quotas, the fair shares and the circuit breaker.
 * @throws AppError `callback_refused` with the `reason`.
 */
export async function verifyCallback(ctx: Context, by: Caller, subscription: SubscriptionRow): Promise<void> {
  const challenge = randomBytes(32).toString('base64url')
  const task = deliveryTask(subscription, {
    name: 'Challenge of an MCP callback',
    payload: JSON.stringify({ type: 'verification', challenge }),
    executeAt: null,
  })
  Object.assign(task, { maxRetries: 0, timeoutMs: attemptMs, isReport: null })
  await schedule(workOf(ctx), by, { starts: 'at_once', rows: [task], store: work => storeTasks(work, [task]) })
  const answer = await answerTo(ctx, task.id)
  if (answer === null) {
    await endTask(ctx.pool, by.caller.workspaceId, task.id, 'cancel')
    throw refused('timeout')
  }
  if (answer.state !== 'success') throw refused(deliveryErrorOf(answer))
  if (!repeats(answer.body, challenge)) throw refused('challenge_failed')
}

type ChallengeAnswer = Pick<Task, 'state'> & Pick<Run, 'responseStatus' | 'errorCode'> & { body: Buffer | null }

async function answerTo(ctx: Context, taskId: string): Promise<ChallengeAnswer | null> {
  const text = `
    SELECT t.state, u.response_body AS body, u.response_status AS "responseStatus", u.error_code AS "errorCode"
    FROM tasks t LEFT JOIN runs u ON u.workspace_id = t.workspace_id AND u.id = t.run_id
    WHERE t.id = $1 AND t.finished_at IS NOT NULL`
  for (const endsAt = performance.now() + waitMs; performance.now() < endsAt; await sleep(pollMs)) {
    const { rows } = await ctx.pool.query<ChallengeAnswer>({ name: 'answer_to_challenge', text, values: [taskId] })
    if (rows[0]) return rows[0]
  }
  return null
}

function repeats(body: Buffer | null, challenge: string): boolean {
  const { challenge: repeated } = Object(parseJson(String(body))) as { challenge?: unknown }
  const [got, wanted] = [Buffer.from(typeof repeated === 'string' ? repeated : ''), Buffer.from(challenge)]
  return got.length === wanted.length && timingSafeEqual(got, wanted)
}

function refused(reason: DeliveryError): AppError {
  const detail = 'The callback must answer the challenge with 2xx and {"challenge": ...}, the same value.'
  return new AppError('callback_refused', `${detail} Instead: ${reason}.`, { extra: { reason } })
}
