import type { Connection, ConnectionTest } from '@belfry/contract/connection'
import { post, put, remove } from './operation.ts'
import { allOptions } from './page.ts'

/** All connections of a workspace, which are few. */
export function connectionsQuery(workspaceId: string) {
  return allOptions<Connection>(['connections', workspaceId], `/api/v1/workspaces/${workspaceId}/connections`)
}

/** The settings of a connection. Omitted secrets stay as they are. */
export type ConnectionBody = { kind: Connection['kind']; hosts: string[] } & Record<string, unknown>

export const putConnection = put('/api/v1/workspaces/:ws/connections/:name')<Connection, ConnectionBody>
export const testConnection = post('/api/v1/workspaces/:ws/connections/:name/test')<ConnectionTest, { url?: string }>
export const deleteConnection = remove('/api/v1/workspaces/:ws/connections/:name')<void>
