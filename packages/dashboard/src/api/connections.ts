import type { Connection, ConnectionTest } from '@belfry/contract/connection'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { readAll } from './page.ts'

const base = (workspaceId: string) => `/api/v1/workspaces/${workspaceId}/connections`

/** All connections of a workspace, which are few. */
export function connectionsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['connections', workspaceId],
    queryFn: ({ signal }) => readAll<Connection>(base(workspaceId), signal),
  })
}

/** The settings of a connection. Omitted secrets stay as they are. */
export type ConnectionBody = { kind: Connection['kind']; hosts: string[] } & Record<string, unknown>

export function putConnection(workspaceId: string, name: string, body: ConnectionBody): Promise<Connection> {
  return call('PUT', `${base(workspaceId)}/${encodeURIComponent(name)}`, { body })
}

/** Tests a connection. */
export function testConnection(workspaceId: string, name: string, body: { url?: string }): Promise<ConnectionTest> {
  return call('POST', `${base(workspaceId)}/${encodeURIComponent(name)}/test`, { body })
}

export function deleteConnection(workspaceId: string, name: string): Promise<void> {
  return call('DELETE', `${base(workspaceId)}/${encodeURIComponent(name)}`)
}
