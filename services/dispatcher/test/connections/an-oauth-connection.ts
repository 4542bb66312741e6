import type { ConnectionSettings, OpenConnection } from '@belfry/db/connections/connections'
import { newUuid } from '@belfry/domain/id'

/** Returns a connection whose tokens an endpoint issues. */
export function anOAuthConnection({
  settings = {},
  ...changes
}: Partial<OpenConnection> & { settings?: ConnectionSettings } = {}): OpenConnection {
  return {
    id: newUuid(),
    workspaceId: newUuid(),
    name: 'billing-api',
    kind: 'oauth2',
    hosts: ['api.example.com'],
    version: 1,
    secrets: { clientSecret: 'secret of the client' },
    keepsResponses: true,
    settings: {
      tokenUrl: 'https://id.example.com/token',
      clientId: 'belfry',
      clientAuthentication: 'basic',
      ...settings,
    },
    ...changes,
  }
}
