import { connection, connectionTest, putConnectionBody, testConnectionBody } from '../connection.ts'
import { operation } from '../operation.ts'
import { pageOf } from '../page.ts'

export const connectionsOperations = {
  listConnections: operation('GET', '/api/v1/workspaces/:ws/connections', {
    right: 'connection.read',
    summary: 'List the connections of a workspace by name, without their secrets',
    client: 'workspaces.connections.list',
    answer: { status: 200, body: pageOf(connection) },
  }),

  getConnection: operation('GET', '/api/v1/workspaces/:ws/connections/:connection', {
    right: 'connection.read',
    summary: 'Get a connection, without its secrets',
    client: 'workspaces.connections.get',
    answer: { status: 200, body: connection },
  }),

  putConnection: operation('PUT', '/api/v1/workspaces/:ws/connections/:connection', {
    right: 'connection.write',
    summary: 'Create a connection (201), or replace its settings (200)',
    client: 'workspaces.connections.put',
    body: putConnectionBody,
    answer: { status: 200, orStatus: 201, body: connection },
    refusals: ['conflict'],
  }),

  deleteConnection: operation('DELETE', '/api/v1/workspaces/:ws/connections/:connection', {
    right: 'connection.delete',
    summary: 'Delete a connection that no cron job and no subscription names',
    client: 'workspaces.connections.delete',
    answer: { status: 204 },
    refusals: ['connection_in_use'],
  }),

  testConnection: operation('POST', '/api/v1/workspaces/:ws/connections/:connection/test', {
    right: 'connection.test',
    summary: 'Test a connection: request a token, or call a URL, and report what happened',
    description: 'Kinds without tokens need a URL.',
    client: 'workspaces.connections.test',
    body: testConnectionBody,
    answer: { status: 200, body: connectionTest },
    refusals: ['rate_limited'],
  }),
}
