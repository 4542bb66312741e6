import type { Belfry } from '@belfry/client'

type Call = (belfry: Belfry) => unknown

const when = new Date(0)
const target = { targetUrl: 'https://example.com', method: 'post' } as const
const task = { name: 'A', executeAt: when, ...target }
const job = { name: 'A', cron: '0 9 1 1 *', ...target }

/** Every method of the client by name, with its operation of the API. */
export const operations: Record<string, readonly [operation: string, call: Call]> = {
  'tasks.create': ['POST /api/v1/scheduler/tasks', b => b.tasks.create(task)],
  'tasks.createMany': ['POST /api/v1/scheduler/tasks/batch', b => b.tasks.createMany([task])],
  'tasks.get': ['GET /api/v1/scheduler/tasks/{task}', b => b.tasks.get('id')],
  'tasks.list': ['GET /api/v1/scheduler/tasks', b => b.tasks.list()],
  'tasks.update': ['PATCH /api/v1/scheduler/tasks/{task}', b => b.tasks.update('id', {})],
  'tasks.cancel': ['DELETE /api/v1/scheduler/tasks/{task}', b => b.tasks.cancel('id')],
  'tasks.stop': ['POST /api/v1/scheduler/tasks/{task}/stop', b => b.tasks.stop('id')],
  'tasks.cancelMany': ['POST /api/v1/scheduler/tasks/cancel', b => b.tasks.cancelMany({ filter: {} })],
  'tasks.stopMany': ['POST /api/v1/scheduler/tasks/stop', b => b.tasks.stopMany({ ids: ['id'] })],
  'tasks.count': ['GET /api/v1/scheduler/tasks/count', b => b.tasks.count()],
  'tasks.operation': ['GET /api/v1/scheduler/tasks/operations/{operation}', b => b.tasks.operation('id')],
  'tasks.progress': ['GET /api/v1/scheduler/tasks/operations/{operation}', b => b.tasks.progress('id').next()],
  'tasks.cancelOperation': [
    'DELETE /api/v1/scheduler/tasks/operations/{operation}',
    b => b.tasks.cancelOperation('id'),
  ],
  'tasks.replay': ['POST /api/v1/scheduler/tasks/{task}/replay', b => b.tasks.replay('id')],
  'tasks.export': ['GET /api/v1/scheduler/tasks/export', b => b.tasks.export()],
  'cronJobs.create': ['POST /api/v1/scheduler/cronjobs', b => b.cronJobs.create(job)],
  'cronJobs.get': ['GET /api/v1/scheduler/cronjobs/{cronjob}', b => b.cronJobs.get('id')],
  'cronJobs.list': ['GET /api/v1/scheduler/cronjobs', b => b.cronJobs.list()],
  'cronJobs.update': ['PATCH /api/v1/scheduler/cronjobs/{cronjob}', b => b.cronJobs.update('id', {})],
  'cronJobs.delete': ['DELETE /api/v1/scheduler/cronjobs/{cronjob}', b => b.cronJobs.delete('id')],
  'cronJobs.pause': ['POST /api/v1/scheduler/cronjobs/{cronjob}/pause', b => b.cronJobs.pause('id')],
  'cronJobs.resume': ['POST /api/v1/scheduler/cronjobs/{cronjob}/resume', b => b.cronJobs.resume('id')],
  'cronJobs.trigger': ['POST /api/v1/scheduler/cronjobs/{cronjob}/trigger', b => b.cronJobs.trigger('id')],
  'cronJobs.backfill': [
    'POST /api/v1/scheduler/cronjobs/{cronjob}/backfill',
    b => b.cronJobs.backfill('id', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
  ],
  'cronJobs.preview': ['POST /api/v1/scheduler/cronjobs/preview', b => b.cronJobs.preview(job)],
  'events.publish': ['POST /api/events', b => b.events.publish({ topic: 'a', payload: {} })],
  'subscriptions.create': [
    'POST /api/v1/scheduler/subscriptions',
    b => b.subscriptions.create({ topic: '*', targetUrl: 'https://example.com' }),
  ],
  'subscriptions.get': ['GET /api/v1/scheduler/subscriptions/{sub}', b => b.subscriptions.get('id')],
  'subscriptions.list': ['GET /api/v1/scheduler/subscriptions', b => b.subscriptions.list()],
  'subscriptions.update': ['PATCH /api/v1/scheduler/subscriptions/{sub}', b => b.subscriptions.update('id', {})],
  'subscriptions.delete': ['DELETE /api/v1/scheduler/subscriptions/{sub}', b => b.subscriptions.delete('id')],
  'subscriptions.signingSecrets.list': [
    'GET /api/v1/scheduler/subscriptions/{sub}/signing-secrets',
    b => b.subscriptions.signingSecrets.list('id'),
  ],
  'subscriptions.signingSecrets.rotate': [
    'POST /api/v1/scheduler/subscriptions/{sub}/signing-secrets',
    b => b.subscriptions.signingSecrets.rotate('id'),
  ],
  'subscriptions.signingSecrets.revoke': [
    'DELETE /api/v1/scheduler/subscriptions/{sub}/signing-secrets/{secret}',
    b => b.subscriptions.signingSecrets.revoke('id', 'id'),
  ],
  'subscriptions.signingSecrets.remove': [
    'DELETE /api/v1/scheduler/subscriptions/{sub}/signing-secrets',
    b => b.subscriptions.signingSecrets.remove('id'),
  ],
  'deadLetters.list': ['GET /api/v1/scheduler/dead-letters', b => b.deadLetters.list()],
  'deadLetters.replay': ['POST /api/v1/scheduler/dead-letters/replay', b => b.deadLetters.replay({ ids: ['id'] })],
  'deadLetters.discard': ['POST /api/v1/scheduler/dead-letters/discard', b => b.deadLetters.discard({ filter: {} })],
  'deadLetters.operation': [
    'GET /api/v1/scheduler/dead-letters/operations/{operation}',
    b => b.deadLetters.operation('id'),
  ],
  'deadLetters.progress': [
    'GET /api/v1/scheduler/dead-letters/operations/{operation}',
    b => b.deadLetters.progress('id').next(),
  ],
  'deadLetters.cancelOperation': [
    'DELETE /api/v1/scheduler/dead-letters/operations/{operation}',
    b => b.deadLetters.cancelOperation('id'),
  ],
  'bulkOperations.start': [
    'POST /api/v1/scheduler/bulk-operations',
    b => b.bulkOperations.start({ action: 'replay', filter: {}, perSecond: 5 }),
  ],
  'bulkOperations.get': ['GET /api/v1/scheduler/bulk-operations/{operation}', b => b.bulkOperations.get('id')],
  'bulkOperations.list': ['GET /api/v1/scheduler/bulk-operations', b => b.bulkOperations.list()],
  'bulkOperations.progress': [
    'GET /api/v1/scheduler/bulk-operations/{operation}',
    b => b.bulkOperations.progress('id').next(),
  ],
  'bulkOperations.cancel': [
    'POST /api/v1/scheduler/bulk-operations/{operation}/cancel',
    b => b.bulkOperations.cancel('id'),
  ],
  'hosts.list': ['GET /api/v1/scheduler/hosts', b => b.hosts.list()],
  'hosts.get': ['GET /api/v1/scheduler/hosts/{host}', b => b.hosts.get('example.com')],
  'hosts.pause': ['POST /api/v1/scheduler/hosts/{host}/pause', b => b.hosts.pause('example.com')],
  'hosts.resume': ['POST /api/v1/scheduler/hosts/{host}/resume', b => b.hosts.resume('example.com')],
  'hosts.reset': ['POST /api/v1/scheduler/hosts/{host}/reset', b => b.hosts.reset('example.com')],
  'queues.list': ['GET /api/v1/scheduler/queues', b => b.queues.list()],
  'queues.get': ['GET /api/v1/scheduler/queues/{queue}', b => b.queues.get('q')],
  'queues.put': ['PUT /api/v1/scheduler/queues/{queue}', b => b.queues.put('q')],
  'queues.update': ['PATCH /api/v1/scheduler/queues/{queue}', b => b.queues.update('q', {})],
  'queues.pause': ['POST /api/v1/scheduler/queues/{queue}/pause', b => b.queues.pause('q')],
  'queues.resume': ['POST /api/v1/scheduler/queues/{queue}/resume', b => b.queues.resume('q')],
  'queues.delete': ['DELETE /api/v1/scheduler/queues/{queue}', b => b.queues.delete('q')],
  'status.get': ['GET /api/v1/scheduler/status', b => b.status.get()],
  'runs.list': ['GET /api/v1/scheduler/runs', b => b.runs.list()],
  'runs.get': ['GET /api/v1/scheduler/runs/{run}', b => b.runs.get('id')],
  'runs.tail': ['GET /api/v1/scheduler/runs/stream', b => b.runs.tail().next()],
  'runs.counts': ['GET /api/v1/scheduler/runs/counts', b => b.runs.counts()],
  'runs.failures': ['GET /api/v1/scheduler/runs/failures', b => b.runs.failures()],
  'runs.export': ['GET /api/v1/scheduler/runs/export', b => b.runs.export()],
  'workspaces.create': ['POST /api/v1/organizations/{org}/workspaces', b => b.workspaces.create('id', { name: 'A' })],
  'workspaces.get': ['GET /api/v1/workspaces/{ws}', b => b.workspaces.get('id')],
  'workspaces.update': ['PATCH /api/v1/workspaces/{ws}', b => b.workspaces.update('id', { name: 'B' })],
  'workspaces.delete': ['DELETE /api/v1/workspaces/{ws}', b => b.workspaces.delete('id')],
  'workspaces.members': ['GET /api/v1/workspaces/{ws}/members', b => b.workspaces.members('id')],
  'workspaces.secrets.list': ['GET /api/v1/workspaces/{ws}/secrets', b => b.workspaces.secrets.list('id')],
  'workspaces.secrets.put': [
    'PUT /api/v1/workspaces/{ws}/secrets/{name}',
    b => b.workspaces.secrets.put('id', 'TOKEN', 'value'),
  ],
  'workspaces.secrets.delete': [
    'DELETE /api/v1/workspaces/{ws}/secrets/{name}',
    b => b.workspaces.secrets.delete('id', 'TOKEN'),
  ],
  'workspaces.connections.list': ['GET /api/v1/workspaces/{ws}/connections', b => b.workspaces.connections.list('id')],
  'workspaces.connections.get': [
    'GET /api/v1/workspaces/{ws}/connections/{connection}',
    b => b.workspaces.connections.get('id', 'a'),
  ],
  'workspaces.connections.put': [
    'PUT /api/v1/workspaces/{ws}/connections/{connection}',
    b => b.workspaces.connections.put('id', 'a', { kind: 'header', hosts: ['example.com'], value: 'value' }),
  ],
  'workspaces.connections.test': [
    'POST /api/v1/workspaces/{ws}/connections/{connection}/test',
    b => b.workspaces.connections.test('id', 'a'),
  ],
  'workspaces.connections.delete': [
    'DELETE /api/v1/workspaces/{ws}/connections/{connection}',
    b => b.workspaces.connections.delete('id', 'a'),
  ],
  'workspaces.signingKeys.list': ['GET /api/v1/workspaces/{ws}/signing-keys', b => b.workspaces.signingKeys.list('id')],
  'workspaces.signingSecrets.list': [
    'GET /api/v1/workspaces/{ws}/signing-secrets',
    b => b.workspaces.signingSecrets.list('id'),
  ],
  'workspaces.signingSecrets.rotate': [
    'POST /api/v1/workspaces/{ws}/signing-secrets',
    b => b.workspaces.signingSecrets.rotate('id'),
  ],
  'workspaces.signingSecrets.revoke': [
    'DELETE /api/v1/workspaces/{ws}/signing-secrets/{secret}',
    b => b.workspaces.signingSecrets.revoke('id', 'id'),
  ],
  'organizations.create': ['POST /api/v1/organizations', b => b.organizations.create({ name: 'A' })],
  'organizations.list': ['GET /api/v1/organizations', b => b.organizations.list()],
  'organizations.get': ['GET /api/v1/organizations/{org}', b => b.organizations.get('id')],
  'organizations.update': ['PATCH /api/v1/organizations/{org}', b => b.organizations.update('id', { slug: 'b' })],
  'organizations.delete': ['DELETE /api/v1/organizations/{org}', b => b.organizations.delete('id')],
  'workspaces.federatedCredentials.create': [
    'POST /api/v1/workspaces/{ws}/federated-credentials',
    b =>
      b.workspaces.federatedCredentials.create('id', {
        ...{ name: 'CI', issuer: 'https://example.com', conditions: { sub: 'a' }, scopes: ['read'] },
      }),
  ],
  'workspaces.federatedCredentials.list': [
    'GET /api/v1/workspaces/{ws}/federated-credentials',
    b => b.workspaces.federatedCredentials.list('id'),
  ],
  'workspaces.federatedCredentials.get': [
    'GET /api/v1/workspaces/{ws}/federated-credentials/{fed}',
    b => b.workspaces.federatedCredentials.get('id', 'id'),
  ],
  'workspaces.federatedCredentials.delete': [
    'DELETE /api/v1/workspaces/{ws}/federated-credentials/{fed}',
    b => b.workspaces.federatedCredentials.delete('id', 'id'),
  ],
  'organizations.members': ['GET /api/v1/organizations/{org}/members', b => b.organizations.members('id')],
  'organizations.workspaces': ['GET /api/v1/organizations/{org}/workspaces', b => b.organizations.workspaces('id')],
  'organizations.auditStream.get': [
    'GET /api/v1/organizations/{org}/audit-stream',
    b => b.organizations.auditStream.get('id'),
  ],
  'organizations.auditStream.put': [
    'PUT /api/v1/organizations/{org}/audit-stream',
    b => b.organizations.auditStream.put('id', 'https://example.com'),
  ],
  'organizations.auditStream.rotateSecret': [
    'POST /api/v1/organizations/{org}/audit-stream/rotate',
    b => b.organizations.auditStream.rotateSecret('id'),
  ],
  'organizations.auditStream.delete': [
    'DELETE /api/v1/organizations/{org}/audit-stream',
    b => b.organizations.auditStream.delete('id'),
  ],
  'organizations.runs': ['GET /api/v1/organizations/{org}/runs', b => b.organizations.runs('id')],
}

/** Operations that the client omits, by the start of the path, with the reason. */
export const leftOut: Record<string, string> = {
  '/api/v1/auth/': 'signing in is for people; exchangeToken is a function of its own',
  '/api/v1/integrations/': 'agreeing to alerts is for people',
  '/api/v1/invitations/': 'accepting an invitation is for people',
  '/api/v1/organizations/{org}/invitations': 'members are managed in the dashboard',
  '/api/v1/organizations/{org}/members/': 'members are managed in the dashboard',
  '/api/v1/organizations/{org}/transfer': 'members are managed in the dashboard',
  '/api/v1/workspaces/{ws}/members/': 'members are managed in the dashboard',
  '/api/v1/workspaces/{ws}/api-keys': 'keys are made where they can be shown once, in the dashboard',
  '/api/v1/workspaces/{ws}/integrations': 'alerts are set up in the dashboard',
  '/api/v1/organizations/{org}/audit-log': 'read in the dashboard',
  '/api/v1/organizations/{org}/audit-log/export': 'downloaded from the dashboard',
  '/api/v1/organizations/{org}/subscription': 'billing is for owners, in the dashboard',
  '/api/v1/organizations/{org}/usage': 'billing is for owners, in the dashboard',
  '/api/v1/organizations/{org}/runs/': 'the workspace has its own export and tail',
  '/api/v1/scheduler/cronjobs/recent-runs': 'a summary for the dashboard; runs.list has the runs',
  '/api/v1/operator/': 'operators use the console',
  'PUT /api/v1/scheduler/runs/failures': 'people decide about a group of failures, in the dashboard',
  '/api/v1/scheduler/search': 'finds what a person remembers a part of; lists have filters',
  '/api/v1/scheduler/overview': 'a summary for the dashboard; /metrics has figures for machines',
  '/api/v1/scheduler/upcoming': 'a summary for the dashboard; tasks.list and nextRuns return due tasks',
  '/.well-known/': 'read by verifiers of identity tokens, by their own libraries',
  '/api/problems/': 'pages for people',
  '/api/openapi.json': 'the description of the interface itself',
  '/api/docs': 'a page for people',
}
