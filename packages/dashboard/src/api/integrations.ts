import type {
  CreateIntegrationBody,
  Integration,
  IntegrationTest,
  UpdateIntegrationBody,
} from '@belfry/contract/integration'
import { call } from './call.ts'
import { patch, post, remove } from './operation.ts'
import { listOptions } from './page.ts'

export function integrationsQuery(workspaceId: string) {
  return listOptions<Integration>(['integrations', workspaceId], `/api/v1/workspaces/${workspaceId}/integrations`)
}

export const createIntegration = post('/api/v1/workspaces/:ws/integrations')<Integration, CreateIntegrationBody>
export const updateIntegration = patch('/api/v1/workspaces/:ws/integrations/:int')<Integration, UpdateIntegrationBody>
export const deleteIntegration = remove('/api/v1/workspaces/:ws/integrations/:int')<void>
export const testIntegration = post('/api/v1/workspaces/:ws/integrations/:int/test')<IntegrationTest>
export const confirmAlerts = post('/api/v1/integrations/confirm')<void, { token: string }>

export function unsubscribe(token: string): Promise<void> {
  return call('POST', '/api/v1/integrations/unsubscribe', { query: { token } })
}
