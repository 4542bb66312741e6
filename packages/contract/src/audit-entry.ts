import { accountActions, auditActions } from '@belfry/domain/audit-action'
import { z } from 'zod'
import { exportFormat, exportTypes } from './export.ts'
import { repeatable, textField } from './fields.ts'
import { listOf, namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { pageFields, pageOf, timeRange } from './page.ts'
import { idField, orNull, shownNumber, shownText, textOrNull, timestampField } from './response-fields.ts'
import { id, line, oneOf, sealedUrl } from './text-rules.ts'

/** The query of the audit log: `from` <= created_at < `to`, newest first. A repeated filter means OR. */
const listAuditLogQuery = z.strictObject({
  action: repeatable(oneOf(auditActions)).optional(),
  user_id: repeatable(id('user')).optional(),
  workspace_id: repeatable(id('ws')).optional(),
  object_id: repeatable(line(200)).optional(),
  ...timeRange,
  ...pageFields,
})

export const exportAuditLogQuery = listAuditLogQuery.omit({ limit: true, cursor: true }).extend(exportFormat)

/** An action of a user, an API key or an operator. */
const auditEntry = namedObject('AuditEntry', {
  id: idField('aud'),
  action: z.enum(auditActions),
  actor: z
    .object({
      user_id: orNull(idField('user'), { description: 'The user; null for an API key or an operator.' }),
      email: orNull(z.string(), { examples: ['ada@example.com'] }),
      api_key_id: orNull(idField('key'), { description: 'The API key; null for a user or an operator.' }),
    })
    .meta({ description: 'A user or an API key; neither for an operator of the installation.' }),
  workspace_id: orNull(idField('ws'), {
    description: 'The workspace of the action; null for the organization as a whole.',
  }),
  object_id: z.string().meta({ description: 'The affected object: an id, or the name of a secret.' }),
  address: shownText('The IP address of the caller.', '192.0.2.7'),
  details: z.record(z.string(), z.unknown()).meta({ examples: [{ from: 'member', to: 'admin' }] }),
  created_at: timestampField(),
})

export type AuditEntry = z.infer<typeof auditEntry>

/** An entry in the list, with names for its ids. */
const listedAuditEntry = auditEntry
  .extend({
    names: z.record(z.string(), z.string()).meta({
      description: 'The present names of the objects whose ids are in the entry. Deleted objects have none.',
      examples: [{ cron_01h2xcejqtf2nbrexx3vqjhp41: 'Nightly report' }],
    }),
  })
  .meta({ id: 'ListedAuditEntry' })

/** A sign-in of the user, or a change of the password. */
export const accountEntry = namedObject('AccountEntry', {
  id: idField('aud'),
  action: z.enum(accountActions),
  address: shownText('The IP address of the caller.', '192.0.2.7'),
  device: textOrNull('The program and the system of a sign-in.', 'Chrome on Linux'),
  created_at: timestampField(),
})

export type AccountEntry = z.infer<typeof accountEntry>

const streamUrl = sealedUrl('an audit stream', {
  pattern: '^[Hh][Tt][Tt][Pp][Ss]://[^/\\\\#][^\\\\#]*$',
  description: 'An absolute https URL without user, password or fragment; never returned.',
})

/** The webhook that receives the new audit entries of an organization. */
const auditStream = namedObject('AuditStream', {
  target: textOrNull(
    'The host of the URL, which itself is never returned; null while there is no stream.',
    'logs.example.com',
  ),
  signing_secrets: listOf({
    secret: z.string().meta({ examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] }),
    expires_at: timestampField().nullable(),
  }).meta({ description: 'The current secret, and the previous one while it also signs.' }),
  waiting: shownNumber('How many entries were not received yet, counted up to 10,001.', 0),
  last_error: textOrNull(
    'Why the latest message was not received; null when it was, or when none was sent.',
    'The receiver answered 503.',
  ),
  updated_at: timestampField().nullable(),
})

export type AuditStream = z.infer<typeof auditStream>

export const auditOperations = {
  listAuditLog: operation('GET', '/api/v1/organizations/:org/audit-log', {
    right: 'audit_log.read',
    summary: 'List the audit log, newest first',
    query: listAuditLogQuery,
    response: { status: 200, body: pageOf(listedAuditEntry) },
  }),

  exportAuditLog: operation('GET', '/api/v1/organizations/:org/audit-log/export', {
    right: 'audit_log.read',
    summary: 'Export the audit log as CSV or JSON Lines, newest first',
    query: exportAuditLogQuery,
    response: { status: 200, texts: exportTypes },
  }),

  getAuditStream: operation('GET', '/api/v1/organizations/:org/audit-stream', {
    right: 'audit_log.stream',
    summary: 'Read the webhook that receives the new audit entries, with its signing secrets',
    description: 'Without one its `target` is null.',
    client: 'organizations.auditStream.get',
    response: { status: 200, body: auditStream },
  }),

  putAuditStream: operation('PUT', '/api/v1/organizations/:org/audit-stream', {
    right: 'audit_log.stream',
    summary: 'Send new audit entries to a webhook as JSON lines, or change its URL',
    client: 'organizations.auditStream.put',
    body: z
      .strictObject({ url: textField(streamUrl) })
      .meta({ examples: [{ url: 'https://logs.example.com/belfry' }] }),
    response: { status: 200, body: auditStream },
    errors: ['step_up_required'],
  }),

  deleteAuditStream: operation('DELETE', '/api/v1/organizations/:org/audit-stream', {
    right: 'audit_log.stream',
    summary: 'Stop sending audit entries; those that wait are dropped',
    client: 'organizations.auditStream.delete',
    errors: ['step_up_required'],
  }),

  rotateAuditStreamSecret: operation('POST', '/api/v1/organizations/:org/audit-stream/rotate', {
    right: 'audit_log.stream',
    summary: 'Create a new signing secret of the audit stream; the old one also signs for 24 hours',
    client: 'organizations.auditStream.rotateSecret',
    response: { status: 200, body: auditStream },
  }),
}
