import { requireApiKeyInForce } from '../../auth/api-key.ts'
import { authorize } from '../../auth/authorize.ts'
import { endpoint } from '../../endpoint.ts'
import { visibleWorkspaces } from '../visible-workspaces.ts'
import { openRunStream } from './open-run-stream.ts'

export const streamRuns = endpoint({
  right: 'run.read',
  summary: 'Follow new runs as server-sent events',
  answer: { status: 200, texts: ['text/event-stream'] },
  async handle(ctx, { caller, request }) {
    const { workspaceId, apiKeyId } = caller
    const check = () =>
      apiKeyId === null ? authorize(ctx, request, 'run.read', {}) : requireApiKeyInForce(ctx, apiKeyId)
    return openRunStream(ctx, request, caller, [workspaceId], check)
  },
})

export const streamOrganizationRuns = endpoint({
  right: 'organization_run.read',
  summary: 'Follow new runs of all workspaces that the caller may see',
  answer: { status: 200, texts: ['text/event-stream'] },
  params: { org: 'org' },
  async handle(ctx, { caller, params, request }) {
    const workspaceIds = await visibleWorkspaces(ctx, caller, undefined)
    // Also ends when the visible workspaces change: clients reconnect by themselves.
    const check = async () => {
      const now = await visibleWorkspaces(
        ctx,
        await authorize(ctx, request, 'organization_run.read', params),
        undefined,
      )
      if (now.join() !== workspaceIds.join()) throw new Error('The workspaces have changed.')
    }
    return openRunStream(ctx, request, caller, workspaceIds, check)
  },
})
