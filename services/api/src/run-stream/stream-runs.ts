import { authorize } from '../auth/authorize.ts'
import { requireApiKeyInForce } from '../auth/find-api-key.ts'
import { endpoint } from '../http/endpoint.ts'
import { openRunStream } from './open-run-stream.ts'

export const streamRuns = endpoint({
  right: 'run.read',
  summary: 'Follow new runs as server-sent events',
  answer: { status: 200, texts: ['text/event-stream'] },
  async handle(ctx, { caller, request }) {
    const { workspaceId, apiKeyId } = caller
    const check = () =>
      apiKeyId === null ? authorize(ctx, request, 'run.read', {}) : requireApiKeyInForce(ctx, apiKeyId)
    return openRunStream(ctx, request, [workspaceId], check)
  },
})
