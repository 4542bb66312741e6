import { replayedDeadLetters, settleDeadLettersBody } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { answerSettled } from './present-operation.ts'
import { settleDeadLetters } from './settle-dead-letters.ts'

export const replayDeadLetters = endpoint({
  right: 'dead_letter.replay',
  summary: 'Replay dead letters: each as a new task that is due at once',
  answer: { status: 200, orStatus: 202, body: replayedDeadLetters },
  refusals: ['conflict'],
  body: settleDeadLettersBody,
  async handle(ctx, { caller, body }) {
    return answerSettled('replayed', await settleDeadLetters(ctx, caller.workspaceId, 'replay', body))
  },
})
