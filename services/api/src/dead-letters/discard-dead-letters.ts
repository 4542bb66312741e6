import { discardedDeadLetters, settleDeadLettersBody } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { answerSettled } from './present-operation.ts'
import { settleDeadLetters } from './settle-dead-letters.ts'

export const discardDeadLetters = endpoint({
  right: 'dead_letter.discard',
  summary: 'Discard dead letters; the tasks stay dead',
  answer: { status: 200, orStatus: 202, body: discardedDeadLetters },
  refusals: ['conflict'],
  body: settleDeadLettersBody,
  async handle(ctx, { caller, body }) {
    return answerSettled('discarded', await settleDeadLetters(ctx, caller.workspaceId, 'discard', body))
  },
})
