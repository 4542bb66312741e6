import type {
  CreateIntegrationBody,
  Integration,
  IntegrationTest,
  UpdateIntegrationBody,
} from '@belfry/contract/integration'
import { call } from './call.ts'
import { listOptions } from './page.ts'

const base = (workspaceId: string) => `/api/v1/workspaces/${workspaceId}/integrations`

export function integrationsQuery(workspaceId: string) {
  return listOptions<Integration>(['integrations', workspaceId], base(workspaceId))
}

export function createIntegration(workspaceId: string, body: CreateIntegrationBody): Promise<Integration> {
  return call('POST', base(workspaceId), { body })
}

export function updateIntegration(workspaceId: string, id: string, body: UpdateIntegrationBody): Promise<Integration> {
  return call('PATCH', `${base(workspaceId)}/${id}`, { body })
}

export function deleteIntegration(workspaceId: string, id: string): Promise<void> {
  return call('DELETE', `${base(workspaceId)}/${id}`)
}

export function testIntegration(workspaceId: string, id: string): Promise<IntegrationTest> {
  return call('POST', `${base(workspaceId)}/${id}/test`)
}

export function unsubscribe(token: string): Promise<void> {
  return call('POST', '/api/v1/integrations/unsubscribe', { query: { token } })
}

export function confirmAlerts(body: { token: string }): Promise<void> {
  return call('POST', '/api/v1/integrations/confirm', { body })
}
