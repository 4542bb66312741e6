import type { CreateIntegrationBody, Integration, IntegrationTest, UpdateIntegrationBody } from '@belfry/contract'
import { call } from './call.ts'
import { listOptions } from './page.ts'

const at = (workspaceId: string) => `/api/v1/workspaces/${workspaceId}/integrations`

export function integrationsQuery(workspaceId: string) {
  return listOptions<Integration>(['integrations', workspaceId], at(workspaceId))
}

export function createIntegration(workspaceId: string, body: CreateIntegrationBody): Promise<Integration> {
  return call('POST', at(workspaceId), { body })
}

export function updateIntegration(workspaceId: string, id: string, body: UpdateIntegrationBody): Promise<Integration> {
  return call('PATCH', `${at(workspaceId)}/${id}`, { body })
}

export function deleteIntegration(workspaceId: string, id: string): Promise<void> {
  return call('DELETE', `${at(workspaceId)}/${id}`)
}

export function testIntegration(workspaceId: string, id: string): Promise<IntegrationTest> {
  return call('POST', `${at(workspaceId)}/${id}/test`)
}
