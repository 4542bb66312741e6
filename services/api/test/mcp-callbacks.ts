import { randomUUID } from 'node:crypto'
import { type FinishedAttempt, recordAttempts } from '@belfry/db/tasks/record-attempts'
import { claimTasks } from '@belfry/db/test/claim-tasks'
import { afterAll, beforeAll, expect } from 'vitest'
import type { TestApi } from './setup.ts'

/** How a callback answers a challenge. */
export type Reaction = (challenge: string) => Partial<FinishedAttempt> & { body?: string }

/** The default. */
export const repeats: Reaction = challenge => ({ body: JSON.stringify({ challenge }) })

/**
 * Answers the challenges of MCP callbacks in place of a dispatcher, which is tested with real callbacks in
 * e2e/mcp-events.e2e.test.ts.
 */
export function useCallbacks(api: Pick<TestApi, 'db'>) {
  const reactions = new Map<string, Reaction>()
  const challenges: Array<{ url: string; challenge: string }> = []
  let isOver = false
  let answering: Promise<void>
  beforeAll(() => {
    answering = (async () => {
      while (!isOver) {
        await answerChallenges()
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    })()
  })
  afterAll(async () => {
    isOver = true
    await answering
  })
  return { reactions, challenges }

  async function answerChallenges(): Promise<void> {
    const text = `
      SELECT id, url, payload FROM tasks JOIN task_requests ON task_id = id
      WHERE name = 'Challenge of an MCP callback' AND state = 'pending' AND due_at < now()`
    for (const { id, url, payload } of (await api.db.query(text)).rows) {
      const [claim] = await claimTasks(api.db, { dispatcherId: randomUUID() }, [{ taskId: id, token: randomUUID() }])
      if (claim?.kind !== 'claimed') continue
      const { taskId, runId, scheduledAt, claimedAt } = claim.task
      const { type, challenge } = JSON.parse(payload)
      expect(type).toBe('verification')
      challenges.push({ url, challenge })
      const { body = 'ok', ...outcome } = (reactions.get(url) ?? repeats)(challenge)
      const isFailed = (outcome.errorCode ?? null) !== null
      await recordAttempts(api.db, [
        {
          ...{ taskId, runId, state: isFailed ? 'dead' : 'success', retryDelayMs: null },
          ...{ status: isFailed ? 'failed' : 'success', scheduledAt, startedAt: claimedAt, finishedAt: claimedAt },
          ...{ requestHeaders: '{}', responseStatus: isFailed ? null : 200, responseHeaders: '{}' },
          ...{ responseBody: Buffer.from(body), responseBytes: body.length, responseTruncated: false },
          ...{ errorCode: null, errorMessage: null },
          ...outcome,
        },
      ])
    }
  }
}
